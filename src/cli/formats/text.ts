/**
 * Text for a person: tables for lists of objects, records where a table does not fit, trees for
 * objects. Commands draw their own tables with `renderTable`.
 */

import type { Json } from '../../util/values.ts'
import { isObject } from '../../util/values.ts'
import type { OutcomeFormatter } from './envelope.ts'
import { toJsonText, toPlainJson } from './json-text.ts'
import { describeRemarks, endWithNewline, renderContent, renderMessage } from './remarks.ts'
import type { TextPainter } from './terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from './terminal-text.ts'
import { getDisplayWidth, padEnd, truncateEnd, truncateMiddle } from './text-layout.ts'

/** The message, the value, then other content; remarks on stderr. */
export const format: OutcomeFormatter = (outcome, options) => {
  const { columns, color = false, renderResult = renderText } = options
  const remarks = describeRemarks(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr: remarks }
  const shown = outcome.hidden ? '' : renderResult(outcome.result, { columns, color })
  const stdout = renderMessage(outcome) + shown + renderContent(outcome.content)
  if (stdout !== '' || outcome.hidden || !isEmptyCollection(outcome.result))
    return { stdout, stderr: remarks }
  // On stderr, so that `| wc -l` counts no line for an empty result.
  const paint = createTextPainter(options.stderrColor ?? color)
  return { stdout, stderr: `${paint('dim', '(none)')}\n${remarks}` }
}

const INDENT_WIDTH = 2
const MAX_TREE_DEPTH = 12

/**
 * A result for a person: tables for lists of objects, trees for objects, text as it is. Nothing to
 * show gives ''. `columns` undefined means no terminal: nothing is cut.
 */
export function renderText(
  value: unknown,
  { columns, color }: { readonly columns?: number | undefined; readonly color: boolean },
): string {
  const lines = renderLines(toPlainJson(value), { columns, paint: createTextPainter(color) }, 0)
  return endWithNewline(lines.join('\n'))
}

function renderLines(value: Json, layout: TextLayout, depth: number): string[] {
  if (value === null || value === '') return []
  if (typeof value === 'string') return [cleanText(value)]
  if (typeof value !== 'object') return [String(value)]
  if (depth > MAX_TREE_DEPTH) return [cleanLine(toJsonText(value))]
  return isList(value) ? renderList(value, layout, depth) : renderTree(value, layout, depth)
}

function renderList(list: readonly Json[], layout: TextLayout, depth: number): string[] {
  if (list.length > 0 && list.every((item) => isObject(item) && Object.keys(item).length > 0)) {
    return renderTable(list as readonly { readonly [key: string]: Json }[], layout)
  }
  const bullet = depth === 0 ? '' : '- '
  return list.map((item) => `${bullet}${toCell(item)}`)
}

function renderTree(
  tree: { readonly [key: string]: Json },
  layout: TextLayout,
  depth: number,
): string[] {
  const keys = Object.keys(tree)
  const titles = keys.map(cleanLine)
  const keyWidth = titles.reduce(
    (widest, title, index) =>
      isBlock(tree[keys[index] ?? '']) ? widest : Math.max(widest, getDisplayWidth(title)),
    0,
  )
  return keys.flatMap((key, index) => {
    const value = tree[key] ?? null
    const title = titles[index] ?? ''
    if (!isBlock(value))
      return [
        `${layout.paint('dim', padEnd(title, keyWidth))}  ${isEmptyCollection(value) ? layout.paint('dim', '(none)') : toCell(value)}`,
      ]
    const inner = renderLines(value, narrowLayout(layout, INDENT_WIDTH), depth + 1)
      .join('\n')
      .replace(/\n+$/, '')
      .split('\n')
    return [
      layout.paint('dim', title),
      ...inner.map((line) => (line === '' ? '' : ' '.repeat(INDENT_WIDTH) + line)),
    ]
  })
}

// What gets its own indented lines below the key.
function isBlock(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.includes('\n')
  return typeof value === 'object' && value !== null && !isEmptyCollection(value)
}

function isEmptyCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

type TableRow = { readonly [key: string]: unknown }
type TableColumn = {
  readonly key: string
  readonly title: string
  readonly cells: readonly string[]
  /** Aligned at the right. */
  readonly right: boolean
  /** Never made narrower. */
  readonly whole: boolean
  readonly natural: number
}

