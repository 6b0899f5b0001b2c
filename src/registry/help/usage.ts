import { readFlag } from './flag.ts'
import { closeOf, readAttached } from './value.ts'
import { alternativesIn } from './placeholder.ts'

/** One thing that a usage line names. */
export type UsageItem = {
  readonly kind: 'flag' | 'argument' | 'word'
  readonly names: readonly string[]
  readonly negative: readonly string[]
  /** The value of a flag. */
  readonly value?: { readonly text: string; readonly optional: boolean; readonly sure: boolean }
  /** Nothing around it makes it optional. */
  readonly required: boolean
  repeatable: boolean
  readonly choices: readonly string[]
  /** `{a,b} ...`: the rest of the line belongs to the choice. */
  commands?: true
  /** Written so that it can only be a placeholder. */
  readonly marked?: boolean
}

type Scope = { readonly optional: boolean; readonly grouped: boolean; readonly depth: number }
type Reader = { readonly text: string; at: number; readonly items: UsageItem[] }

const DEEPEST = 12
const WORD_END = new Set([' ', '[', ']', '(', ')', '{', '}', '|', ','])

/** Everything that a usage line names, in its order. Never throws; what is not closed ends with the line. */
export function readUsage(text: string): UsageItem[] {
  const reader: Reader = { text, at: 0, items: [] }
  while (reader.at < text.length)
    readSequence(reader, undefined, { optional: false, grouped: false, depth: 0 })
  return reader.items
}

function readSequence(reader: Reader, closer: string | undefined, scope: Scope): void {
  const { text, items } = reader
  const first = items.length
  let alternatives = false
  while (reader.at < text.length) {
    const character = text[reader.at]!
    if (character === closer || (closer === undefined && ')]}'.includes(character))) {
      reader.at++
      break
    }
    const before = items.length
    if (
      character === ' ' ||
      character === ',' ||
      character === ')' ||
      character === ']' ||
      character === '}'
    )
      reader.at++
    else if (character === '|') {
      alternatives = true
      reader.at++
    } else if (character === '[' && !isGlued(text, reader.at, reader.at))
      readGroup(reader, ']', { ...scope, optional: true })
    else if (character === '(') readGroup(reader, ')', scope)
    else if (character === '{') readBraces(reader, scope)
    else if (text.startsWith('...', reader.at)) reader.at += 3
    else if (character === '-') readDashed(reader, scope, closer)
    else readArgument(reader, scope)
    if (items.length > before) takeEllipsis(reader, items.slice(before))
  }
  if (alternatives && closer !== undefined) joinNames(items, first)
  // Of alternatives none is required by itself.
  if (alternatives)
    for (let index = first; index < items.length; index++)
      items[index] = { ...items[index]!, required: false }
}

/** `[-v | --version]`: two names of one flag. */
function joinNames(items: UsageItem[], first: number): void {
  const [left, right] = items.slice(first)
  if (items.length - first !== 2 || left!.kind !== 'flag' || right!.kind !== 'flag') return
  const [short, long] = left!.names[0]!.length === 2 ? [left!, right!] : [right!, left!]
  if (
    short.names[0]!.length !== 2 ||
    !long.names[0]!.startsWith('--') ||
    short.names[0]![1]!.toLowerCase() !== long.names[0]![2]!.toLowerCase()
  )
    return
  const value = long.value ?? short.value
  items.splice(first, 2, {
    ...long,
    names: [...short.names, ...long.names],
    ...(value && { value }),
  })
}

function readGroup(reader: Reader, closer: string, scope: Scope): void {
  reader.at++
  if (scope.depth >= DEEPEST) return
  readSequence(reader, closer, { ...scope, grouped: true, depth: scope.depth + 1 })
}

/** `{a,b}` names what may stand here; `{ -a | -b }` groups. */
function readBraces(reader: Reader, scope: Scope): void {
  const { text, at } = reader
  const end = closeOf(text, at)
  const choices = end === undefined ? [] : alternativesIn(text.slice(at, end).replace(/ /g, ''))
  if (end === undefined || choices.length < 2 || choices.some((choice) => choice.startsWith('-'))) {
    readGroup(reader, '}', scope)
    return
  }
  reader.at = end
  reader.items.push({
    kind: 'argument',
    names: [text.slice(at, end)],
    negative: [],
    required: !scope.optional,
    repeatable: false,
    choices,
  })
}

function takeEllipsis(reader: Reader, items: readonly UsageItem[]): void {
  const pattern = /( ?)(?:\[ ?\.\.\. ?\]|\.\.\.)/y
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)
  if (!found) return
  reader.at += found[0].length
  const last = items[items.length - 1]!
  if (last.choices.length > 0 && found[1] === ' ') last.commands = true
  else for (const item of items) item.repeatable = true
}

