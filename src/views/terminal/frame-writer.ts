import { displayWidth } from '../../surfaces/cli/output/text/display-width.ts'

export type Size = { readonly columns: number; readonly rows: number }

/** Turns what should be seen into what has to be written. The cursor always stands at the beginning of the line below the frame. */
export type FrameWriter = {
  /** The text that makes the screen show `lines`, with `above` scrolled in over them. Lines that did not change are not written. */
  draw(lines: readonly string[], above: readonly string[], size: Size): string
  /** The text that takes the frame, and so many rows below it, away. */
  erase(size: Size, rowsBelow?: number): string
  /** What is drawn stays where it is; the next frame begins below it. */
  leave(): void
  /** Lines that are drawn. */
  readonly height: number
}

const ERASE_ROW = '\u001b[2K'
const ERASE_REST = '\u001b[K'
const STYLES = /\u001b\[[\d;]*m/g

/** A writer that has drawn nothing yet. */
export function createFrameWriter(): FrameWriter {
  let drawn: readonly string[] = []
  let columns = 0
  // A window that became narrower has folded the lines that were drawn.
  const rowsDrawn = (size: Size): number =>
    size.columns >= columns
      ? drawn.length
      : drawn.reduce((sum, line) => sum + rowsOf(line, size.columns), 0)
  return {
    get height() {
      return drawn.length
    },
    draw(lines, above, size) {
      const resized = drawn.length > 0 && (size.columns !== columns || drawn.length >= size.rows)
      const text =
        resized || above.length > 0 ? redraw(rowsDrawn(size), lines, above) : change(drawn, lines)
      drawn = lines
      columns = size.columns
      return text
    },
    erase(size, rowsBelow = 0) {
      const text = drawn.length + rowsBelow === 0 ? '' : wipe(rowsDrawn(size) + rowsBelow)
      drawn = []
      return text
    },
    leave() {
      drawn = []
    },
  }
}

/** Rows that a line takes in a window; styles take none. */
export function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(displayWidth(line.replace(STYLES, '')) / Math.max(1, columns)))
}

// What scrolls in may be wider than the window; cleared first, because erasing behind a full row takes its last character away.
function redraw(rows: number, lines: readonly string[], above: readonly string[]): string {
  return `${wipe(rows)}${[...above, ...lines].map((line) => `${line}\n`).join('')}`
}

function change(before: readonly string[], lines: readonly string[]): string {
  let text = ''
  // Where the cursor stands.
  let at = before.length
  lines.forEach((line, index) => {
    if (index < before.length && before[index] === line) return
    text += `${move(index - at)}\r${line}${ERASE_REST}\n`
    at = index + 1
  })
  if (lines.length < before.length)
    return `${text}${move(before.length - at)}${wipe(before.length - lines.length)}`
  return `${text}${move(lines.length - at)}`
}

// Row by row: what erases a whole screen at once is kept as history by some terminals, and would be seen twice.
function wipe(rows: number): string {
  return `\r${ERASE_ROW}${`${up(1)}${ERASE_ROW}`.repeat(rows)}`
}

function move(by: number): string {
  return by > 0 ? `\u001b[${by}B` : up(-by)
}

function up(by: number): string {
  return by > 0 ? `\u001b[${by}A` : ''
}