const COLUMN_GAP = 2
/**
 * Below this, or below the width of its title, a column says nothing, and a record per block reads
 * better.
 */
const MIN_COLUMN_WIDTH = 10
const MAX_TITLE_WIDTH = 20
const MAX_COLUMNS = 60
/** Off the terminal nothing is cut, but one huge cell must not pad every other row to its size. */
const MAX_PADDING = 200

/** What is special about the columns of a table. */
export type TableOptions = {
  /** Columns that are never cut: who is named by half of a name? */
  readonly whole?: readonly string[]
  /** Columns of figures that are no numbers: they are aligned at the right too. */
  readonly right?: readonly string[]
  /**
   * Columns that are left out when they are empty, and when there is no room: the first of these
   * first.
   */
  readonly spare?: readonly string[]
  /** The style of a cell. */
  readonly style?: (key: string, row: TableRow) => Parameters<TextLayout['paint']>[0] | undefined
}

/**
 * Lines of a borderless table, or of one block per record when the columns do not fit into the
 * width.
 */
export function renderTable(
  rows: readonly TableRow[],
  layout: TextLayout,
  { whole = [], right = [], spare = [], style }: TableOptions = {},
): string[] {
  const keys = collectKeys(rows)
  if (keys.length > MAX_COLUMNS) return renderRecords(rows, layout)
  const all = keys
    .map((key) => toColumn(key, rows, { whole: whole.includes(key), right: right.includes(key) }))
    .filter(({ key, cells }) => !spare.includes(key) || cells.some((cell) => cell !== EMPTY_CELL))
  const found = fitColumns(all, spare, layout.columns)
  if (!found) return renderRecords(rows, layout)
  const { columns, widths } = found
  const cut = layout.columns !== undefined
  const header = columns.map(({ title }, index) =>
    cut ? truncateEnd(title, widths[index] ?? 0) : title,
  )
  const lines = [layout.paint('dim', joinCells(columns, widths, header).trimEnd())]
  for (const [place, row] of rows.entries()) {
    const cells = columns.map(({ key, cells }, index) =>
      cut ? fitCell(key, cells[place] ?? '', widths[index] ?? 0) : (cells[place] ?? ''),
    )
    lines.push(
      joinCells(columns, widths, cells, (key, cell) => {
        const wished = style?.(key, row)
        return wished ? layout.paint(wished, cell) : cell
      }).trimEnd(),
    )
  }
  return lines
}

// A table that lacks a column says more than a list of records.
function fitColumns(
  all: readonly TableColumn[],
  spare: readonly string[],
  total: number | undefined,
): { readonly columns: readonly TableColumn[]; readonly widths: readonly number[] } | undefined {
  for (let gone = 0; gone <= spare.length; gone++) {
    const columns = all.filter(({ key }) => !spare.slice(0, gone).includes(key))
    const widths = fitWidths(columns, total)
    if (widths) return { columns, widths }
  }
  return undefined
}

/** Every key of every row, in the order of first appearance. */
export function collectKeys(rows: readonly TableRow[]): string[] {
  const keys = new Set<string>()
  for (const row of rows) for (const key of Object.keys(row)) keys.add(key)
  return [...keys]
}

function toColumn(
  key: string,
  rows: readonly TableRow[],
  wished: { readonly whole: boolean; readonly right: boolean },
): TableColumn {
  const title = cleanLine(key)
  let natural = getDisplayWidth(title)
  let numeric = false
  let textual = false
  const cells = rows.map((row) => {
    const value = Object.hasOwn(row, key) ? row[key] : undefined
    if (typeof value === 'number') numeric = true
    else if (value !== undefined && value !== null) textual = true
    const cell = toCell(value)
    natural = Math.max(natural, getDisplayWidth(cell))
    return cell
  })
  const isNumeric = numeric && !textual
  return {
    key,
    title,
    cells,
    right: wished.right || isNumeric,
    whole: wished.whole || isNumeric,
    natural,
  }
}

