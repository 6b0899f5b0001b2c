import { displayWidth } from '../../../surfaces/cli/output/text/display-width.ts'
import { truncateEnd, truncateMiddle } from '../../../surfaces/cli/output/text/truncate.ts'
import type { Look, Role } from '../look.ts'

/** A piece of text in one role; tool text comes as it is, and is cleaned here. */
export type Piece = {
  readonly text: string
  readonly role?: Role
  /** Of a path both ends are worth seeing. */ readonly path?: true
}

/** What the rows of a tree are about: rows of less worth go first where the window is too low. */
export type Worth = 'head' | 'problem' | 'live' | 'fact' | 'done' | 'log' | 'later'

/** One line of a tree before it is fitted into a window. */
export type Row = {
  readonly depth: number
  readonly icon?: Piece
  readonly name?: Piece
  /** What is said beside the name, most important first. */
  readonly notes: readonly Piece[]
  /** Only a percentage that the tool has told. */
  readonly percent?: number
  /** At the right edge, with what is said about it. */
  readonly time?: string
  readonly remark?: Piece & { /** Where there is little room. */ readonly short: string }
  readonly worth: Worth
}

const INDENT = 2
/** A window that is narrower has no room for bars. */
const NARROWEST_WITH_BAR = 60
const NARROWEST_WITH_TIME = 24
const SHORTEST_NOTE = 4
const ROOM_FOR_WORDS = 30

/** A row in less than `columns` columns. */
export function renderRow(row: Row, columns: number, look: Look): string {
  const width = Math.max(1, columns - 1)
  const { remark, ...right } =
    width >= NARROWEST_WITH_TIME
      ? rightSide(row, width, look)
      : { plain: '', painted: '', remark: undefined }
  const room = width - (right.plain === '' ? 0 : displayWidth(right.plain) + 1)
  const indent = Math.min(row.depth * INDENT, Math.max(0, Math.floor(room / 3)))
  let used = indent
  let text = ' '.repeat(indent)
  const put = (piece: Piece, gap: string, least: number): void => {
    const clean = look.clean(piece.text)
    const left = room - used - gap.length
    if (clean === '' || left < Math.min(least, displayWidth(clean))) return
    const fitted = fit(clean, left, piece.path === true, look)
    text += `${gap}${piece.role ? look.paint(piece.role, fitted) : fitted}`
    used += gap.length + displayWidth(fitted)
  }
  if (row.icon) put(row.icon, '', 1)
  if (row.name) put(row.name, row.icon ? ' ' : '', 1)
  const notes = remark ? [{ ...remark, text: remark.short }, ...row.notes] : row.notes
  notes.forEach((note, index) =>
    put(note, index === 0 && !row.icon && !row.name ? '' : ' ', SHORTEST_NOTE),
  )
  return right.plain === ''
    ? text
    : `${text}${' '.repeat(Math.max(1, width - used - displayWidth(right.plain)))}${right.painted}`
}

type Side = { readonly plain: string; readonly painted: string }

// A remark for which there is no room at the right stands among the notes.
function rightSide(row: Row, width: number, look: Look): Side & Pick<Row, 'remark'> {
  const { remark } = row
  const figures = figuresOf(row, width, look)
  if (!remark) return figures
  const text = look.clean(remark.text)
  if (width - displayWidth(text) - displayWidth(figures.plain) < ROOM_FOR_WORDS)
    return { ...figures, remark }
  return {
    plain: `${text} ${figures.plain}`,
    painted: `${look.paint(remark.role ?? 'dim', text)} ${figures.painted}`,
  }
}

function figuresOf({ percent, time = '' }: Row, width: number, look: Look): Side {
  const pad = time === '' ? '' : ` ${time.padStart(6)}`
  if (percent === undefined) return { plain: time, painted: look.paint('dim', time) }
  const { full, empty } = look.glyphs
  const length = width < NARROWEST_WITH_BAR ? 0 : width < 90 ? 10 : 20
  const filled = Math.floor((percent / 100) * length)
  const figure = `${Math.floor(percent)}%`.padStart(4)
  const bar =
    length === 0
      ? ''
      : `${look.paint('run', full.repeat(filled))}${look.paint('dim', empty.repeat(length - filled))}`
  return {
    plain: `${full.repeat(length)}${figure}${pad}`,
    painted: `${bar}${figure}${look.paint('dim', pad)}`,
  }
}

function fit(text: string, width: number, path: boolean, { glyphs }: Look): string {
  const cut = path ? truncateMiddle(text, width) : truncateEnd(text, width)
  return cut === text || glyphs.cut === '…' ? cut : cut.replace('…', glyphs.cut)
}
