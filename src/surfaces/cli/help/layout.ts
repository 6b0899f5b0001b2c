import { DASH } from '../../../contract/wide-characters.ts'
import { createPaint } from '../output/color.ts'
import type { Paint } from '../output/color.ts'
import { cleanLine, cleanText } from '../output/text/clean.ts'
import { displayWidth } from '../output/text/display-width.ts'

/** How help is to look. `compact` is for agents: everything they need in few tokens, without layout. */
export type HelpOptions = {
  readonly columns: number
  readonly color: boolean
  readonly compact?: boolean
}

/** The page as the sections see it. */
export type Page = { readonly width: number; readonly paint: Paint }

/** One line of a two-column list; `notes` follow the text, set apart. */
export type Row = {
  readonly term: string
  readonly text: string
  readonly notes?: readonly string[]
  readonly warning?: string
}

type Word = { readonly text: string; readonly paint?: (text: string) => string }

// Longer lines are hard to read, shorter ones leave no room for two columns.
const WIDEST = 100
const NARROWEST = 40
const INDENT = '  '

/** The page that the options describe. */
export function createPage({ columns, color }: HelpOptions): Page {
  const width = Number.isFinite(columns) && columns > 0 ? columns : 80
  return { width: Math.min(WIDEST, Math.max(NARROWEST, width)), paint: createPaint(color) }
}

/** Sections with an empty line between them; empty ones are left out. */
export function joinSections(sections: readonly (readonly string[])[]): string {
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

/** The first line of a page: `name version — summary`. */
export function headline(
  page: Page,
  name: string,
  version: string | undefined,
  summary: string | undefined,
): string[] {
  const bold = (text: string) => page.paint('bold', text)
  return fill(
    [
      ...splitWords(oneLine(name), bold),
      ...(version ? splitWords(oneLine(version)) : []),
      ...(summary ? splitWords(`${DASH} ${oneLine(summary)}`) : []),
    ],
    page.width,
  )
}

/** A heading above indented lines; nothing when there are none. */
export function titled(page: Page, title: string, lines: readonly string[]): string[] {
  return lines.length === 0
    ? []
    : [
        page.paint('bold', cleanText(title)),
        ...lines.map((line) => (line === '' ? '' : INDENT + line)),
      ]
}

/** A text in lines of the page; its own line breaks stay. */
export function paragraph(page: Page, text: string, indent = 0): string[] {
  return cleanText(text)
    .trim()
    .split('\n')
    .flatMap((line) => {
      const lead = /^[ \t]*/.exec(line)![0].replaceAll('\t', INDENT)
      return fill(splitWords(line), page.width - indent - lead.length).map(
        (filled) => lead + filled,
      )
    })
}

/** A two-column list. Terms that are too long stand on a line of their own. */
export function columns(page: Page, rows: readonly Row[]): string[] {
  const cleaned = rows.map((row) => ({ ...row, term: cleanLine(row.term) }))
  const limit = Math.floor(page.width * 0.45)
  const fitting = cleaned.map((row) => displayWidth(row.term)).filter((width) => width <= limit)
  const left = Math.max(0, ...fitting) + 2
  const gap = ' '.repeat(left)
  return cleaned.flatMap((row) => {
    const width = displayWidth(row.term)
    const lines = fill(rowWords(page, row), page.width - INDENT.length - left)
    const term = page.paint('cyan', row.term)
    if (lines[0] === '') return [term]
    if (width + 2 > left) return [term, ...lines.map((line) => gap + line)]
    return lines.map((line, index) => (index === 0 ? term + ' '.repeat(left - width) : gap) + line)
  })
}

/** A text without line breaks. */
export function oneLine(text: string): string {
  return cleanText(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim()
}

function rowWords(page: Page, row: Row): Word[] {
  const { warning, notes = [] } = row
  return [
    ...splitWords(oneLine(row.text)),
    ...(warning === undefined
      ? []
      : splitWords(oneLine(warning), (text) => page.paint('yellow', text))),
    ...notes.flatMap((note) => splitWords(oneLine(note), (text) => page.paint('dim', text))),
  ]
}

function splitWords(text: string, paint?: (text: string) => string): Word[] {
  return text
    .split(/[ \t]+/)
    .filter((word) => word !== '')
    .map((word) => (paint ? { text: word, paint } : { text: word }))
}

function fill(words: readonly Word[], width: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const word of words) {
    const size = displayWidth(word.text)
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
