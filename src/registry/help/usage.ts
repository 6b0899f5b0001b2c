/**
 * Reads usage lines, and tells those of the program from those of its commands.
 */

import { compact } from '../../util/values.ts'
import { findClosingBracket, listAlternatives, readAttachedValue, readFlag } from './tokens.ts'

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

type UsageScope = { readonly optional: boolean; readonly grouped: boolean; readonly depth: number }
type UsageReader = { readonly text: string; at: number; readonly items: UsageItem[] }

const MAX_USAGE_DEPTH = 12
const WORD_END = new Set([' ', '[', ']', '(', ')', '{', '}', '|', ','])

/**
 * Everything that a usage line names, in its order. Never throws; what is not closed ends with the
 * line.
 */
export function readUsage(text: string): UsageItem[] {
  const reader: UsageReader = { text, at: 0, items: [] }
  while (reader.at < text.length)
    readSequence(reader, undefined, { optional: false, grouped: false, depth: 0 })
  return reader.items
}

function readSequence(reader: UsageReader, closer: string | undefined, scope: UsageScope): void {
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
    if (' ,)]}'.includes(character)) reader.at++
    else if (character === '|') {
      alternatives = true
      reader.at++
    } else if (character === '[' && !isAttachedBracket(text, reader.at, reader.at))
      readGroup(reader, ']', { ...scope, optional: true })
    else if (character === '(') readGroup(reader, ')', scope)
    else if (character === '{') readBraces(reader, scope)
    else if (text.startsWith('...', reader.at)) reader.at += 3
    else if (character === '-') readDashed(reader, scope, closer)
    else readArgument(reader, scope)
    if (items.length > before) readEllipsis(reader, items.slice(before))
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
  items.splice(first, 2, { ...long, names: [...short.names, ...long.names], ...compact({ value }) })
}

function readGroup(reader: UsageReader, closer: string, scope: UsageScope): void {
  reader.at++
  if (scope.depth >= MAX_USAGE_DEPTH) return
  readSequence(reader, closer, { ...scope, grouped: true, depth: scope.depth + 1 })
}

/** `{a,b}` names what may stand here; `{ -a | -b }` groups. */
function readBraces(reader: UsageReader, scope: UsageScope): void {
  const { text, at } = reader
  const end = findClosingBracket(text, at)
  const choices = end === undefined ? [] : listAlternatives(text.slice(at, end).replace(/ /g, ''))
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

function readEllipsis(reader: UsageReader, items: readonly UsageItem[]): void {
  const pattern = /( ?)(?:\[ ?\.\.\. ?\]|\.\.\.)/y
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)
  if (!found) return
  reader.at += found[0].length
  const last = items[items.length - 1]!
  if (last.choices.length > 0 && found[1] === ' ') last.commands = true
  else for (const item of items) item.repeatable = true
}

function readDashed(reader: UsageReader, scope: UsageScope, closer: string | undefined): void {
  const { text } = reader
  const flag = readFlag(text, reader.at)
  if (!flag) {
    while (reader.at < text.length && !WORD_END.has(text[reader.at]!)) reader.at++
    return
  }
  reader.at = flag.end
  const attached = readAttachedValue(text, reader.at)
  if (attached) reader.at = attached.end
  const value = attached
    ? { text: attached.text, optional: attached.optional, sure: true }
    : readValue(reader, scope, closer)
  const again = value && !value.optional ? readRepeatedValue(reader, value.text) : false
  reader.items.push(
    compact({
      kind: 'flag',
      names: flag.names,
      negative: flag.negative,
      value,
      required: !scope.optional,
      repeatable: again,
      choices: [],
    }),
  )
}

/** argparse writes `--files FILE [FILE ...]`. */
function readRepeatedValue(reader: UsageReader, value: string): boolean {
  const again = ` [${value} ...]`
  if (!reader.text.startsWith(again, reader.at)) return false
  reader.at += again.length
  return true
}

/**
 * What follows a flag after a blank is its value when both are alone in brackets, and perhaps
 * otherwise.
 */
