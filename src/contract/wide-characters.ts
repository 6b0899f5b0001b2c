// Made at run time: with a single character beyond Latin-1 in it, node reads a file at twice the cost, and the bundler writes escapes as characters.

/** Stands for what was cut off. */
export const ELLIPSIS = String.fromCodePoint(0x2026)
/** Stands before an explanation. */
export const DASH = String.fromCodePoint(0x2014)
/** Shows a line break within a line. */
export const RETURN_SIGN = String.fromCodePoint(0x23ce)
/** Joins several emoji into one. */
export const JOINER = String.fromCodePoint(0x200d)
/** Asks for a character to be drawn as an emoji. */
export const EMOJI_STYLE = String.fromCodePoint(0xfe0f)
