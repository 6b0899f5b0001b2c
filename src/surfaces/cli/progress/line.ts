import type { Paint } from '../output/color.ts'
import { cleanLine } from '../output/text/clean.ts'
import { displayWidth } from '../output/text/display-width.ts'
import { truncateEnd } from '../output/text/truncate.ts'
import { formatPercent } from './notify.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const BAR_WIDTH = 20
/** Narrower than this, the message needs the room more than the bar does. */
const NARROWEST_WITH_BAR = 50

export type ProgressLine = {
  readonly frame: number
  readonly message: string
  /** Only a percentage that the tool has told; without it there is no bar. */
  readonly percent: number | undefined
  readonly elapsedMs: number
}

/** The one line of the live display, at most `columns - 1` wide, so that the terminal never wraps it. */
export function renderProgressLine(
  { frame, message, percent, elapsedMs }: ProgressLine,
  columns: number,
  paint: Paint,
): string {
  const width = Math.max(1, columns - 1)
  const spinner = FRAMES[frame % FRAMES.length] ?? ''
  const known =
    percent !== undefined && Number.isFinite(percent)
      ? Math.min(100, Math.max(0, percent))
      : undefined
  const bar = known !== undefined && width >= NARROWEST_WITH_BAR ? drawBar(known, paint) : ''
  const figures = [
    ...(known === undefined ? [] : [formatPercent(known)]),
    formatElapsed(elapsedMs),
  ].join(' ')
  const used = 1 + (bar === '' ? 0 : BAR_WIDTH + 1) + 1 + 1 + displayWidth(figures)
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
export function drawBar(percent: number, paint: Paint): string {
  const full = Math.floor((percent / 100) * BAR_WIDTH)
  return paint('green', '█'.repeat(full)) + paint('dim', '░'.repeat(BAR_WIDTH - full))
}
