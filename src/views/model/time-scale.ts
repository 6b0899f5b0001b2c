/**
 * The scale of a timeline: maps times to pixels, folds idle ranges, places ticks, zooms, and thins
 * out marks.
 */

import type { TimelineMark } from './run-model.ts'
import type { TimeRange } from './timeline.ts'

/** A piece of a scale: a stretch of time and where it is drawn. */
type ScalePiece = TimeRange & {
  readonly x: number
  readonly width: number
  /** Drawn as a fold: much time in little room. */ readonly folded: boolean
}

/** Where moments are drawn. Both ways are monotonous and each undoes the other inside the range. */
export type TimeScale = {
  readonly pieces: readonly ScalePiece[]
  readonly width: number
  toX(time: number): number
  toTime(x: number): number
}

const FOLD_WIDTH = 28
const MAX_FOLD_SHARE = 0.4

/**
 * A scale for a range of time, so many pixels wide, in which the idle stretches take next to no
 * room.
 */
export function createTimeScale(
  { from, to }: TimeRange,
  idle: readonly TimeRange[],
  width: number,
): TimeScale {
  // A range without any time in it is still somewhere.
  const range = { from, to: Math.max(to, from + 1) }
  const parts = cutRange(range, idle)
  const folds = parts.filter(({ folded }) => folded).length
  const open = parts.reduce((sum, part) => sum + (part.folded ? 0 : part.to - part.from), 0)
  // Where everything is folded, the folds take all the room.
  const foldWidth =
    open === 0 ? width / folds : Math.min(FOLD_WIDTH, (width * MAX_FOLD_SHARE) / folds)
  const perMillisecond = open === 0 ? 0 : (width - foldWidth * folds) / open
  let x = 0
  const pieces = parts.map((part): ScalePiece => {
    const piece = {
      ...part,
      x,
      width: part.folded ? foldWidth : (part.to - part.from) * perMillisecond,
    }
    x += piece.width
    return piece
  })
  return {
    pieces,
    width,
    toX(time) {
      const piece = pieces.find((one) => time <= one.to) ?? pieces.at(-1)!
      return clamp(
        piece.x + ((time - piece.from) / (piece.to - piece.from)) * piece.width,
        0,
        width,
      )
    },
    toTime(at) {
      const piece = pieces.find((one) => at <= one.x + one.width) ?? pieces.at(-1)!
      return clamp(
        piece.from +
          (piece.width === 0 ? 0 : (at - piece.x) / piece.width) * (piece.to - piece.from),
        range.from,
        range.to,
      )
    },
  }
}

/**
 * Moments to write at a scale: round numbers of seconds since `origin`, far enough from each other,
 * none in a fold.
 */
export function getTicks({ pieces }: TimeScale, origin: number, distance = 90): readonly number[] {
  const open = pieces.filter(({ folded, width }) => !folded && width > 0)
  const perPixel = open[0] ? (open[0].to - open[0].from) / open[0].width : 0
  const step = roundTickStep(perPixel * distance)
  if (!(step > 0)) return []
  return open.flatMap(({ from, to }) => {
    const first = Math.ceil((from - origin) / step) * step + origin
    return Array.from(
      { length: Math.max(0, Math.floor((to - first) / step) + 1) },
      (_, index) => first + index * step,
    )
  })
}

/**
 * Changes a range so that it shows less (factor < 1) or more around a moment, and never more than
 * the whole.
 */
export function zoomRange(
  range: TimeRange,
  whole: TimeRange,
  around: number,
  factor: number,
): TimeRange {
  const length = Math.min(Math.max((range.to - range.from) * factor, 1), whole.to - whole.from)
  const share = range.to === range.from ? 0.5 : (around - range.from) / (range.to - range.from)
  const from = clamp(around - length * share, whole.from, whole.to - length)
  return { from, to: from + length }
}

const TICK_STEPS_S = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
]

function roundTickStep(least: number): number {
  return (
    (TICK_STEPS_S.find((seconds) => seconds * 1000 >= least) ??
      Math.ceil(least / 86_400_000) * 86_400) * 1000
  )
}

function cutRange(
  { from, to }: TimeRange,
  idle: readonly TimeRange[],
): readonly (TimeRange & { readonly folded: boolean })[] {
  const parts: (TimeRange & { readonly folded: boolean })[] = []
  let reached = from
  for (const stretch of idle) {
    const fold = { from: Math.max(stretch.from, reached), to: Math.min(stretch.to, to) }
    if (fold.to <= fold.from) continue
    if (fold.from > reached) parts.push({ from: reached, to: fold.from, folded: false })
    parts.push({ ...fold, folded: true })
    reached = fold.to
  }
  if (to > reached) parts.push({ from: reached, to, folded: false })
  return parts
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** A moment as it is drawn, and how many others it stands for. */
type MarkDot = { readonly x: number; readonly mark: TimelineMark; readonly count: number }

// What a person looks for wins over what is only there.
const MARK_WEIGHTS: { readonly [type: string]: number } = {
  error: 4,
  runner_error: 4,
  action_required: 3,
  task_error: 3,
  runner_warning: 2,
  artifact: 2,
  result: 2,
}

/**
 * The marks of a row that are in the range, at most one for so many pixels: the weightiest of those
 * at one place.
 */
export function thinMarks(
  marks: readonly TimelineMark[],
  scale: TimeScale,
  { from, to }: { readonly from: number; readonly to: number },
  distance = 5,
): readonly MarkDot[] {
  const dots: { x: number; mark: TimelineMark; count: number }[] = []
  for (const mark of marks) {
    if (mark.at < from || mark.at > to) continue
    const x = scale.toX(mark.at)
    const near = dots.at(-1)
    if (!near || x - near.x >= distance) dots.push({ x, mark, count: 1 })
    else {
      near.count += 1
      if (weighMark(mark) > weighMark(near.mark)) near.mark = mark
    }
  }
  return dots
}

function weighMark({ type }: TimelineMark): number {
  return Object.hasOwn(MARK_WEIGHTS, type) ? MARK_WEIGHTS[type]! : 0
}
