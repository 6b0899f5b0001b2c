/** Terminal output of a tool as coloured pieces. Escape sequences that are no colour are removed. */

/**
 * A piece of a line in one look; `look` is a list of words of our own, such as `red bold`, never
 * text of a tool.
 */
type AnsiSpan = { readonly text: string; readonly look: string }

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
const TEXT_MODES: { readonly [code: number]: string } = {
  1: 'bold',
  2: 'faint',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'struck',
}
const MODE_ENDS: { readonly [code: number]: readonly string[] } = {
  22: ['bold', 'faint'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['struck'],
}

/** How many codes follow that say which colour: by number (5) or by red, green and blue (2). */
const EXTENDED_COLOUR_LENGTHS: { readonly [kind: number]: number } = { 5: 2, 2: 4 }

// In the order of what they may contain: strings that end with BEL or ST (titles, links,
// clipboard), control sequences, other escapes, and what controls without one. A string without an
// end reaches to the end of the line.

const CONTROL_SEQUENCE =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~]|$)|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f]/g

/**
 * A line that a tool wrote for a terminal as pieces of plain text: its colours become words for
 * looks, and everything else that a terminal would obey is taken out.
 */
export function parseAnsi(line: string): readonly AnsiSpan[] {
  const spans: { text: string; look: string }[] = []
  const looks = new Set<string>()
  const add = (text: string): void => {
    const look = [...looks].join(' ')
    const last = spans.at(-1)
    if (text === '') return
    if (last?.look === look) last.text += text
    else spans.push({ text, look })
  }
  let reached = 0
  const shown = afterCarriageReturn(line)
  for (const match of shown.matchAll(CONTROL_SEQUENCE)) {
    add(shown.slice(reached, match.index))
    reached = match.index + match[0].length
    if (match[2] === 'm') applyStyleCodes(looks, match[1] ?? '')
  }
  add(shown.slice(reached))
  return spans
}

/** The same without its looks. */
export function stripAnsi(line: string): string {
  return parseAnsi(line)
    .map(({ text }) => text)
    .join('')
}

// A carriage return writes over what stands there: the last writing counts.
function afterCarriageReturn(line: string): string {
  const parts = line.split('\r').filter((part) => part !== '')
  return parts.at(-1) ?? ''
}

function applyStyleCodes(looks: Set<string>, parameters: string): void {
  const codes = parameters.split(/[;:]/).map((code) => Number(code === '' ? 0 : code))
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index]!
    if (code === 0) looks.clear()
    else if (Object.hasOwn(TEXT_MODES, code)) looks.add(TEXT_MODES[code]!)
    else if (Object.hasOwn(MODE_ENDS, code)) for (const look of MODE_ENDS[code]!) looks.delete(look)
    else if (code === 38 || code === 48) {
      // Colours by number: the first sixteen are the named ones, others stay as they are.
      const number = codes[index + 1] === 5 ? codes[index + 2] : undefined
      if (number !== undefined && number < 16) setColour(looks, code === 48, COLOURS[number % 8])
      index += EXTENDED_COLOUR_LENGTHS[codes[index + 1] ?? 0] ?? 0
    } else if (code === 39 || code === 49) setColour(looks, code === 49, undefined)
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      setColour(looks, false, COLOURS[code % 10])
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107))
      setColour(looks, true, COLOURS[code % 10])
  }
}

function setColour(looks: Set<string>, behind: boolean, colour: string | undefined): void {
  for (const name of COLOURS) looks.delete(behind ? `on-${name}` : name)
  if (colour !== undefined) looks.add(behind ? `on-${colour}` : colour)
}