function readValue(
  reader: UsageReader,
  scope: UsageScope,
  closer: string | undefined,
): UsageItem['value'] {
  const { text, at } = reader
  if (text[at] !== ' ') return undefined
  const start = text.startsWith('  ', at) ? at + 2 : at + 1
  const bracket = text[start] === '[' ? findClosingBracket(text, start) : undefined
  if (bracket !== undefined && closer !== undefined && ' ]|)}.'.includes(text[bracket] ?? ' ')) {
    const end = bracket
    const inner = text.slice(start + 1, end - 1).trim()
    if (inner === '' || /(?:^|[ |[])-/.test(inner) || inner === '...') return undefined
    reader.at = end
    return { text: inner, optional: true, sure: true }
  }
  let end = start
  for (;;) {
    const stop = findWordEnd(text, end)
    if (stop === end) break
    end = stop
    // `[-L port:host:port remote local]` has several words only inside brackets of its own.
    if (closer !== ']' || text[end] !== ' ' || !/[\w<{]/.test(text[end + 1] ?? '')) break
    end++
  }
  const words = text.slice(start, end).trim()
  const isOpen = words.startsWith('[') && bracket === undefined
  if (words === '' || words === '...' || isOpen || /^[-|]/.test(words)) return undefined
  const sure =
    closer === ']' &&
    [']', '|', ' |', ' ]', ' ...', ' ['].some((follower) => text.startsWith(follower, end))
  if (!sure && !/^[<A-Z{]/.test(words)) return undefined
  if (!sure && scope.depth === 0 && /^(?:OPTIONS?|FILES?|PATHS?)\b/.test(words)) return undefined
  reader.at = start + words.length
  return { text: words, optional: false, sure }
}

/**
 * The end of a word with the brackets that are written onto it: `[user@]host`, `file[,file...]`.
 */
function findWordEnd(text: string, at: number): number {
  let position = at
  while (position < text.length) {
    const character = text[position]!
    if (
      character === '<' ||
      character === '{' ||
      (character === '[' && isAttachedBracket(text, position, at))
    ) {
      const end = findClosingBracket(text, position)
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
function isAttachedBracket(text: string, position: number, start: number): boolean {
  if (position > start) return text[position - 1] !== ' '
  const end = findClosingBracket(text, position)
  return end !== undefined && /[\w<]/.test(text[end] ?? ' ')
}

function readArgument(reader: UsageReader, scope: UsageScope): void {
  const { text, at } = reader
  const end = Math.max(findWordEnd(text, at), at + 1)
  reader.at = end
  const written = text.slice(at, end)
  const choices = /^<?[a-z0-9-]+(?:\|[a-z0-9-]+)+>?$/.test(written) ? listAlternatives(written) : []
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

/** What the usage lines of a program say about itself and about its commands. */
export type UsageLines = {
  /** The lines that are about the program itself. */
  readonly own: readonly (readonly UsageItem[])[]
  /** Commands whose usage is written out: `prog ship new <name>`. */
  readonly commands: readonly string[]
}

/** A word that can be the name of a command. */
export const COMMAND_NAME = /^[\p{L}\d][\p{L}\d_:.@+/-]*$/u

/**
 * Parts usage lines into those of the program and those of its commands. Only where placeholders
 * are marked can a plain word be a command.
 */
export function splitUsageLines(
  usages: readonly (readonly UsageItem[])[],
  isListed: (flag: string) => boolean,
): UsageLines {
  const lines = usages.map((items) => dropLauncher(items, isListed))
  if (lines.length < 2 || !hasMarkedPlaceholders(lines)) return { own: lines, commands: [] }
  const leading = lines.map((items) => listLeadingWords(items))
  const shared = countSharedWords(leading)
  if (shared === 0 || (shared === 1 && areAlternateNames(lines, leading)))
    return { own: lines, commands: [] }
  const commands = leading
    .map((words) => words[shared])
    .map((word) => (word !== undefined && /^[a-z][a-z0-9_-]*$/.test(word) ? word : undefined))
  const own = lines.flatMap((items, index) => (commands[index] === undefined ? [items] : []))
  // What stands before the command belongs to the program.
  const before = lines.flatMap((items, index) =>
    commands[index] === undefined
      ? []
      : items
          .slice(
            0,
            items.findIndex(({ names }) => names[0] === commands[index]),
          )
          .filter(({ kind }) => kind === 'flag'),
  )
  return {
    own: before.length > 0 ? [...own, before] : own,
    commands: [...new Set(commands.filter((word) => word !== undefined))],
  }
}

/**
 * `git log [<options>] …` and `git show [<options>] …` in one help are two names of one thing, not
 * its commands.
 */
function areAlternateNames(
  lines: readonly (readonly UsageItem[])[],
  leading: readonly (readonly string[])[],
): boolean {
  return (
    lines.length === 2 &&
    leading.every((words) => words.length === 2) &&
    lines.every((items) =>
      items.some(({ kind, names }) => kind === 'argument' && /^options?$/i.test(names[0]!)),
    )
  )
}

/** Whether placeholders are told from words that are typed: `<x>`, `X`. */
export function hasMarkedPlaceholders(usages: readonly (readonly UsageItem[])[]): boolean {
  return usages.some((items) => items.some((item) => item.kind === 'argument' && item.marked))
}

/** `python -m json.tool [-h]`: the flag belongs to the program that starts this one. */
function dropLauncher(
  items: readonly UsageItem[],
  isListed: (flag: string) => boolean,
): readonly UsageItem[] {
  const [program, flag, started] = items
  const launched =
    program?.kind === 'word' &&
    flag?.kind === 'flag' &&
    flag.required &&
    !flag.value &&
    started?.kind === 'word' &&
    items.length > 3 &&
    !isListed(flag.names[0]!)
  return launched
    ? [
        { ...program, names: [`${program.names[0]!} ${flag.names[0]!} ${started.names[0]!}`] },
        ...items.slice(3),
      ]
    : items
}

/** The words that are typed as they are, before the first argument. */
function listLeadingWords(items: readonly UsageItem[]): string[] {
  const words: string[] = []
  for (const item of items) {
    if (item.kind === 'word' && COMMAND_NAME.test(item.names[0]!)) words.push(item.names[0]!)
    else if (item.kind === 'word' || (item.kind === 'argument' && item.required)) break
  }
  return words
}

function countSharedWords(lists: readonly (readonly string[])[]): number {
  const shortest = Math.min(...lists.map((list) => list.length))
  let length = 0
  while (length < shortest && lists.every((list) => list[length] === lists[0]![length])) length++
  return length
}
