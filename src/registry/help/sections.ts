/**
 * The document a help text is read into, and the first cut: usage lines, flags with descriptions,
 * sections.
 */

import { readFlagHead } from './flag-head.ts'
import type { FlagHead } from './flag-head.ts'
import { getLineContext, looksLikeUsage, readLineLayout, readUsageBlock } from './layout.ts'
import type { LineLayout } from './layout.ts'
import { startsSentence } from './tokens.ts'

/** A flag of a program, as its help tells it. */
export type HelpOption = {
  /**
   * Names of more than one letter, dashes included: `--x`, and `-name` for programs that write it
   * so.
   */
  readonly long: readonly string[]
  readonly short: readonly string[]
  /** A value has to follow. */
  readonly takesValue: boolean
  /**
   * A value may be given, as in `--color[=WHEN]`; then `takesValue` is false, and `valueName` names
   * it.
   */
  readonly valueOptional?: true
  readonly valueName: string | null
  /** Empty where the help does not say what is allowed. */
  readonly choices: readonly string[]
  readonly default: string | null
  readonly repeatable: boolean
  readonly required: boolean
  readonly description: string
}

/** An argument that has a place instead of a name. */
export type HelpPositional = {
  readonly name: string
  readonly required: boolean
  readonly repeatable: boolean
  readonly choices: readonly string[]
  readonly description: string
}

export type HelpCommand = {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly description: string
}

/** What a help text says, style aside. */
export type HelpDocument = {
  readonly usage: string
  readonly description: string
  readonly options: readonly HelpOption[]
  readonly positionals: readonly HelpPositional[]
  readonly commands: readonly HelpCommand[]
}

/** Flags with what is said about them. */
export type HelpFlagEntry = {
  head: FlagHead
  readonly line: number
  readonly indent: number
  /** Where the lines of its description begin; -1 as long as there is none. */
  column: number
  /** The description began on a line of its own. */
  below: boolean
  blank: boolean
  readonly description: string[]
  readonly section: HelpSection
}

export type HelpSection = {
  readonly title: string
  readonly kind: HelpSectionKind
  readonly indent: number
  readonly rows: LineLayout[]
}

/**
 * A help text taken apart: usage lines, flags with descriptions, and sections with the lines that
 * are neither.
 */
export type HelpOutline = {
  readonly usage: string[]
  readonly flags: HelpFlagEntry[]
  readonly sections: HelpSection[]
  readonly synopses: string[]
}

type OutlineWalk = HelpOutline & {
  section: HelpSection
  entry: HelpFlagEntry | undefined
  flagColumns: Set<number>
  lastProse: number
  pending: FlagHead | undefined
}

export function outlineHelp(lines: readonly string[]): HelpOutline {
  const looks = lines.map((line) => readLineLayout(line))
  const flagLines: number[] = []
  const places = looks.map((look, index) => (look.flagAt >= 0 ? flagLines.push(index) - 1 : -1))
  const intro: HelpSection = { title: '', kind: 'intro', indent: 0, rows: [] }
  const walk: OutlineWalk = {
    usage: [],
    flags: [],
    sections: [intro],
    synopses: [],
    section: intro,
    entry: undefined,
    flagColumns: new Set(),
    lastProse: -2,
    pending: undefined,
  }
  let untouched = true
  for (let index = 0; index < looks.length; index++) {
    const look = looks[index]!
    if (look.indent < 0) {
      if (walk.entry) walk.entry.blank = true
      walk.section.rows.push(look)
      continue
    }
    const around = look.flagAt >= 0 ? getLineContext(looks, flagLines, places[index]!) : undefined
    if (walk.entry && continueEntry(walk, walk.entry, look, around?.descriptionColumn)) continue
    const usage =
      readUsageBlock(looks, index) ??
      (untouched && looksLikeUsage(look.text)
        ? { lines: [look.text.trim()], next: index + 1 }
        : undefined)
    untouched = false
    if (usage) {
      walk.usage.push(...usage.lines)
      openSection(
        walk,
        { title: '', kind: walk.section.kind === 'intro' ? 'intro' : 'other' },
        look.indent,
      )
      index = usage.next - 1
      continue
    }
    if (look.flagAt < 0) {
      const heading = readHeading(
        look,
        looks.slice(index + 1, index + 4).find(({ indent }) => indent >= 0),
        index === 0 || looks[index - 1]!.indent < 0,
        walk.section.kind,
      )
      if (
        heading &&
        (walk.section.kind !== 'examples' ||
          look.indent <= walk.section.indent ||
          leadsToFlags(looks, index))
      )
        openSection(walk, heading, look.indent)
      else addRow(walk, look, index)
    } else if (walk.section.kind === 'examples' && look.indent > walk.section.indent) continue
    else if (look.text[look.flagAt] === '[' && isSynopsis(look.text))
      walk.synopses.push(look.text.trim())
    else if (!addEntry(walk, looks, index, around!)) addRow(walk, look, index)
  }
  return walk
}

