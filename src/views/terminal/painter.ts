/**
 * Paints frames at the bottom of a terminal: at most ten times a second, only lines that changed, and with room for a question below.
 */

import { getDisplayWidth } from '../../cli/formats/text-layout.ts'
import type { Screen, TextSink } from '../../protocol/io.ts'

/** What a frame is made for. */
type FrameRequest = WindowSize & {
  /** Goes up with each frame, for what moves. */ readonly tick: number
  /** Rows that have to stay free below, where somebody is asked; nothing moves then. */ readonly below: number
}

type PainterOptions = {
  readonly stderr: Pick<TextSink, 'write' | 'send' | 'flush'>
  readonly screen: Screen
  /** The lines to show, each narrower than the window, and fewer than it has rows. */
  readonly frame: (request: FrameRequest) => readonly string[]
  /** Calls the action again and again until the returned function is called. */
  readonly repeat?: (action: () => void, everyMs: number) => () => void
}

/**
 * Keeps a picture at the bottom of a terminal: at most ten times a second, and only what changed.
 */
type Painter = {
  /**
   * Lines that scroll away above the picture, as they are. Resolves when there is room for more.
   */
  above(lines: readonly string[]): Promise<void>
  /**
   * Takes the picture away for something that writes by itself, and draws it again when that is
   * over.
   */
  aside(work: () => void | Promise<void>): Promise<void>
  /**
   * Holds the picture still while somebody is asked below it, in about `below` rows; `rows` has to
   * hear everything that is written and typed there. `said` stays above.
   */
  ask<T>(
    below: number,
    work: (rows: RowCounter) => Promise<T>,
    said: (answer: T) => readonly string[],
  ): Promise<T>
  /** The last picture, which stays, however tall; then the cursor is back. Safe to call twice. */
  finish(lines: readonly string[]): Promise<void>
}

const TICK_MS = 100
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
// Terminals that support it show a whole frame; others ignore it.
const BEGIN_SYNC = '\u001b[?2026h'
const END_SYNC = '\u001b[?2026l'
const MAX_WAITING_LINES = 2000

/** Starts to paint. */
export function createPainter({
  stderr,
  screen,
  frame,
  repeat = repeatUnref,
}: PainterOptions): Painter {
  const writer = createFrameWriter()
  let waiting: string[] = []
  // How many lines were taken before the first that waits.
  let taken = 0
  let tick = 0
  let busy: Promise<void> | undefined
  let hidden = false
  let left = false
  let stopped = false
  let suspended = false
  // Pending while something else uses the terminal.
  let turn: Promise<unknown> | undefined

  const size = (): WindowSize => ({ columns: screen.columns, rows: screen.rows })
  const send = (text: string): Promise<void> => {
    if (text === '') return busy ?? Promise.resolve()
    const sent = stderr.send(`${BEGIN_SYNC}${text}${END_SYNC}`)
    busy = sent
    return sent.finally(() => {
      if (busy === sent) busy = undefined
    })
  }
  const takeWaiting = (until = Infinity): readonly string[] => {
    const lines = waiting.slice(0, Math.max(0, until - taken))
    waiting = waiting.slice(lines.length)
    taken += lines.length
    return lines
  }
  const hide = (): string => {
    if (hidden || left) return ''
    hidden = true
    return HIDE_CURSOR
  }
  const show = (): string => {
    if (!hidden) return ''
    hidden = false
    return SHOW_CURSOR
  }
  const draw = (below = 0): Promise<void> => {
    const now = size()
    const cursor = below > 0 ? show() : hide()
    return send(`${cursor}${writer.draw(frame({ ...now, tick, below }), takeWaiting(), now)}`)
  }
  const onTick = (): void => {
    // A terminal that does not take the last frame does not need the next one.
    if (turn || busy || stopped || suspended) return
    tick += 1
    void draw().catch(() => undefined)
  }
  const cancel = repeat(onTick, TICK_MS)
  const endLeaving = screen.onLeave(() => {
    // Not hidden again, because the process may end at any time.
    left = true
    const text = show()
    if (text !== '') stderr.write(text)
  })
  const endStopping = screen.onStop(
    () => {
      suspended = true
      // The shell writes below: what is drawn stays there.
      writer.leave()
      const text = show()
      if (text !== '') stderr.write(text)
    },
    () => {
      suspended = false
    },
  )

  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    while (turn) await turn
    let release = (): void => undefined
    turn = new Promise<void>((resolve) => {
      release = resolve
    })
    try {
      await busy
      return await work()
    } finally {
      turn = undefined
      release()
    }
  }

  return {
    async above(lines) {
      waiting.push(...lines)
      if (waiting.length < MAX_WAITING_LINES || turn || stopped) return
      await busy
      if (waiting.length >= MAX_WAITING_LINES && !turn && !stopped) await draw()
    },
    aside(work) {
      // What comes while it waits for its turn belongs below what it writes.
      const until = taken + waiting.length
      return alone(async () => {
        const lines = takeWaiting(until)
        await send(`${writer.erase(size())}${lines.map((line) => `${line}\n`).join('')}${show()}`)
        await work()
      })
    },
    ask: (below, work, said) =>
      alone(async () => {
        await draw(Math.max(1, below))
        const before = size()
        const rows = createRowCounter(before.columns)
        const answer = await work(rows)
        const now = size()
        // If it is unclear how much was written, it stays and the picture continues below.
        if (
          rows.known &&
          now.columns === before.columns &&
          now.rows === before.rows &&
          rows.count + writer.height < now.rows
        )
          await send(writer.erase(now, rows.count))
        else {
          writer.leave()
          if (rows.inLine) await send('\n')
        }
        const above = said(answer)
        waiting.unshift(...above)
        taken -= above.length
        if (!stopped) await draw()
        return answer
      }),
    async finish(lines) {
      if (stopped) return
      stopped = true
      cancel()
      while (turn) await turn
      await busy
      const now = size()
      await send(
        `${writer.erase(now)}${[...takeWaiting(), ...lines].map((line) => `${line}\n`).join('')}${show()}`,
      )
      endLeaving()
      endStopping()
      await stderr.flush()
    },
  }
}

