import type { ForeignFacts } from '../found.ts'

const LONGEST = 200

/** One line about a tool, made from what its owner says. */
export function summaryOf(name: string, { summary, description, title }: Pick<ForeignFacts, 'summary' | 'description' | 'title'>): string {
  const line = [summary, description, title].map((text) => firstLine(text)).find((text) => text !== '') ?? name
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 3).trimEnd()}...`
}

function firstLine(text: string | undefined): string {
  return (text ?? '').trim().split('\n', 1)[0]!.replace(/\s+/g, ' ').trim()
}
