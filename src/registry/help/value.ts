/** How a help text writes the value of a flag. */
export type ValueNote = {
  readonly text: string
  readonly optional: boolean
  readonly end: number
  readonly joint?: ValueJoint
}

/** How a value stands to its flag: `--x=v`, `--x v`, `-xv`. */
export type ValueJoint = 'equals' | 'space' | 'stuck'

const CLOSERS: { readonly [opener: string]: string } = { '[': ']', '<': '>', '{': '}', '(': ')' }

/** The position after the bracket that closes the one at `at`, or undefined where it stays open. */
export function closeOf(text: string, at: number): number | undefined {
  const open: string[] = []
  for (let position = at; position < text.length; position++) {
    const character = text[position]!
    const closer = CLOSERS[character]
    // Inside <...> an angle bracket alone nests; `a->b` and `x<=5` do not.
    if (closer !== undefined && !(character === '<' && ' ='.includes(text[position + 1] ?? ' ')))
      open.push(closer)
    else if (character === open[open.length - 1]) open.pop()
    if (open.length === 0) return position + 1
    if (open.length > 16) return undefined
  }
  return undefined
}

/** The value that is written onto a flag without a blank: `=X`, `[=X]`, `[X]`, `<x>`, `{x}`, `:x`, `,<x>`. */
export function readAttached(text: string, at: number): ValueNote | undefined {
  const character = text[at]
  if (character === undefined) return undefined
  if (character === '[') return readOptional(text, at)
  if (character === '<' || character === '{') return { ...readRun(text, at, at), joint: 'stuck' }
  if (character === '=') return { ...readRun(text, at + 1, at + 1), joint: 'equals' }
  if (character === ':' && /[^\s:,]/.test(text[at + 1] ?? ' '))
    return { ...readRun(text, at + 1, at + 1), joint: 'stuck' }
  if (character === ',' && /[<[{]/.test(text[at + 1] ?? ' '))
    return { ...readRun(text, at + 1, at + 1), joint: 'stuck' }
  return undefined
}

function readOptional(text: string, at: number): ValueNote | undefined {
  const end = closeOf(text, at)
  if (end === undefined || end === at + 2) return undefined
  // `--foo[=]BAR` and `--exec=[-]cmd` go on behind the bracket, and the value is then required.
  const inner = text.slice(at + 1, end - 1).trim()
  if (inner === '=' || inner === ' ') return readRun(text, end, end)
  const goesOn = text[end] !== undefined && !' ,|/].:)'.includes(text[end])
  if (goesOn && !text.startsWith('...', end)) {
    const whole = readRun(text, at, at)
    return whole && { ...whole, optional: text[end] === '[' }
  }
  return {
    text: inner.replace(/^[=:,]/, ''),
    optional: true,
    end: text.startsWith('...', end) ? end + 3 : end,
  }
}

/** Up to the next blank outside brackets and quotes; a comma at the end separates names. */
export function readRun(text: string, from: number, start: number): ValueNote {
  let position = from
  while (position < text.length) {
    const character = text[position]!
    if (character === ' ') break
    if (']})'.includes(character)) break
    if (character === '|' && text[position + 1] === '-') break
    if (
      character === ',' &&
      (text[position + 1] === ' ' || text[position + 1] === '-' || position + 1 === text.length)
    )
      break
    if (character === '/' && text.startsWith('--', position + 1)) break
    if ((character === '"' || character === "'") && text.indexOf(character, position + 1) > 0)
      position = text.indexOf(character, position + 1) + 1
    else if (CLOSERS[character] !== undefined) position = closeOf(text, position) ?? position + 1
    else position++
  }
  const written = text.slice(start, position).replace(/[:;]$|(?<=[\]>}])\.$/, '')
  return { text: written, optional: false, end: start + written.length }
}
