/**
 * Rows of a tree: fitting one into the width of a window, and all of them into its height.
 */

import { getDisplayWidth, truncateEnd, truncateMiddle } from '../../cli/formats/text-layout.ts'
import type { Theme, ThemeRole } from './theme.ts'

/** A piece of text in one role; tool text comes as it is, and is cleaned here. */
export type TextPiece = {
  readonly text: string
  readonly role?: ThemeRole
  /** Of a path both ends are worth seeing. */ readonly path?: true
}

/** What the rows of a tree are about: rows of less worth go first where the window is too low. */
export type RowPriority = 'head' | 'problem' | 'live' | 'fact' | 'done' | 'log' | 'later'

/** One line of a tree before it is fitted into a window. */
export type TreeRow = {
  readonly depth: number
  readonly icon?: TextPiece
  readonly name?: TextPiece
  /** What is said beside the name, most important first. */
  readonly notes: readonly TextPiece[]
  /** Only a percentage that the tool reported. */
  readonly percent?: number
  /** At the right edge, with what is said about it. */
  readonly time?: string
  readonly remark?: TextPiece & { /** Where there is little room. */ readonly short: string }
  readonly worth: RowPriority
}

const INDENT = 2
/** How long a progress bar is in a window of this width; a narrower one has no room for it. */
const BAR_LENGTHS = [
  { columns: 90, length: 20 },
  { columns: 60, length: 10 },
]
const MIN_TIME_COLUMNS = 24
const MIN_NOTE_CHARS = 4
const MIN_TEXT_COLUMNS = 30

/** A row in less than `columns` columns. */
export function renderRow(row: TreeRow, columns: number, look: Theme): string {
  const width = Math.max(1, columns - 1)
  const { remark, ...right } =
    width >= MIN_TIME_COLUMNS
      ? renderRightSide(row, width, look)
      : { plain: '', painted: '', remark: undefined }
  const room = width - (right.plain === '' ? 0 : getDisplayWidth(right.plain) + 1)
  const indent = Math.min(row.depth * INDENT, Math.max(0, Math.floor(room / 3)))
  let used = indent
  let text = ' '.repeat(indent)
  const put = (piece: TextPiece, gap: string, least: number): void => {
    const clean = look.clean(piece.text)
    const left = room - used - gap.length
    if (clean === '' || left < Math.min(least, getDisplayWidth(clean))) return
    const fitted = fitText(clean, left, piece.path === true, look)
    text += `${gap}${piece.role ? look.paint(piece.role, fitted) : fitted}`
    used += gap.length + getDisplayWidth(fitted)
  }
  if (row.icon) put(row.icon, '', 1)
  if (row.name) put(row.name, row.icon ? ' ' : '', 1)
  const notes = remark ? [{ ...remark, text: remark.short }, ...row.notes] : row.notes
  notes.forEach((note, index) =>
    put(note, index === 0 && !row.icon && !row.name ? '' : ' ', MIN_NOTE_CHARS),
  )
  return right.plain === ''
    ? text
    : `${text}${' '.repeat(Math.max(1, width - used - getDisplayWidth(right.plain)))}${right.painted}`
}

type RowSide = { readonly plain: string; readonly painted: string }

// A remark for which there is no room at the right stands among the notes.
function renderRightSide(
  row: TreeRow,
  width: number,
  look: Theme,
): RowSide & Pick<TreeRow, 'remark'> {
  const { remark } = row
  const figures = renderFigures(row, width, look)
  if (!remark) return figures
  const text = look.clean(remark.text)
  if (width - getDisplayWidth(text) - getDisplayWidth(figures.plain) < MIN_TEXT_COLUMNS)
    return { ...figures, remark }
  return {
    plain: `${text} ${figures.plain}`,
    painted: `${look.paint(remark.role ?? 'dim', text)} ${figures.painted}`,
  }
}

function renderFigures({ percent, time = '' }: TreeRow, width: number, look: Theme): RowSide {
  const pad = time === '' ? '' : ` ${time.padStart(6)}`
  if (percent === undefined) return { plain: time, painted: look.paint('dim', time) }
  const { full, empty } = look.glyphs
  const length = BAR_LENGTHS.find(({ columns }) => width >= columns)?.length ?? 0
  const filled = Math.floor((percent / 100) * length)
  const figure = `${Math.floor(percent)}%`.padStart(4)
  const bar =
    length > 0 &&
    `${look.paint('run', full.repeat(filled))}${look.paint('dim', empty.repeat(length - filled))}`
  return {
    plain: `${full.repeat(length)}${figure}${pad}`,
    painted: `${bar || ''}${figure}${look.paint('dim', pad)}`,
  }
}

function fitText(text: string, width: number, path: boolean, { glyphs }: Theme): string {
  const cut = path ? truncateMiddle(text, width) : truncateEnd(text, width)
  return cut === text || glyphs.cut === '…' ? cut : cut.replace('…', glyphs.cut)
}

const PRIORITY_ORDER: readonly RowPriority[] = [
  'head',
  'problem',
  'live',
  'fact',
  'log',
  'done',
  'later',
]
/** Of these the last ones are worth more: they are the newest. */
const NEWEST_FIRST: readonly RowPriority[] = ['log', 'done']

/** At most `height` rows: what matters least becomes `… 14 more`, where most of it was. */
export function foldRows(
  rows: readonly TreeRow[],
  height: number,
  cut: string,
): readonly TreeRow[] {
  if (rows.length <= height) return rows
  if (height < 1) return []
  const order = rows
    .map((_row, index) => index)
    .sort((left, right) => weighRow(rows[left]!, left) - weighRow(rows[right]!, right))
  const kept = order.slice(0, height - 1).sort((left, right) => left - right)
  const place = findWidestGap(kept, rows.length)
  const gone = rows.filter((_row, index) => !kept.includes(index))
  return [
    ...kept.slice(0, place).map((index) => rows[index]!),
    createMoreRow(gone, cut),
    ...kept.slice(place).map((index) => rows[index]!),
  ]
}

// How many of the kept rows stand before it.
function findWidestGap(kept: readonly number[], total: number): number {
  let [place, widest] = [0, 0]
  for (let index = 0; index <= kept.length; index++) {
    const gap = (kept[index] ?? total) - (kept[index - 1] ?? -1)
    if (gap > widest) [place, widest] = [index, gap]
  }
  return place
}

function createMoreRow(gone: readonly TreeRow[], cut: string): TreeRow {
  const count = (worth: RowPriority, word: string): string | undefined => {
    const number = gone.filter((row) => row.worth === worth).length
    return number === 0 ? undefined : `${number} ${word}`
  }
  const kinds = [
    count('problem', 'with a problem'),
    count('live', 'running'),
    count('done', 'done'),
    count('later', 'not begun'),
  ].filter((part) => part !== undefined)
  const depth = Math.min(...gone.map((row) => row.depth))
  return {
    depth,
    icon: { text: cut, role: 'dim' },
    notes: [
      {
        text: `${gone.length} more${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`,
        role: 'dim',
      },
    ],
    worth: 'done',
  }
}

// Rank first, then place: the figures of a rank never reach those of the next.
function weighRow({ worth }: TreeRow, index: number): number {
  return (
    PRIORITY_ORDER.indexOf(worth) * 1_000_000 +
    (NEWEST_FIRST.includes(worth) ? 500_000 - index : index)
  )
}
