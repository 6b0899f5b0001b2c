import { cleanText } from './clean-text.ts'

const LONGEST = 200

/** One line about a tool, made from what its owner says. */
export function summaryOf(
  name: string,
  {
    summary,
    description,
    title,
  }: { readonly summary?: unknown; readonly description?: unknown; readonly title?: unknown },
): string {
  const line =
    [summary, description, title].map((text) => firstLine(text)).find((text) => text !== '') ?? name
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 3).trimEnd()}...`
}

function firstLine(text: unknown): string {
  return (cleanText(text, 4 * LONGEST) ?? '').split('\n', 1)[0]!.replace(/\s+/g, ' ').trim()
}