// Narrow columns and numbers keep their width; what is left is shared evenly by the wide ones.
function fitWidths(
  columns: readonly TableColumn[],
  total: number | undefined,
): number[] | undefined {
  if (total === undefined) return columns.map(({ natural }) => Math.min(natural, MAX_PADDING))
  const widths = columns.map(({ natural }) => natural)
  let free = total - COLUMN_GAP * (columns.length - 1)
  if (widths.reduce((sum, width) => sum + width, 0) <= free) return widths
  const shrinkable = columns
    .flatMap(({ whole }, index) => (whole ? [] : [index]))
    .sort((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0))
  for (const { whole, natural } of columns) if (whole) free -= natural
  for (const [position, index] of shrinkable.entries()) {
    const natural = widths[index] ?? 0
    const share = Math.floor(free / (shrinkable.length - position))
    const width = Math.min(natural, share)
    const least = Math.max(
      MIN_COLUMN_WIDTH,
      Math.min(getDisplayWidth(columns[index]?.title ?? ''), MAX_TITLE_WIDTH),
    )
    if (width < natural && width < least) return undefined
    widths[index] = width
    free -= width
  }
  return free < 0 ? undefined : widths
}

function joinCells(
  columns: readonly TableColumn[],
  widths: readonly number[],
  cells: readonly string[],
  paint: (key: string, cell: string) => string = (_key, cell) => cell,
): string {
  const padded = columns.map(({ key, right }, index) => {
    const cell = cells[index] ?? ''
    const room = ' '.repeat(Math.max(0, (widths[index] ?? 0) - getDisplayWidth(cell)))
    if (right) return `${room}${paint(key, cell)}`
    return index === columns.length - 1 ? paint(key, cell) : `${paint(key, cell)}${room}`
  })
  return padded.join(' '.repeat(COLUMN_GAP))
}

const KEY_GAP = 2
/** With less room than this beside the keys, values are printed below them. */
const MIN_VALUE_WIDTH = 12

/**
 * Lines of one block per record, a blank line between them: the layout for records with too many
 * fields for a table.
 */
function renderRecords(
  records: readonly { readonly [key: string]: unknown }[],
  layout: TextLayout,
): string[] {
  const keyWidth = records.reduce(
    (widest, record) =>
      Object.keys(record).reduce(
        (width, key) => Math.max(width, getDisplayWidth(cleanLine(key))),
        widest,
      ),
    0,
  )
  return records.flatMap((record, index) => [
    ...(index === 0 ? [] : ['']),
    ...renderRecord(record, keyWidth, layout),
  ])
}

function renderRecord(
  record: { readonly [key: string]: unknown },
  keyWidth: number,
  { columns = Infinity, paint }: TextLayout,
): string[] {
  const entries = Object.keys(record).map((key) => ({
    key,
    title: cleanLine(key),
    cell: toCell(record[key]),
  }))
  const room = columns - keyWidth - KEY_GAP
  return entries.flatMap(({ key, title, cell }) =>
    room >= MIN_VALUE_WIDTH
      ? [
          `${paint('dim', padEnd(title, keyWidth))}${' '.repeat(KEY_GAP)}${fitCell(key, cell, room)}`,
        ]
      : [
          paint('dim', truncateEnd(title, columns)),
          `${' '.repeat(KEY_GAP)}${fitCell(key, cell, columns - KEY_GAP)}`,
        ],
  )
}

/** What a cell says where there is nothing. */
const EMPTY_CELL = '-'

/** One value on one line: text clean, nothing as `-`, nested values as compact JSON. */
function toCell(value: unknown): string {
  if (value === undefined || value === null || value === '') return EMPTY_CELL
  return cleanLine(typeof value === 'object' ? toJsonText(value) : String(value))
}

/** A cell in at most `width` columns; paths lose their middle, other text its end. */
function fitCell(key: string, cell: string, width: number): string {
  return isPathCell(key, cell) ? truncateMiddle(cell, width) : truncateEnd(cell, width)
}

const PATH_KEY = /^(?:.*[_-])?(?:path|file|filename|dir|directory|folder|uri|url|root|cwd)$/i
const PATH_VALUE = /^(?:\.{0,2}\/|~\/|[a-z]:[\\/]|[a-z][a-z0-9+.-]{0,30}:\/\/)\S*$/i

function isPathCell(key: string, cell: string): boolean {
  return PATH_KEY.test(key) || PATH_VALUE.test(cell)
}

/** How a person looks at the text. `columns` undefined: not a terminal, nothing is cut. */
type TextLayout = { readonly columns: number | undefined; readonly paint: TextPainter }

/** The same layout inside an indentation. */
function narrowLayout(layout: TextLayout, by: number): TextLayout {
  return layout.columns === undefined
    ? layout
    : { ...layout, columns: Math.max(1, layout.columns - by) }
}