/** Examples are over where a heading stands over described flags. */
function leadsToFlags(looks: readonly LineLayout[], index: number): boolean {
  const next = looks.slice(index + 1, index + 4).find(({ indent }) => indent >= 0)
  return next !== undefined && next.described
}

function openSection(walk: OutlineWalk, { title, kind }: HelpHeading, indent: number): void {
  // git groups its commands under titles of their own.
  const inherited = walk.section.kind === 'commands' ? 'commands' : 'other'
  walk.section = { title, kind: kind ?? inherited, indent, rows: [] }
  walk.sections.push(walk.section)
  walk.entry = undefined
  walk.pending = undefined
  walk.flagColumns = new Set()
}

/** Adds a line to the description of the open entry where it belongs to it. */
function continueEntry(
  walk: OutlineWalk,
  entry: HelpFlagEntry,
  look: LineLayout,
  usual: number | undefined,
): boolean {
  if (look.flagAt >= 0 && (walk.pending || walk.flagColumns.has(look.flagAt))) return false
  if (look.indent <= entry.indent) return false
  const begins = entry.column < 0
  if (look.flagAt >= 0 && begins && look.indent !== usual) return false
  const hangs = look.indent >= entry.column || (look.flagAt < 0 && !entry.blank)
  if (!begins && !hangs) return false
  if (begins) {
    entry.column = look.indent
    entry.below = true
  }
  if (entry.blank && entry.description.length > 0) entry.description.push('')
  entry.blank = false
  entry.description.push(begins ? look.text.trim().replace(/^[=:-] +/, '') : look.text.trim())
  return true
}

/** Lines like `[-g|--global] [--omit <dev|optional>]` list flags in the way of a usage. */
function isSynopsis(text: string): boolean {
  return /\] \[|\||\]$/.test(text) || /^\s*\[[^\]]*$/.test(text)
}

function addRow(walk: OutlineWalk, look: LineLayout, index: number): void {
  walk.entry = undefined
  walk.section.rows.push(look)
  // A row of a table is no prose: `--      end of the options`.
  if (!/\S {3,}\S/.test(look.text)) walk.lastProse = index
}

function addEntry(
  walk: OutlineWalk,
  looks: readonly LineLayout[],
  index: number,
  around: ReturnType<typeof getLineContext>,
): boolean {
  const look = looks[index]!
  const head = readFlagHead(look.text, look.flagAt, around)
  if (!head || !isPlausibleEntry(walk, looks, index, head, around.narrow)) return false
  let start = look.flagAt
  let current: FlagHead | undefined = head
  while (current) {
    const next = look.further.find((column) => column > current!.end && around.further.has(column))
    const text =
      current.joint === 'end' || current.joint === 'comma'
        ? ''
        : look.text.slice(current.end, next).trim()
    openEntry(walk, current, look, index, text)
    walk.flagColumns.add(start)
    if (next === undefined) break
    start = next
    current = readFlagHead(look.text, next, around)
  }
  for (const { at } of head.specs.slice(0, 6)) walk.flagColumns.add(at)
  return true
}

function openEntry(
  walk: OutlineWalk,
  head: FlagHead,
  look: LineLayout,
  line: number,
  text: string,
): void {
  const whole = walk.pending ? { ...head, specs: [...walk.pending.specs, ...head.specs] } : head
  walk.pending = undefined
  // lvm ends every line of a list with a comma; names that go on in the next line have no second
  // form yet.
  if (
    head.joint === 'comma' &&
    whole.specs.length < 3 &&
    new Set(whole.specs.map(({ names }) => names[0]!.startsWith('--'))).size === 1
  ) {
    walk.pending = whole
    walk.entry = undefined
    return
  }
  const entry: HelpFlagEntry = {
    head: whole,
    line,
    indent: look.indent,
    column: text === '' ? -1 : head.end,
    below: false,
    blank: false,
    description: text === '' ? [] : [text],
    section: walk.section,
  }
  walk.flags.push(entry)
  walk.entry = entry
}

/**
 * Flags near a line that begin in the same column and are described, or that stand right beside it.
 */
function countSiblings(looks: readonly LineLayout[], index: number): number {
  let siblings = 0
  for (let near = Math.max(0, index - 8); near < Math.min(looks.length, index + 9); near++) {
    const { flagAt, described } = looks[near]!
    if (
      near !== index &&
      flagAt >= 0 &&
      Math.abs(flagAt - looks[index]!.flagAt) <= 1 &&
      (described || Math.abs(near - index) === 1)
    )
      siblings++
  }
  return siblings
}

