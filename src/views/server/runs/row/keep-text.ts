import { shorten } from '../../../../contract/shorten.ts'

const known = new Map<string, string>()
const MOST_KNOWN = 2000
const LONGEST_KNOWN = 64

/** A text of bounded length that keeps nothing else in memory: a piece of a text holds on to the whole of it. Short ones that come again and again are kept once. */
export function keepText(text: string, longest: number): string {
  if (text.length > longest) return Buffer.from(shorten(text, longest)).toString()
  if (text.length > LONGEST_KNOWN) return text
  const same = known.get(text)
  if (same !== undefined) return same
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(text, text)
  return text
}
