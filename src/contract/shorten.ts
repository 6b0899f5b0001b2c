import { ELLIPSIS } from './wide-characters.ts'

/** A text for a message, cut at so many characters. */
export function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}${ELLIPSIS}` : text
}
