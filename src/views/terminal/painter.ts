import type { Screen, TextSink } from '../../contract/io.ts'
import { createFrameWriter } from './frame-writer.ts'
import type { Size } from './frame-writer.ts'
import { countRows } from './count-rows.ts'
import type { RowCounter } from './count-rows.ts'

/** What a frame is made for. */
export type FrameRequest = Size & {
  /** Goes up with each frame, for what moves. */ readonly tick: number
  /** Rows that have to stay free below, where somebody is asked; nothing moves then. */ readonly below: number
}

export type PainterOptions = {
  readonly stderr: Pick<TextSink, 'write' | 'send' | 'flush'>
  readonly screen: Screen
  /** The lines to show, each narrower than the window, and fewer than it has rows. */
  readonly frame: (request: FrameRequest) => readonly string[]
  /** Calls the action again and again until the returned function is called. */
  readonly repeat?: (action: () => void, everyMs: number) => () => void
}

/** Keeps a picture at the bottom of a terminal: at most ten times a second, and only what changed. */
export type Painter = {
  /** Lines that scroll away above the picture, as they are. Resolves when there is room for more. */
  above(lines: readonly string[]): Promise<void>
  /** Takes the picture away for something that writes by itself, and draws it again when that is over. */
  aside(work: () => void | Promise<void>): Promise<void>
  /** Holds the picture still while somebody is asked below it, in about `below` rows; `rows` has to hear everything that is written and typed there. `said` stays above. */
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
// Terminals that know it show a frame at once; others pass it over.
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'
const MOST_WAITING = 2000

/** Starts to paint. */
export function createPainter({
  stderr,
  screen,
  frame,
  repeat = repeatQuietly,
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
  // Whoever has the terminal for himself.
  let turn: Promise<unknown> | undefined

  const size = (): Size => ({ columns: screen.columns, rows: screen.rows })
  const send = (text: string): Promise<void> => {
    if (text === '') return busy ?? Promise.resolve()
    const sent = stderr.send(`${BEGIN}${text}${END}`)
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
    // Not hidden again: nobody knows when the end comes.
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
      if (waiting.length < MOST_WAITING || turn || stopped) return
      await busy
      if (waiting.length >= MOST_WAITING && !turn && !stopped) await draw()
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
        const rows = countRows(before.columns)
        const answer = await work(rows)
        const now = size()
        // Where it is not sure how much was written, it stays, and the picture goes on below.
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

function repeatQuietly(action: () => void, everyMs: number): () => void {
  const timer = setInterval(action, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
