/**
 * Lays out text for a terminal: display widths, wrapped paragraphs and two-column lists.
 */

import { DASH, EMOJI_VARIATION_SELECTOR, ZERO_WIDTH_JOINER } from '../../util/text.ts'
import { lazyRegExp } from '../../util/values.ts'
import type { TextPainter } from './terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from './terminal-text.ts'

/**
 * How help is to look. `compact` is for agents: everything they need in few tokens, without layout.
 */
export type HelpOptions = {
  readonly columns: number
  readonly color: boolean
  readonly compact?: boolean
}

/** The page as the sections see it. */
export type HelpPage = { readonly width: number; readonly paint: TextPainter }

/** One line of a two-column list; `notes` follow the text, set apart. */
export type HelpListRow = {
  readonly term: string
  readonly text: string
  readonly notes?: readonly string[]
  readonly warning?: string
}

type StyledWord = { readonly text: string; readonly paint?: (text: string) => string }

// Longer lines are hard to read, shorter ones leave no room for two columns.
const MAX_PAGE_WIDTH = 100
const MIN_PAGE_WIDTH = 40
const INDENT = '  '

/** The page that the options describe. */
export function createPage({ columns, color }: HelpOptions): HelpPage {
  const width = Number.isFinite(columns) && columns > 0 ? columns : 80
  return {
    width: Math.min(MAX_PAGE_WIDTH, Math.max(MIN_PAGE_WIDTH, width)),
    paint: createTextPainter(color),
  }
}

/** Sections with an empty line between them; empty ones are left out. */
export function joinSections(sections: readonly (readonly string[])[]): string {
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

/** The first line of a page: `name version — summary`. */
export function formatHeadline(
  page: HelpPage,
  name: string,
  version: string | undefined,
  summary: string | undefined,
): string[] {
  const bold = (text: string) => page.paint('bold', text)
  return wrapWords(
    [
      ...splitWords(toOneLine(name), bold),
      ...(version ? splitWords(toOneLine(version)) : []),
      ...(summary ? splitWords(`${DASH} ${toOneLine(summary)}`) : []),
    ],
    page.width,
  )
}

/** A heading above indented lines; nothing when there are none. */
export function formatSection(page: HelpPage, title: string, lines: readonly string[]): string[] {
  return lines.length === 0
    ? []
    : [
        page.paint('bold', cleanText(title)),
        ...lines.map((line) => (line === '' ? '' : INDENT + line)),
      ]
}

/** A heading above a two-column list; nothing when it is empty. */
export function formatListSection(
  page: HelpPage,
  title: string,
  rows: readonly HelpListRow[],
): string[] {
  return formatSection(page, title, formatColumns(page, rows))
}

/** A text in lines of the page; its own line breaks stay. */
export function wrapParagraph(page: HelpPage, text: string, indent = 0): string[] {
  return cleanText(text)
    .trim()
    .split('\n')
    .flatMap((line) => {
      const lead = /^[ \t]*/.exec(line)![0].replaceAll('\t', INDENT)
      return wrapWords(splitWords(line), page.width - indent - lead.length).map(
        (filled) => lead + filled,
      )
    })
}

/** A two-column list. Terms that are too long get their own line. */
function formatColumns(page: HelpPage, rows: readonly HelpListRow[]): string[] {
  const cleaned = rows.map((row) => ({ ...row, term: cleanLine(row.term) }))
  const limit = Math.floor(page.width * 0.45)
  const fitting = cleaned.map((row) => getDisplayWidth(row.term)).filter((width) => width <= limit)
  const left = Math.max(0, ...fitting) + 2
  const gap = ' '.repeat(left)
  return cleaned.flatMap((row) => {
    const width = getDisplayWidth(row.term)
    const lines = wrapWords(getRowWords(page, row), page.width - INDENT.length - left)
    const term = page.paint('cyan', row.term)
    if (lines[0] === '') return [term]
    if (width + 2 > left) return [term, ...lines.map((line) => gap + line)]
    return lines.map((line, index) => (index === 0 ? term + ' '.repeat(left - width) : gap) + line)
  })
}

/** A text without line breaks. */
export function toOneLine(text: string): string {
  return cleanText(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim()
}

function getRowWords(page: HelpPage, row: HelpListRow): StyledWord[] {
  const { warning, notes = [] } = row
  return [
    ...splitWords(toOneLine(row.text)),
    ...(warning === undefined
      ? []
      : splitWords(toOneLine(warning), (text) => page.paint('yellow', text))),
    ...notes.flatMap((note) => splitWords(toOneLine(note), (text) => page.paint('dim', text))),
  ]
}

function splitWords(text: string, paint?: (text: string) => string): StyledWord[] {
  return text
    .split(/[ \t]+/)
    .filter((word) => word !== '')
    .map((word) => (paint ? { text: word, paint } : { text: word }))
}

function wrapWords(words: readonly StyledWord[], width: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const word of words) {
    const size = getDisplayWidth(word.text)
    if (used > 0 && used + 1 + size > width) {
      lines.push(line)
      line = ''
      used = 0
    }
    line += (used > 0 ? ' ' : '') + (word.paint?.(word.text) ?? word.text)
    used += (used > 0 ? 1 : 0) + size
  }
  return [...lines, line]
}

/** What a terminal shows as one character, and how many columns it takes. */
type DisplayCluster = { readonly text: string; readonly width: number }

/**
 * Columns that a text takes on a terminal. Control characters count as nothing: clean the text
 * first.
 */
export function getDisplayWidth(text: string): number {
  if (isPrintableAscii(text)) return text.length
  return splitClusters(text).reduce((sum, { width }) => sum + width, 0)
}

/**
 * The text in pieces that must not be cut: combining marks, emoji sequences and flags stay whole.
 */
export function splitClusters(text: string): DisplayCluster[] {
  const clusters: { text: string; width: number }[] = []
  let last: { text: string; width: number } | undefined
  for (const character of text) {
    const width = getCharacterWidth(character)
    if (last && attachesTo(last.text, character, width)) {
      last.text += character
      if (character === EMOJI_VARIATION_SELECTOR && EMOJI().test(last.text)) last.width = 2
      if (isRegionalIndicator(character)) last.width = 2
    } else {
      last = { text: character, width }
      clusters.push(last)
    }
  }
  return clusters
}

const EMOJI = lazyRegExp(String.raw`^\p{Emoji}`)
const PICTOGRAPH = lazyRegExp(String.raw`^\p{Extended_Pictographic}$`)
const MODIFIABLE = lazyRegExp(String.raw`^\p{Emoji_Modifier_Base}`)
const SKIN_TONE = /^[\u{1f3fb}-\u{1f3ff}]$/u
// The soft hyphen is a format character that terminals do show. Hangul vowels and finals draw into
// the syllable before them.
const NO_WIDTH = lazyRegExp(
  String.raw`^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff\ud7b0-\ud7ff]$`,
)
const EMOJI_WIDE = lazyRegExp(String.raw`^\p{Emoji_Presentation}$`)
// East Asian Wide and Fullwidth blocks of Unicode.
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
]

