/**
 * Lines, usage blocks and rows: where flags and descriptions begin, judged by the lines around them.
 */

import { readFlagHead } from './flag-head.ts'
import type { LineContext } from './flag-head.ts'
import { readFlag } from './tokens.ts'

/** What can be seen of a line without knowing where it belongs. */
export type LineLayout = {
  readonly text: string
  /** Column of the first character; -1 for an empty line. */
  readonly indent: number
  /** Where a flag begins that the line begins with; -1 for other lines. */
  readonly flagAt: number
  /** Where its description begins behind a wide space; -1 for none. */
  readonly column: number
  /** Its description follows after one blank. */
  readonly narrow: boolean
  /** It has a description, behind a wide space or a sign. */
  readonly described: boolean
  /** Columns behind the description where another flag begins. */
  readonly further: readonly number[]
}

const NO_CONTEXT: LineContext = {
  descriptionColumn: undefined,
  narrow: false,
  describedBelow: false,
}
const FLAG_PREFIX = /(?:(?:\*|•|·|\[!\]|\[\*\]|!|\+|-|-,|-<[a-z]{1,20}>,) +)?(?:\[ ?)?(?=-)/y
// How many lines with flags before and after one have a say about its columns.
const CONTEXT_LINES = 12

export function readLineLayout(text: string): LineLayout {
  const indent = text.search(/\S/)
  const flagAt = indent < 0 ? -1 : findFlagColumn(text, indent)
  if (flagAt < 0)
    return { text, indent, flagAt, column: -1, narrow: false, described: false, further: [] }
  const head = readFlagHead(text, flagAt, NO_CONTEXT)
  if (!head)
    return { text, indent, flagAt: -1, column: -1, narrow: false, described: false, further: [] }
  const narrow = head.joint === 'narrow' && /^\S+ \S+ \S+/.test(text.slice(head.end, head.end + 80))
  return {
    text,
    indent,
    flagAt,
    column: head.joint === 'gap' ? head.end : -1,
    narrow,
    described:
      (head.joint === 'gap' || head.joint === 'sign') &&
      head.end < text.length &&
      !/^[[<|{-]/.test(text.slice(head.end)),
    further: listFurtherFlags(text, head.end),
  }
}

/**
 * What the flag lines near line `index` say together. `flagLines` are the indexes of all lines that
 * begin with a flag, `place` the place of this one among them.
 */
export function getLineContext(
  looks: readonly LineLayout[],
  flagLines: readonly number[],
  place: number,
): LineContext & { readonly further: ReadonlySet<number> } {
  const columns = new Map<number, number>()
  const further = new Map<number, number>()
  let narrow = 0
  let wide = 0
  for (
    let near = Math.max(0, place - CONTEXT_LINES);
    near < Math.min(flagLines.length, place + CONTEXT_LINES + 1);
    near++
  ) {
    const look = looks[flagLines[near]!]!
    if (look.column >= 0) addVote(columns, look.column)
    for (const column of look.further) addVote(further, column)
    if (look.narrow) narrow++
    else if (look.column >= 0) wide++
  }
  const index = flagLines[place]!
  const here = looks[index]!
  const lines =
    Math.min(flagLines.length, place + CONTEXT_LINES + 1) - Math.max(0, place - CONTEXT_LINES)
  const best = [...columns].sort((left, right) => right[1] - left[1] || left[0] - right[0])[0]
  const next = looks[index + 1]
  return {
    descriptionColumn:
      best && best[1] >= 2 && best[1] * 5 >= lines && best[0] > here.flagAt ? best[0] : undefined,
    narrow: narrow > wide,
    describedBelow: next !== undefined && next.indent > here.indent && next.flagAt < 0,
    further: new Set([...further].filter(([, votes]) => votes >= 2).map(([column]) => column)),
  }
}

function addVote(votes: Map<number, number>, key: number): void {
  votes.set(key, (votes.get(key) ?? 0) + 1)
}

function findFlagColumn(text: string, indent: number): number {
  FLAG_PREFIX.lastIndex = indent
  const prefix = FLAG_PREFIX.exec(text)
  if (!prefix) return -1
  const dash = indent + prefix[0].length
  if (!readFlag(text, dash)) return -1
  return prefix[0].includes('[') && !prefix[0].startsWith('[!]') && !prefix[0].startsWith('[*]')
    ? text.indexOf('[', indent)
    : dash
}

function listFurtherFlags(text: string, from: number): number[] {
  const columns: number[] = []
  for (
    let gap = text.indexOf('  ', from);
    gap >= 0 && columns.length < 8;
    gap = text.indexOf('  ', gap)
  ) {
    while (text[gap] === ' ') gap++
    if (text[gap] === '-' && readFlag(text, gap)) columns.push(gap)
  }
  return columns
}

/** The lines of a usage, and the line after them. */
type UsageBlock = { readonly lines: readonly string[]; readonly next: number }

const INLINE_USAGE = /^(?:usage|synopsis|use(?=: *\S+ [[<-]))\s*: ?\s*(?=\S)/i
const USAGE_HEADING = /^(?:#+ *)?(?:usage|synopsis)\s*:?$/i
const FURTHER_USAGE = /^(?:or\s*:\s*|or\s+(?=\S+ [[<-])|usage\s*:\s*)/i
const MAX_USAGE_BLOCK_LINES = 400

/** The usage that begins at line `at`, or undefined where none does. */
export function readUsageBlock(looks: readonly LineLayout[], at: number): UsageBlock | undefined {
  const { text, indent } = looks[at]!
  const trimmed = text.trim()
  const inline = INLINE_USAGE.exec(trimmed)
  if (inline) return readInlineUsage(looks, at, trimmed.slice(inline[0].length), indent)
  if (USAGE_HEADING.test(trimmed)) return readUsageBelow(looks, at, indent)
  return undefined
}

/**
 * A first line that says what can be written, without the word usage: `pandoc [OPTIONS] [FILES]`.
 */
export function looksLikeUsage(text: string): boolean {
  return (
    /^ {0,4}[\w./-]+(?: [\w-]+)? [[<](?:-|options?\]|OPTIONS?\]|flags\]|FLAGS\]|command[\]>])/.test(
      text.slice(0, 120),
    ) ||
    /^ {0,4}[\w./-]+ \[?(?:options|OPTIONS|OPTION)\]?(?:\.\.\.)? [[<A-Z]/.test(text.slice(0, 120))
  )
}

/** `usage: prog ...`, its continuation lines, and the lines that begin with `or:`. */
function readInlineUsage(
  looks: readonly LineLayout[],
  at: number,
  first: string,
  indent: number,
): UsageBlock {
  const lines = [first]
  let next = at + 1
  for (; next < looks.length && next - at < MAX_USAGE_BLOCK_LINES; next++) {
    const look = looks[next]!
    if (look.indent < 0) {
      if (!/^or\s*:/i.test(looks[next + 1]?.text.trim() ?? '')) break
      continue
    }
    const other = FURTHER_USAGE.exec(look.text.trim())
    if (other) lines.push(look.text.trim().slice(other[0].length))
    else if (
      look.indent > indent &&
      !isFlagWithDescription(look) &&
      !/^[\w ]+:$/.test(look.text.trim()) &&
      (continuesUsage(look, first) || look.indent >= indent + 7)
    )
      lines.push(startsWithProgram(look.text, first) ? look.text.trim() : ` ${look.text.trim()}`)
    else break
  }
  return { lines: joinWrappedLines(lines), next }
}

/** `Usage:` on a line of its own: what is indented under it, or the paragraph that follows. */
function readUsageBelow(
  looks: readonly LineLayout[],
  at: number,
  indent: number,
): UsageBlock | undefined {
  let next = at + 1
  while (next < looks.length && looks[next]!.indent < 0 && next - at < 3) next++
  const first = looks[next]
  if (first === undefined || first.indent < indent || isFlagWithDescription(first)) return undefined
  const lines: string[] = []
  let paragraph = false
  for (; next < looks.length && next - at < MAX_USAGE_BLOCK_LINES; next++) {
    const look = looks[next]!
    if (look.indent < 0) {
      if (first.indent === indent) break
      paragraph = true
      continue
    }
    if (look.indent < first.indent || isFlagWithDescription(look)) break
    if (
      paragraph &&
      (look.indent !== first.indent || !startsWithProgram(look.text, first.text.trim()))
    )
      break
    const text = look.text.trim().replace(/^\$ /, '').replace(FURTHER_USAGE, '')
    if (/^[\p{L} ]+:$/u.test(text)) break
    const anew =
      look.indent === first.indent &&
      (/^\$ /.test(look.text.trim()) ||
        startsWithProgram(text, first.text.trim().replace(/^\$ /, '')) ||
        lines.length === 0)
    lines.push(anew ? text : ` ${text}`)
  }
  return { lines: joinWrappedLines(lines), next }
}

/**
 * What a usage goes on with: brackets, flags, placeholders in capitals, the program again; not a
 * sentence.
 */
function continuesUsage(look: LineLayout, first: string): boolean {
  return (
    look.flagAt >= 0 ||
    /^\s*(?:[[(<{|.]|[A-Z][A-Z0-9_]+(?:[\s.[\]|=]|$))/.test(look.text) ||
    startsWithProgram(look.text, first)
  )
}

/** Begins with the same program again. */
function startsWithProgram(text: string, first: string): boolean {
  const program = first.split(' ', 1)[0]!
  return text.trim().split(' ', 1)[0] === program && !program.startsWith('[')
}

/** A flag with its description: the usage is over. */
function isFlagWithDescription(look: LineLayout): boolean {
  if (
    look.flagAt >= 0 &&
    look.narrow &&
    / [a-z]{2,} [a-z]{2,} /.test(look.text.slice(look.flagAt, look.flagAt + 120))
  )
    return true
  return look.described && /[a-z]{2}/.test(look.text)
}

/** npm says behind each usage what it is for. */
function dropComment(line: string): string {
  const gap = line.search(/ {2,}[a-z][a-z']* [a-z]/)
  return gap < 0 ? line : line.slice(0, gap)
}

function joinWrappedLines(lines: readonly string[]): string[] {
  const joined: string[][] = []
  for (const line of lines) {
    if (line.startsWith(' ') && joined.length > 0) joined[joined.length - 1]!.push(line.trim())
    else joined.push([line.trim()])
  }
  return joined.map((parts) => dropComment(parts.join(' '))).filter((line) => line !== '')
}

/** A row of a table that does not begin with a flag: a name, and what is said about it. */
export type HelpRow = {
  readonly head: string
  description: string
  readonly indent: number
  readonly below: boolean
}

/**
 * The rows of a section. What is indented more than a row belongs to it; what is indented less is a
 * title or prose.
 */
export function readHelpRows(looks: readonly LineLayout[]): HelpRow[] {
  const rows: (HelpRow & { column: number })[] = []
  const edge = findRowIndent(looks)
  let blank = false
  for (const { text, indent } of looks) {
    if (indent < 0) {
      blank = true
      continue
    }
    if (indent < edge) {
      blank = true
      continue
    }
    const above = rows[rows.length - 1]
    if (above && indent > above.indent && (above.column < 0 || indent >= above.column || !blank)) {
      above.description += `${above.description === '' ? '' : '\n'}${text.trim()}`
      if (above.column < 0) above.column = indent
    } else rows.push(readHelpRow(text, indent))
    blank = false
  }
  return rows
}

/** The indent that most rows with a description have; without any, the smallest. */
function findRowIndent(looks: readonly LineLayout[]): number {
  const votes = new Map<number, number>()
  let smallest = Number.MAX_SAFE_INTEGER
  for (const { text, indent } of looks) {
    if (indent < 0) continue
    smallest = Math.min(smallest, indent)
    if (DESCRIBED_ROW.test(text.slice(indent, indent + 200)))
      votes.set(indent, (votes.get(indent) ?? 0) + 1)
  }
  return (
    [...votes].sort((left, right) => right[1] - left[1] || left[0] - right[0])[0]?.[0] ?? smallest
  )
}

const DESCRIBED_ROW = /^(?:\* +)?\S+(?: \S+){0,5} {2,}\S/
const ROW_SEPARATOR = / +[-–—:=#] +|: +| {2,}/

function readHelpRow(text: string, indent: number): HelpRow & { column: number } {
  const trimmed = text.trim()
  const star = /^\* +/.exec(trimmed)?.[0].length ?? 0
  const joint = ROW_SEPARATOR.exec(trimmed.slice(star))
  if (!joint) return { head: trimmed.slice(star), description: '', indent, below: true, column: -1 }
  const column = indent + star + joint.index + joint[0].length
  return {
    head: trimmed.slice(star, star + joint.index),
    description: trimmed.slice(star + joint.index + joint[0].length),
    indent,
    below: false,
    column,
  }
}
