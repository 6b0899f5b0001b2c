import { toSafeJson } from '../model/safe-json.ts'

/** A block of code whose fence is longer than any in it. */
export function fence(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${language}\n${text.replace(/\n+$/, '')}\n${ticks}`
}

/** A value as a block of JSON: in one line where it is short. */
export function jsonBlock(value: unknown): string {
  const line = toSafeJson(value)
  return fence('json', line.length <= 100 ? line : toSafeJson(value, 2))
}

/** Blocks with an empty line between them; what is empty is left out. */
export function joinBlocks(blocks: readonly (string | undefined)[]): string {
  return blocks.filter((block) => block !== undefined && block !== '').join('\n\n')
}

/** A heading above blocks; nothing when there are none. */
export function titled(
  level: number,
  title: string,
  blocks: readonly (string | undefined)[],
): string {
  const body = joinBlocks(blocks)
  return body === '' ? '' : `${'#'.repeat(level)} ${title}\n\n${body}`
}

/** A list of points, each on one line. */
export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}
