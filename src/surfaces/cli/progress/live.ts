import type { ToolEvent } from '../../../contract/events.ts'
import type { TextSink } from '../../../contract/io.ts'
import { createPaint } from '../output/color.ts'
import { cleanText } from '../output/text/clean.ts'
import { renderProgressLine } from './line.ts'
import { notificationText } from './notify.ts'

export type ProgressOptions = {
  readonly stderr: Pick<TextSink, 'write' | 'columns'>
  readonly color: boolean
  /** Width of the terminal; asked of the sink at every drawing when left out, so that a resized window is respected. */
  readonly columns?: number | undefined
  readonly now: () => number
  /** What stands there until the tool says something; without it nothing is drawn before the first event. */
  readonly label?: string | undefined
  /** Calls the action again and again until the returned function is called. */
  readonly repeat?: (action: () => void, everyMs: number) => () => void
}

/** A live display of one call. */
export type Progress = {
  update(event: ToolEvent): void
  /** Prints lines above the display. */
  log(text: string): void
  /** Clears the display, for instance while a question is asked, and draws it again. */
  pause(): void
  resume(): void
  /** Ends it: what was logged is printed, the line is gone, the cursor is back. Safe to call twice. */
  stop(): void
}

const TICK_MS = 100
const CLEAR_LINE = '\r\u001b[2K'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

/** Starts a display that redraws one line of a terminal: ten writes a second however much the tool says, none before the first tick, so that quick calls stay clean. */
export function createProgress({
  stderr,
  color,
  columns,
  now,
  label = '',
  repeat = repeatQuietly,
}: ProgressOptions): Progress {
  const paint = createPaint(color)
  const startedAt = now()
  let message = label
  let percent: number | undefined
  let frame = 0
  let waiting: string[] = []
  let drawn = false
  let drawnAt = startedAt
  let paused = false
  let stopped = false

  const draw = () => {
    if (paused || stopped) return
    drawnAt = now()
    const lines = takeLines()
    const line =
      message === '' && percent === undefined
        ? ''
        : renderProgressLine(
            { frame: frame++, message, percent, elapsedMs: now() - startedAt },
            columns ?? stderr.columns,
            paint,
          )
    if (lines === '' && line === '') return
    const hide = !drawn && line !== '' ? HIDE_CURSOR : ''
    write(`${hide}${drawn ? CLEAR_LINE : ''}${lines}${line}`)
    drawn = drawn || line !== ''
  }
  const erase = () => {
    const text = `${drawn ? CLEAR_LINE : ''}${takeLines()}${drawn ? SHOW_CURSOR : ''}`
    drawn = false
    if (text !== '') write(text)
  }
  const takeLines = () => {
    const lines = waiting.map((text) => `${text}\n`).join('')
    waiting = []
    return lines
  }
  // Nobody waits for a progress line: what a slow or closed terminal does to it is not the call's business.
  const write = (text: string) => void (async () => stderr.write(text))().catch(() => undefined)
  const cancel = repeat(draw, TICK_MS)

  return {
    update(event) {
      if (stopped) return
      if (event.type === 'progress') {
        message = event.message
        percent = event.percent
        return
      }
      const text = notificationText(event)
      if (text !== undefined) waiting.push(text)
    },
    log(text) {
      if (stopped) return
      waiting.push(cleanText(text).replace(/\n$/, ''))
      // A handler that does not let go of the thread is seen to work all the same.
      if (now() - drawnAt >= TICK_MS) draw()
    },
    pause() {
      if (stopped || paused) return
      erase()
      paused = true
    },
    resume() {
      paused = false
    },
    stop() {
      if (stopped) return
      cancel()
      erase()
      stopped = true
    },
  }
}

function repeatQuietly(action: () => void, everyMs: number): () => void {
  const timer = setInterval(action, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
