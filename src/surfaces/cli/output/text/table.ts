import { fitCell, toCell } from './cell.ts'
import { cleanLine } from './clean.ts'
import { displayWidth } from './display-width.ts'
import type { TextLayout } from './layout.ts'
import { renderRecords } from './records.ts'
import { padEnd, padStart, truncateEnd } from './truncate.ts'

type Row = { readonly [key: string]: unknown }
type Column = { readonly key: string; readonly title: string; readonly cells: readonly string[]; readonly numeric: boolean; readonly natural: number }

const GAP = 2
/** Below this, or below the width of its title, a column says nothing, and a record per block reads better. */
const NARROWEST = 10
const WIDEST_TITLE = 20
const MOST_COLUMNS = 60
/** Off the terminal nothing is cut, but one huge cell must not pad every other row to its size. */
const WIDEST_PADDING = 200

/** Lines of a borderless table, or of one block per record when the columns do not fit into the width. */
export function renderTable(rows: readonly Row[], layout: TextLayout): string[] {
  const keys = unionOfKeys(rows)
  if (keys.length > MOST_COLUMNS) return renderRecords(rows, layout)
  const columns = keys.map((key) => toColumn(key, rows))
  const widths = fitWidths(columns, layout.columns)
  if (!widths) return renderRecords(rows, layout)
  const cut = layout.columns !== undefined
  const header = columns.map(({ title }, index) => (cut ? truncateEnd(title, widths[index] ?? 0) : title))
  const lines = [layout.paint('bold', joinCells(columns, widths, header))]
  for (let row = 0; row < rows.length; row++) {
    const cells = columns.map(({ key, cells }, index) => (cut ? fitCell(key, cells[row] ?? '', widths[index] ?? 0) : (cells[row] ?? '')))
    lines.push(joinCells(columns, widths, cells))
  }
  return lines
}

/** Every key of every row, in the order of first appearance. */
export function unionOfKeys(rows: readonly Row[]): string[] {
  const keys = new Set<string>()
  for (const row of rows) for (const key of Object.keys(row)) keys.add(key)
  return [...keys]
}

function toColumn(key: string, rows: readonly Row[]): Column {
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
  return { key, title, cells, numeric: numeric && !textual, natural }
}

// Narrow columns and numbers keep their width; what is left is shared evenly by the wide ones.
function fitWidths(columns: readonly Column[], total: number | undefined): number[] | undefined {
  if (total === undefined) return columns.map(({ natural }) => Math.min(natural, WIDEST_PADDING))
  const widths = columns.map(({ natural }) => natural)
  let free = total - GAP * (columns.length - 1)
  if (widths.reduce((sum, width) => sum + width, 0) <= free) return widths
  const shrinkable = columns.flatMap(({ numeric }, index) => (numeric ? [] : [index])).sort((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0))
  for (const { numeric, natural } of columns) if (numeric) free -= natural
  for (const [position, index] of shrinkable.entries()) {
    const natural = widths[index] ?? 0
    const share = Math.floor(free / (shrinkable.length - position))
    const width = Math.min(natural, share)
    const least = Math.max(NARROWEST, Math.min(displayWidth(columns[index]?.title ?? ''), WIDEST_TITLE))
    if (width < natural && width < least) return undefined
    widths[index] = width
    free -= width
  }
  return free < 0 ? undefined : widths
}

function joinCells(columns: readonly Column[], widths: readonly number[], cells: readonly string[]): string {
  const padded = columns.map(({ numeric }, index) => {
    const cell = cells[index] ?? ''
    if (numeric) return padStart(cell, widths[index] ?? 0)
    return index === columns.length - 1 ? cell : padEnd(cell, widths[index] ?? 0)
  })
  return padded.join(' '.repeat(GAP)).trimEnd()
}
