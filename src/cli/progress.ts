/**
 * The live progress line of a terminal, and the output of handlers above it.
 */

import { captureRemainingStrayOutput } from '../core/call-scope.ts'
import type { ToolEvent } from '../protocol/events.ts'
import type { TextSink } from '../protocol/io.ts'
import { formatNotificationText, formatPercent } from './formats/envelope.ts'
import type { TextPainter } from './formats/terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from './formats/terminal-text.ts'
import { getDisplayWidth, truncateEnd } from './formats/text-layout.ts'

export type ProgressDisplayOptions = {
  readonly stderr: Pick<TextSink, 'write' | 'columns'>
  readonly color: boolean
  /**
   * Width of the terminal; asked of the sink at every drawing when left out, so that a resized
   * window is respected.
   */
  readonly columns?: number | undefined
  readonly now: () => number
  /**
   * Shown until the tool reports something; without it nothing is drawn before the first event.
   */
  readonly label?: string | undefined
  /** Calls the action again and again until the returned function is called. */
  readonly repeat?: (action: () => void, everyMs: number) => () => void
}

/** A live display of one call. */
export type ProgressDisplay = {
  update(event: ToolEvent): void
  /** Prints lines above the display. */
  log(text: string): void
  /** Clears the display, for instance while a question is asked, and draws it again. */
  pause(): void
  resume(): void
  /**
   * Ends it: what was logged is printed, the line is gone, the cursor is back. Safe to call twice.
   */
  stop(): void
}

const TICK_INTERVAL_MS = 100
const CLEAR_LINE = '\r\u001b[2K'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

/**
 * Starts a display that redraws one line of a terminal: ten writes a second however much the tool
 * says, none before the first tick, so that quick calls stay clean.
 */
export function createProgressDisplay({
  stderr,
  color,
  columns,
  now,
  label = '',
  repeat = repeatUnreferenced,
}: ProgressDisplayOptions): ProgressDisplay {
  const paint = createTextPainter(color)
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
  // Nobody waits for a progress line: what a slow or closed terminal does to it is not the call's
  // business.
  const write = (text: string) => void (async () => stderr.write(text))().catch(() => undefined)
  const cancel = repeat(draw, TICK_INTERVAL_MS)

  return {
    update(event) {
      if (stopped) return
      if (event.type === 'progress') {
        message = event.message
        percent = event.percent
        return
      }
      const text = formatNotificationText(event)
      if (text !== undefined) waiting.push(text)
    },
    log(text) {
      if (stopped) return
      waiting.push(cleanText(text).replace(/\n$/, ''))
      // A handler that does not let go of the thread is seen to work all the same.
      if (now() - drawnAt >= TICK_INTERVAL_MS) draw()
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

function repeatUnreferenced(action: () => void, everyMs: number): () => void {
  const timer = setInterval(action, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

const SPINNER_FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const BAR_WIDTH = 20
/** Narrower than this, the message needs the room more than the bar does. */
const MIN_COLUMNS_WITH_BAR = 50

type ProgressLine = {
  readonly frame: number
  readonly message: string
  /** As the tool reported it; without it there is no bar. */
  readonly percent: number | undefined
  readonly elapsedMs: number
}

/**
 * The one line of the live display, at most `columns - 1` wide, so that the terminal never wraps
 * it.
 */
export function renderProgressLine(
  { frame, message, percent, elapsedMs }: ProgressLine,
  columns: number,
  paint: TextPainter,
): string {
  const width = Math.max(1, columns - 1)
  const spinner = SPINNER_FRAMES[frame % SPINNER_FRAMES.length] ?? ''
  const known =
    percent !== undefined && Number.isFinite(percent)
      ? Math.min(100, Math.max(0, percent))
      : undefined
  const bar = known !== undefined && width >= MIN_COLUMNS_WITH_BAR ? drawBar(known, paint) : ''
  const figures = [
    ...(known === undefined ? [] : [formatPercent(known)]),
    formatElapsed(elapsedMs),
  ].join(' ')
  const used = 1 + (bar === '' ? 0 : BAR_WIDTH + 1) + 1 + 1 + getDisplayWidth(figures)
  const room = width - used
  if (room < 1) return paint('cyan', spinner)
  const text = truncateEnd(cleanLine(message), room)
  return [
    paint('cyan', spinner),
    ...(bar === '' ? [] : [bar]),
    ...(text === '' ? [] : [text]),
    paint('dim', figures),
  ].join(' ')
}

/** A duration for people: `3s`, `1m05s`, `2h07m`. */
export function formatElapsed(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const pad = (number: number) => String(number).padStart(2, '0')
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`
  return `${Math.floor(seconds / 3600)}h${pad(Math.floor((seconds % 3600) / 60))}m`
}

/** A bar of 20 characters. */
export function drawBar(percent: number, paint: TextPainter): string {
  const full = Math.floor((percent / 100) * BAR_WIDTH)
  return paint('green', '█'.repeat(full)) + paint('dim', '░'.repeat(BAR_WIDTH - full))
}

// This much of a line without an end is kept.
const MAX_LINE_CHARS = 64 * 1024

/**
 * Passes the output of handlers to `take`, line by line, instead of printing it. Returns the
 * function that stops this; then `take` gets the rest without a line end.
 */
export function captureStrayLines(take: (line: string) => void): () => void {
  const decoder = new TextDecoder()
  let rest = ''
  const end = captureRemainingStrayOutput((bytes) => {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
    rest = lines.pop()!
    lines.forEach(take)
    if (rest.length > MAX_LINE_CHARS) {
      take(rest)
      rest = ''
    }
    return true
  })
  return () => {
    end()
    if (rest !== '') take(rest)
    rest = ''
  }
}