function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function getCharacterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return NO_WIDTH().test(character) ? 0 : 1
  if (isRegionalIndicator(character)) return 1
  if (NO_WIDTH().test(character)) return 0
  return EMOJI_WIDE().test(character) || WIDE.some(([from, to]) => code >= from && code <= to)
    ? 2
    : 1
}

function attachesTo(before: string, character: string, width: number): boolean {
  if (width === 0) return true
  if (SKIN_TONE.test(character)) return MODIFIABLE().test(before)
  if (isRegionalIndicator(character)) return isRegionalIndicator(before)
  return before.endsWith(ZERO_WIDTH_JOINER) && PICTOGRAPH().test(character)
}

function isRegionalIndicator(text: string): boolean {
  return /^[\u{1f1e6}-\u{1f1ff}]$/u.test(text)
}

/** The head of the text in at most `width` columns, with `…` where something is missing. */
export function truncateEnd(text: string, width: number): string {
  if (getDisplayWidth(text) <= width) return text
  return width < 1 ? '' : `${takeColumns(clipText(text, width), width - 1)}…`
}

/**
 * Head and tail of the text in at most `width` columns: of a path both the root and the file name
 * are worth seeing.
 */
export function truncateMiddle(text: string, width: number): string {
  if (getDisplayWidth(text) <= width) return text
  if (width < 5) return truncateEnd(text, width)
  const tail = Math.ceil((width - 1) * 0.6)
  const reversed = splitClusters(text.slice(-CHARS_PER_COLUMN * width)).reverse()
  return `${takeColumns(clipText(text, width), width - 1 - tail)}…${takeClusters(reversed, tail).reverse().join('')}`
}

/** The text filled up with spaces to `width` columns. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - getDisplayWidth(text)))
}

// A megabyte in one cell is not split into clusters to show twenty of them.
const CHARS_PER_COLUMN = 16
function clipText(text: string, width: number): string {
  return text.slice(0, CHARS_PER_COLUMN * width)
}

function takeColumns(text: string, width: number): string {
  return takeClusters(splitClusters(text), width).join('')
}

function takeClusters(
  clusters: readonly { readonly text: string; readonly width: number }[],
  width: number,
): string[] {
  const taken: string[] = []
  let used = 0
  for (const cluster of clusters) {
    if (used + cluster.width > width) break
    used += cluster.width
    taken.push(cluster.text)
  }
  return taken
}
