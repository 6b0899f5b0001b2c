import { fitCell, NOTHING, toCell } from './cell.ts'
import { cleanLine } from './clean.ts'
import { displayWidth } from './display-width.ts'
import type { TextLayout } from './layout.ts'
import { renderRecords } from './records.ts'
import { truncateEnd } from './truncate.ts'

type Row = { readonly [key: string]: unknown }
type Column = {
  readonly key: string
  readonly title: string
  readonly cells: readonly string[]
  /** It stands at the right. */ readonly right: boolean
  /** It is not made narrower. */ readonly whole: boolean
  readonly natural: number
}

const GAP = 2
/** Below this, or below the width of its title, a column says nothing, and a record per block reads better. */
const NARROWEST = 10
const WIDEST_TITLE = 20
const MOST_COLUMNS = 60
/** Off the terminal nothing is cut, but one huge cell must not pad every other row to its size. */
const WIDEST_PADDING = 200

/** What is special about the columns of a table. */
export type TableWishes = {
  /** Columns that are never cut: who is named by half of a name? */
  readonly whole?: readonly string[]
  /** Columns of figures that are no numbers: they stand at the right too. */
  readonly right?: readonly string[]
  /** Columns that are left out where nothing stands in them, and where there is no room: the first of these goes first. */
  readonly spare?: readonly string[]
  /** The style of a cell. */
  readonly style?: (key: string, row: Row) => Parameters<TextLayout['paint']>[0] | undefined
}

/** Lines of a borderless table, or of one block per record when the columns do not fit into the width. */
export function renderTable(
  rows: readonly Row[],
  layout: TextLayout,
  { whole = [], right = [], spare = [], style }: TableWishes = {},
): string[] {
  const keys = unionOfKeys(rows)
  if (keys.length > MOST_COLUMNS) return renderRecords(rows, layout)
  const all = keys
    .map((key) => toColumn(key, rows, { whole: whole.includes(key), right: right.includes(key) }))
    .filter(({ key, cells }) => !spare.includes(key) || cells.some((cell) => cell !== NOTHING))
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
  all: readonly Column[],
  spare: readonly string[],
  total: number | undefined,
): { readonly columns: readonly Column[]; readonly widths: readonly number[] } | undefined {
  for (let gone = 0; gone <= spare.length; gone++) {
    const columns = all.filter(({ key }) => !spare.slice(0, gone).includes(key))
    const widths = fitWidths(columns, total)
    if (widths) return { columns, widths }
  }
  return undefined
}

/** Every key of every row, in the order of first appearance. */
export function unionOfKeys(rows: readonly Row[]): string[] {
  const keys = new Set<string>()
  for (const row of rows) for (const key of Object.keys(row)) keys.add(key)
  return [...keys]
}

function toColumn(
  key: string,
  rows: readonly Row[],
  wished: { readonly whole: boolean; readonly right: boolean },
): Column {
  const title = cleanLine(key)
  let natural = displayWidth(title)
  let numeric = false
  let textual = false
  const cells = rows.map((row) => {
    const value = Object.hasOwn(row, key) ? row[key] : undefined
    if (typeof value === 'number') numeric = true
    else if (value !== undefined && value !== null) textual = true
    const cell = toCell(value)
    natural = Math.max(natural, displayWidth(cell))
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
function fitWidths(columns: readonly Column[], total: number | undefined): number[] | undefined {
  if (total === undefined) return columns.map(({ natural }) => Math.min(natural, WIDEST_PADDING))
  const widths = columns.map(({ natural }) => natural)
  let free = total - GAP * (columns.length - 1)
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
      NARROWEST,
      Math.min(displayWidth(columns[index]?.title ?? ''), WIDEST_TITLE),
    )
    if (width < natural && width < least) return undefined
    widths[index] = width
    free -= width
  }
  return free < 0 ? undefined : widths
}

function joinCells(
  columns: readonly Column[],
  widths: readonly number[],
  cells: readonly string[],
  paint: (key: string, cell: string) => string = (_key, cell) => cell,
): string {
  const padded = columns.map(({ key, right }, index) => {
    const cell = cells[index] ?? ''
    const room = ' '.repeat(Math.max(0, (widths[index] ?? 0) - displayWidth(cell)))
    if (right) return `${room}${paint(key, cell)}`
    return index === columns.length - 1 ? paint(key, cell) : `${paint(key, cell)}${room}`
  })
  return padded.join(' '.repeat(GAP))
}
