import { openBoxes } from './boxes.ts'

// A line of a help text is short; what is longer is garbage, or data that nobody reads as help.
const LONGEST_LINE = 4000
const LONGEST_TEXT = 2_000_000

/** The lines of any text as a terminal would show them: no escape sequences, no overstrike, no tabs, no frames. */
export function toLines(text: string): string[] {
  const plain = undoOverstrike(
    stripEscapes(text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text),
  ).replace(/\r\n?/g, '\n')
  const lines = plain.split('\n').map((line) => tidy(line))
  return markUnderlined(openBoxes(lines))
}

// ESC [ ... , ESC ] ... BEL and the two-letter ones; no part of a sequence can contain the start of another, so this is linear.

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*\u0007?|[@-Z\\-_()][0-9A-Z]?)/g

function stripEscapes(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text
}

/** Manual pages print bold as `x BACKSPACE x` and underlined as `_ BACKSPACE x`. */
function undoOverstrike(text: string): string {
  if (!text.includes('\b')) return text
  const kept: string[] = []
  for (const character of text) {
    if (character !== '\b') kept.push(character)
    else if (kept.length > 0 && kept[kept.length - 1] !== '\n') kept.pop()
  }
  return kept.join('')
}

function tidy(line: string): string {
  const cut = line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line
  return (
    expandTabs(cut)
      .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, ' ')
      .replace(/\u2026/g, '...')
      .replace(/[\u2010\u2011\u2212]/g, '-')

      .replace(/[\u0000-\u001f\u007f\u00ad\u200b-\u200f\ufeff]/g, '')
      // Leaders: `-a  ........  --search`
      .replace(/ \.{3,} /g, (dots) => ' '.repeat(dots.length))
      .trimEnd()
  )
}

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line
  const [first = '', ...rest] = line.split('\t')
  let shown = first
  for (const part of rest) shown += ' '.repeat(8 - (shown.length % 8)) + part
  return shown
}

const UNDERLINE = /^ *([-=~*_─═])\1{2,} *$/

/** `Options` over a line of dashes is a heading. */
function markUnderlined(lines: readonly string[]): string[] {
  const marked = [...lines]
  for (const [index, line] of lines.entries()) {
    if (!UNDERLINE.test(line)) continue
    marked[index] = ''
    const above = index > 0 ? marked[index - 1]! : ''
    if (above.trim() !== '' && above.length < 80 && !/[:.]$/.test(above))
      marked[index - 1] = `${above}:`
  }
  return marked
}
