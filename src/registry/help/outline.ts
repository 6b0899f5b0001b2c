import type { Head } from './head.ts'
import { readHead } from './head.ts'
import type { Heading, SectionKind } from './headings.ts'
import { headingOf } from './headings.ts'
import type { LineLook } from './layout.ts'
import { lookAt, surroundingsOf } from './layout.ts'
import { isSentence } from './placeholder.ts'
import { looksLikeUsage, usageAt } from './usage-block.ts'

/** Flags with what is said about them. */
export type FlagEntry = {
  head: Head
  readonly line: number
  readonly indent: number
  /** Where the lines of its description begin; -1 as long as there is none. */
  column: number
  /** The description began on a line of its own. */
  below: boolean
  blank: boolean
  readonly description: string[]
  readonly section: Section
}

export type Section = {
  readonly title: string
  readonly kind: SectionKind
  readonly indent: number
  readonly rows: LineLook[]
}

/** A help text taken apart: usage lines, flags with descriptions, and sections with the lines that are neither. */
export type Outline = {
  readonly usage: string[]
  readonly flags: FlagEntry[]
  readonly sections: Section[]
  readonly synopses: string[]
}

type Walk = Outline & {
  section: Section
  entry: FlagEntry | undefined
  flagColumns: Set<number>
  lastProse: number
  pending: Head | undefined
}

export function outlineOf(lines: readonly string[]): Outline {
  const looks = lines.map((line) => lookAt(line))
  const flagLines: number[] = []
  const places = looks.map((look, index) => (look.flagAt >= 0 ? flagLines.push(index) - 1 : -1))
  const intro: Section = { title: '', kind: 'intro', indent: 0, rows: [] }
  const walk: Walk = {
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
    const around = look.flagAt >= 0 ? surroundingsOf(looks, flagLines, places[index]!) : undefined
    if (walk.entry && continues(walk, walk.entry, look, around?.descriptionColumn)) continue
    const usage =
      usageAt(looks, index) ??
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
      const heading = headingOf(
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
      else takeRow(walk, look, index)
    } else if (walk.section.kind === 'examples' && look.indent > walk.section.indent) continue
    else if (look.text[look.flagAt] === '[' && isSynopsis(look.text))
      walk.synopses.push(look.text.trim())
    else if (!takeEntry(walk, looks, index, around!)) takeRow(walk, look, index)
  }
  return walk
}

/** Examples are over where a heading stands over described flags. */
function leadsToFlags(looks: readonly LineLook[], index: number): boolean {
  const next = looks.slice(index + 1, index + 4).find(({ indent }) => indent >= 0)
  return next !== undefined && next.described
}

function openSection(walk: Walk, { title, kind }: Heading, indent: number): void {
  // git groups its commands under titles of their own.
  const inherited = walk.section.kind === 'commands' ? 'commands' : 'other'
  walk.section = { title, kind: kind ?? inherited, indent, rows: [] }
  walk.sections.push(walk.section)
  walk.entry = undefined
  walk.pending = undefined
  walk.flagColumns = new Set()
}

/** Adds a line to the description of the open entry where it belongs to it. */
function continues(
  walk: Walk,
  entry: FlagEntry,
  look: LineLook,
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

function takeRow(walk: Walk, look: LineLook, index: number): void {
  walk.entry = undefined
  walk.section.rows.push(look)
  // A row of a table is no prose: `--      end of the options`.
  if (!/\S {3,}\S/.test(look.text)) walk.lastProse = index
}

function takeEntry(
  walk: Walk,
  looks: readonly LineLook[],
  index: number,
  around: ReturnType<typeof surroundingsOf>,
): boolean {
  const look = looks[index]!
  const head = readHead(look.text, look.flagAt, around)
  if (!head || !isPlausible(walk, looks, index, head, around.narrow)) return false
  let start = look.flagAt
  let current: Head | undefined = head
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
    current = readHead(look.text, next, around)
  }
  for (const { at } of head.specs.slice(0, 6)) walk.flagColumns.add(at)
  return true
}

function openEntry(walk: Walk, head: Head, look: LineLook, line: number, text: string): void {
  const whole = walk.pending ? { ...head, specs: [...walk.pending.specs, ...head.specs] } : head
  walk.pending = undefined
  // lvm ends every line of a list with a comma; names that go on in the next line have no second form yet.
  if (
    head.joint === 'comma' &&
    whole.specs.length < 3 &&
    new Set(whole.specs.map(({ names }) => names[0]!.startsWith('--'))).size === 1
  ) {
    walk.pending = whole
    walk.entry = undefined
    return
  }
  const entry: FlagEntry = {
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

/** Flags near a line that begin in the same column and are described, or that stand right beside it. */
function siblingsOf(looks: readonly LineLook[], index: number): number {
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
function isPlausible(
  walk: Walk,
  looks: readonly LineLook[],
  index: number,
  head: Head,
  narrowStyle: boolean,
): boolean {
  const look = looks[index]!
  const described = head.joint === 'gap' || head.joint === 'sign'
  const afterProse =
    walk.lastProse === index - 1 && looks[index - 1]!.indent === look.indent && !walk.pending
  if (afterProse && !described) return false
  if (head.joint === 'narrow') {
    const siblings = siblingsOf(looks, index)
    if (
      !head.specs[head.specs.length - 1]!.value &&
      isSentence(look.text.slice(head.end)) &&
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