function readDashed(reader: Reader, scope: Scope, closer: string | undefined): void {
  const { text } = reader
  const flag = readFlag(text, reader.at)
  if (!flag) {
    while (reader.at < text.length && !WORD_END.has(text[reader.at]!)) reader.at++
    return
  }
  reader.at = flag.end
  const attached = readAttached(text, reader.at)
  if (attached) reader.at = attached.end
  const value = attached
    ? { text: attached.text, optional: attached.optional, sure: true }
    : readValue(reader, scope, closer)
  const again = value && !value.optional ? repeatedValue(reader, value.text) : false
  reader.items.push({
    kind: 'flag',
    names: flag.names,
    negative: flag.negative,
    ...(value && { value }),
    required: !scope.optional,
    repeatable: again,
    choices: [],
  })
}

/** argparse writes `--files FILE [FILE ...]`. */
function repeatedValue(reader: Reader, value: string): boolean {
  const again = ` [${value} ...]`
  if (!reader.text.startsWith(again, reader.at)) return false
  reader.at += again.length
  return true
}

/** What follows a flag after a blank is its value when both are alone in brackets, and perhaps otherwise. */
function readValue(reader: Reader, scope: Scope, closer: string | undefined): UsageItem['value'] {
  const { text, at } = reader
  if (text[at] !== ' ') return undefined
  const start = text.startsWith('  ', at) ? at + 2 : at + 1
  const bracket = text[start] === '[' ? closeOf(text, start) : undefined
  if (bracket !== undefined && closer !== undefined && ' ]|)}.'.includes(text[bracket] ?? ' ')) {
    const end = bracket
    const inner = text.slice(start + 1, end - 1).trim()
    if (inner === '' || /(?:^|[ |[])-/.test(inner) || inner === '...') return undefined
    reader.at = end
    return { text: inner, optional: true, sure: true }
  }
  let end = start
  for (;;) {
    const stop = wordEnd(text, end)
    if (stop === end) break
    end = stop
    // `[-L port:host:port remote local]` has several words only inside brackets of its own.
    if (closer !== ']' || text[end] !== ' ' || !/[\w<{]/.test(text[end + 1] ?? '')) break
    end++
  }
  const words = text.slice(start, end).trim()
  if (
    words === '' ||
    (words.startsWith('[') && bracket === undefined) ||
    words.startsWith('-') ||
    words.startsWith('|') ||
    words === '...'
  )
    return undefined
  const sure =
    closer === ']' &&
    (text[end] === ']' ||
      text[end] === '|' ||
      text.startsWith(' |', end) ||
      text.startsWith(' ]', end) ||
      text.startsWith(' ...', end) ||
      text.startsWith(' [', end))
  if (!sure && !/^[<A-Z{]/.test(words)) return undefined
  if (!sure && scope.depth === 0 && /^(?:OPTIONS?|FILES?|PATHS?)\b/.test(words)) return undefined
  reader.at = start + words.length
  return { text: words, optional: false, sure }
}

/** The end of a word with the brackets that are written onto it: `[user@]host`, `file[,file...]`. */
function wordEnd(text: string, at: number): number {
  let position = at
  while (position < text.length) {
    const character = text[position]!
    if (
      character === '<' ||
      character === '{' ||
      (character === '[' && isGlued(text, position, at))
    ) {
      const end = closeOf(text, position)
      if (end === undefined) break
      position = end
    } else if (
      ' ])}|'.includes(character) ||
      (character === ',' && text[position + 1] === ' ') ||
      text.startsWith('...', position)
    ) {
      if (character === '|' && position > at && /\w/.test(text[position + 1] ?? '')) position++
      else break
    } else position++
  }
  return position
}

/** A bracket that is part of a word. */
function isGlued(text: string, position: number, start: number): boolean {
  if (position > start) return text[position - 1] !== ' '
  const end = closeOf(text, position)
  return end !== undefined && /[\w<]/.test(text[end] ?? ' ')
}

function readArgument(reader: Reader, scope: Scope): void {
  const { text, at } = reader
  const end = Math.max(wordEnd(text, at), at + 1)
  reader.at = end
  const written = text.slice(at, end)
  const choices = /^<?[a-z0-9-]+(?:\|[a-z0-9-]+)+>?$/.test(written) ? alternativesIn(written) : []
  const marked = /^[<{]/.test(written) || /^[A-Z][A-Z0-9_-]*(?:\W|$)/.test(written)
  reader.items.push({
    kind: marked || scope.grouped ? 'argument' : 'word',
    marked,
    names: [written.replace(/^<([^<>]*)>$/, '$1')],
    negative: [],
    required: !scope.optional,
    repeatable: false,
    choices,
  })
}
