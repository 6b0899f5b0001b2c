import { displayWidth } from '../../surfaces/cli/output/text/display-width.ts'

/** Counts the rows that a dialogue takes on a terminal. */
export type RowCounter = {
  /** Something was written; it has no control sequences. */
  wrote(text: string): void
  /** Somebody typed a line, which the terminal has shown. */
  typed(line: string): void
  /** Somebody else wrote here too, or what was written has to stay. */
  forget(): void
  /** Rows above the cursor that the dialogue has taken. */
  readonly count: number
  /** False where a terminal may have done something else: a typed line that was folded, and mended, stands nobody knows where. */
  readonly known: boolean
  /** The cursor is not at the beginning of a row. */
  readonly inLine: boolean
}

/** A counter for a window of that width. */
export function countRows(columns: number): RowCounter {
  let rows = 0
  let column = 0
  let known = true
  const put = (text: string): void => {
    column += displayWidth(text.replaceAll('\t', '        '))
    rows += Math.floor(column / columns)
    column %= columns
    if (text.includes('\t') || (column === 0 && text !== '')) known = false
  }
  const newLine = (): void => {
    rows += 1
    column = 0
  }
  return {
    wrote(text) {
      text.split('\n').forEach((part, index) => {
        if (index > 0) newLine()
        put(part)
      })
    },
    typed(line) {
      if (column + displayWidth(line) >= columns || /[^\x20-\x7e]/.test(line)) known = false
      put(line)
      newLine()
    },
    forget() {
      known = false
    },
    get count() {
      return rows
    },
    get known() {
      return known
    },
    get inLine() {
      return column > 0
    },
  }
}
