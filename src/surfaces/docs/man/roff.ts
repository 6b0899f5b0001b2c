import { displayWidth } from '../../cli/output/text/display-width.ts'

const SPECIAL: { readonly [character: string]: string } = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '"': '\\(dq',
}
const LONGEST_WORD = 24

/** A text as roff within a line: every character is shown as it is, on every device, and long words may be broken. */
export function roffText(text: string): string {
  return text.split(' ').map(breakWord).join(' ')
}

/** A text that is not filled: examples. */
export function roffCode(text: string): string {
  return text
    .split('\n')
    .map((line) => guardLine(escapeAll(line)))
    .join('\n')
}

/** Lines of text, none of which is taken for a request. */
export function roffLines(text: string): string {
  return text
    .split('\n')
    .map((line) => guardLine(roffText(line.trim())))
    .join('\n')
}

/** A text in bold. */
export function bold(text: string): string {
  return `\\fB${roffText(text)}\\fR`
}

/** A text as one argument of a macro. */
export function argument(text: string): string {
  return `"${roffText(text)}"`
}

/** For each character beyond ASCII what to print where a device does not have it. */
export function fallbacks(page: string): string[] {
  return [...new Set(page.match(/\\\[u[0-9A-F]+\]/g))]
    .sort()
    .map((character) => `.if !c ${character} .fchar ${character} ?`)
}

// Behind punctuation where there is some; a device that cannot break a line complains about it.
function breakWord(word: string): string {
  if (displayWidth(word) <= LONGEST_WORD) return escapeAll(word)
  const parts = word.match(/[^,;:/|&=_.-]{1,12}[,;:/|&=_.-]{0,4}|[,;:/|&=_.-]{1,4}/gu) ?? [word]
  return parts.map(escapeAll).join('\\:')
}

function escapeAll(text: string): string {
  return text.replace(
    /[\\\-'`^~"]|[^\x20-\x7e]/gu,
    (character) =>
      SPECIAL[character] ??
      `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
  )
}

// A dot at the start of a line is a request; the quote that is another never stands there.
function guardLine(line: string): string {
  return line.startsWith('.') ? `\\&${line}` : line
}
