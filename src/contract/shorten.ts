// Made at run time: node reads a file with a single character beyond ASCII at twice the cost.
const ELLIPSIS = String.fromCodePoint(0x2026)

/** A text for a message, cut at so many characters. */
export function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}${ELLIPSIS}` : text
}
