/**
 * Text in messages: shortening, characters beyond Latin-1, "did you mean", and quoting for a shell.
 */

/** A text for a message, cut at so many characters. */
export function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}${ELLIPSIS}` : text
}

// Made at run time: with a single character beyond Latin-1 in it, node reads a file at twice the
// cost, and the bundler writes escapes as characters.

/** Stands for what was cut off. */
export const ELLIPSIS = String.fromCodePoint(0x2026)
/** Stands before an explanation. */
export const DASH = String.fromCodePoint(0x2014)
/** Shows a line break within a line. */
export const RETURN_SIGN = String.fromCodePoint(0x23ce)
/** Joins several emoji into one. */
export const ZERO_WIDTH_JOINER = String.fromCodePoint(0x200d)
/** Asks for a character to be drawn as an emoji. */
export const EMOJI_VARIATION_SELECTOR = String.fromCodePoint(0xfe0f)

/** Says that nothing of a kind has this name, and which was probably meant. */
export function describeUnknownName(
  kind: string,
  name: string,
  names: readonly string[],
): { readonly message: string; readonly meant: string | undefined } {
  const meant = findClosest(name, names)
  return {
    message: `there is no ${kind} '${shorten(name, 100)}'${meant ? `; did you mean '${meant}'?` : ''}`,
    meant,
  }
}

const MAX_WORD_LENGTH = 64

/**
 * The candidate that was probably meant by `word`, or undefined when none is near. `-`, `_` and
 * case do not count; a beginning of a word counts.
 */
export function findClosest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = normalizeWord(word)
  if (wanted === '' || wanted.length > MAX_WORD_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = getMaxDistance(wanted.length) + 1
  const continued: string[] = []
  for (const candidate of candidates) {
    const known = normalizeWord(candidate)
    if (known === wanted) return candidate
    if (known.length > MAX_WORD_LENGTH) continue
    if (wanted.length > 1 && known.startsWith(wanted)) continued.push(candidate)
    if (Math.abs(known.length - wanted.length) >= bestDistance) continue
    const distance = getEditDistance(wanted, known)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  // A beginning that fits several words says nothing about which one was meant.
  return best ?? (continued.length === 1 ? continued[0] : undefined)
}

function normalizeWord(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '')
}

function getMaxDistance(length: number): number {
  if (length < 3) return 0
  if (length < 6) return 1
  return length < 10 ? 2 : 3
}

// Damerau-Levenshtein (optimal string alignment): a swap of neighbours is one edit.
function getEditDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
      )
      const swapped =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[to.length]!
}

/** Escapes a text for use inside a regular expression. */
export function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** Splits a list of words that is written as text, on one line or more. */
export function listWords(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** Writes a number with its noun: `1 file`, `3 files`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A word as a POSIX shell has to see it to hand it on unchanged. */
export function quoteForShell(word: string): string {
  return /^[\w@%+:,./-][\w@%+:,./=-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Words as a command line that can be pasted, whatever is in them. */
export function quoteCommandLine(words: readonly string[]): string {
  return words.map(quoteForShell).join(' ')
}