/** Tells entries from sentences that happen to begin with a flag. */
function isPlausibleEntry(
  walk: OutlineWalk,
  looks: readonly LineLayout[],
  index: number,
  head: FlagHead,
  narrowStyle: boolean,
): boolean {
  const look = looks[index]!
  const described = head.joint === 'gap' || head.joint === 'sign'
  const afterProse =
    walk.lastProse === index - 1 && looks[index - 1]!.indent === look.indent && !walk.pending
  if (afterProse && !described) return false
  if (head.joint === 'narrow') {
    const siblings = countSiblings(looks, index)
    if (
      !head.specs[head.specs.length - 1]!.value &&
      startsSentence(look.text.slice(head.end)) &&
      !(narrowStyle && siblings > 0)
    )
      return false
    return narrowStyle || walk.section.kind === 'options' || (look.indent > 0 && siblings > 0)
  }
  if (head.joint === 'end' && look.indent === 0 && walk.section.kind !== 'options') {
    return [looks[index - 1], looks[index + 1]].some(
      (near) => near !== undefined && near.indent >= 0 && (near.flagAt >= 0 || near.indent > 0),
    )
  }
  return true
}

/** What the lines under a heading are about. */
type HelpSectionKind =
  'intro' | 'options' | 'commands' | 'positionals' | 'examples' | 'about' | 'other'

type HelpHeading = { readonly title: string; readonly kind: HelpSectionKind | undefined }

const CAPITALS_TITLE = /^[A-Z][A-Z0-9 ,/&()'_-]*[A-Z)]:?$/
const HEADING_KEYWORD =
  /\b(?:options?|commands?|flags?|arguments?|subcommands?|switches|parameters)\b/i
const MAX_HEADING_WORDS = 12

/** Reads a line as a heading of what follows it, or gives undefined. */
function readHeading(
  look: LineLayout,
  next: LineLayout | undefined,
  afterBlank: boolean,
  inside: HelpSectionKind,
): HelpHeading | undefined {
  const text = look.text.trim()
  if (text.length > 120 || text.includes('   ') || next === undefined) return undefined
  const marked = /^(?:#{1,6} +|\*\*|<)(.*?)(?:\*\*|>)?:?$/.exec(text)
  const title = (marked?.[1] ?? text).replace(/:$/, '').trim()
  if (title === '' || title.split(' ').length > MAX_HEADING_WORDS || !/\p{L}/u.test(title))
    return undefined
  const heading = { title, kind: getSectionKind(title) }
  if (text.endsWith(':') && !text.includes('  ')) return heading
  if (/^(?:#{1,6} |\*\*.*\*\*)/.test(text) || /^<[A-Z][a-z]+>$/.test(text)) return heading
  const alone = inside === 'positionals' && look.indent > 0
  if (
    CAPITALS_TITLE.test(text) &&
    look.indent <= 3 &&
    title.length >= 3 &&
    !alone &&
    (next.indent > look.indent || heading.kind !== undefined)
  )
    return heading
  const leads =
    next.indent > look.indent || next.flagAt >= 0 || /^\S+ {2,}\S+ {2,}\S/.test(next.text)
  return HEADING_KEYWORD.test(title) &&
    afterBlank &&
    leads &&
    look.indent <= 2 &&
    !/[.,;]$/.test(text) &&
    title.split(' ').length <= 10 &&
    !text.includes('  ')
    ? heading
    : undefined
}

/** What a title promises; undefined where it does not say. */
function getSectionKind(title: string): HelpSectionKind | undefined {
  const words = title.toLowerCase()
  if (/\bdefaults? to$|\bexamples?\b|\be\.g\.|\bsamples?\b/.test(words)) return 'examples'
  if (/^(?:description|name|about|overview|summary)$/.test(words)) return 'about'
  if (
    /\b(?:environment|exit|see also|authors?|bugs?|copyright|topics|learn more|reporting|variables|notes?|aliases)\b/.test(
      words,
    )
  )
    return 'other'
  const options =
    /\b(?:options?|flags?|switch|switches|optional arguments|named arguments|parameters?)\b/.test(
      words,
    )
  if (
    /\b(?:commands?|subcommands?|sub-commands?|subcmds?|verbs?|applets?|functions|tasks)\b/.test(
      words,
    )
  )
    return options && /(?:options?|flags?)(?: \(.*\))?$/.test(words) ? 'options' : 'commands'
  if (options) return 'options'
  return /\b(?:arguments?|positionals?|operands?|args?)\b/.test(words) && !/ -/.test(words)
    ? 'positionals'
    : undefined
}