function repeatUnref(action: () => void, everyMs: number): () => void {
  const timer = setInterval(action, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

type WindowSize = { readonly columns: number; readonly rows: number }

/**
 * Turns what should be seen into what has to be written. The cursor always stands at the beginning
 * of the line below the frame.
 */
type FrameWriter = {
  /**
   * The text that makes the screen show `lines`, with `above` scrolled in over them. Lines that did
   * not change are not written.
   */
  draw(lines: readonly string[], above: readonly string[], size: WindowSize): string
  /** The text that takes the frame, and so many rows below it, away. */
  erase(size: WindowSize, rowsBelow?: number): string
  /** What is drawn stays where it is; the next frame begins below it. */
  leave(): void
  /** Lines that are drawn. */
  readonly height: number
}

const ERASE_ROW = '\u001b[2K'
const ERASE_REST = '\u001b[K'
const STYLE_PATTERN = /\u001b\[[\d;]*m/g

/** A writer that has drawn nothing yet. */
export function createFrameWriter(): FrameWriter {
  let drawn: readonly string[] = []
  let columns = 0
  // A window that became narrower has folded the lines that were drawn.
  const rowsDrawn = (size: WindowSize): number =>
    size.columns >= columns
      ? drawn.length
      : drawn.reduce((sum, line) => sum + countWrappedRows(line, size.columns), 0)
  return {
    get height() {
      return drawn.length
    },
    draw(lines, above, size) {
      const resized = drawn.length > 0 && (size.columns !== columns || drawn.length >= size.rows)
      const text =
        resized || above.length > 0
          ? renderRedraw(rowsDrawn(size), lines, above)
          : renderChanges(drawn, lines)
      drawn = lines
      columns = size.columns
      return text
    },
    erase(size, rowsBelow = 0) {
      const text = drawn.length + rowsBelow === 0 ? '' : renderErase(rowsDrawn(size) + rowsBelow)
      drawn = []
      return text
    },
    leave() {
      drawn = []
    },
  }
}

/** Rows that a line takes in a window; styles take none. */
function countWrappedRows(line: string, columns: number): number {
  return Math.max(
    1,
    Math.ceil(getDisplayWidth(line.replace(STYLE_PATTERN, '')) / Math.max(1, columns)),
  )
}

// What scrolls in may be wider than the window; cleared first, because erasing behind a full row
// takes its last character away.
function renderRedraw(rows: number, lines: readonly string[], above: readonly string[]): string {
  return `${renderErase(rows)}${[...above, ...lines].map((line) => `${line}\n`).join('')}`
}

function renderChanges(before: readonly string[], lines: readonly string[]): string {
  let text = ''
  // Where the cursor stands.
  let at = before.length
  lines.forEach((line, index) => {
    if (index < before.length && before[index] === line) return
    text += `${moveCursor(index - at)}\r${line}${ERASE_REST}\n`
    at = index + 1
  })
  if (lines.length < before.length)
    return `${text}${moveCursor(before.length - at)}${renderErase(before.length - lines.length)}`
  return `${text}${moveCursor(lines.length - at)}`
}

// Row by row: what erases a whole screen at once is kept as history by some terminals, and would be
// seen twice.
function renderErase(rows: number): string {
  return `\r${ERASE_ROW}${`${moveCursorUp(1)}${ERASE_ROW}`.repeat(rows)}`
}

function moveCursor(by: number): string {
  return by > 0 ? `\u001b[${by}B` : moveCursorUp(-by)
}

function moveCursorUp(by: number): string {
  return by > 0 ? `\u001b[${by}A` : ''
}

/** Counts the rows that a dialogue takes on a terminal. */
export type RowCounter = {
  /** Something was written; it has no control sequences. */
  wrote(text: string): void
  /** The user typed a line, which the terminal echoed. */
  typed(line: string): void
  /** Something else wrote here too, or the text has to stay. */
  forget(): void
  /** Rows above the cursor that the dialogue has taken. */
  readonly count: number
  /**
   * False where a terminal may have done something else: a typed line that was folded, and mended,
   * stands nobody knows where.
   */
  readonly known: boolean
  /** The cursor is not at the beginning of a row. */
  readonly inLine: boolean
}

/** A counter for a window of that width. */
export function createRowCounter(columns: number): RowCounter {
  let rows = 0
  let column = 0
  let known = true
  const put = (text: string): void => {
    column += getDisplayWidth(text.replaceAll('\t', '        '))
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
      if (column + getDisplayWidth(line) >= columns || /[^\x20-\x7e]/.test(line)) known = false
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
