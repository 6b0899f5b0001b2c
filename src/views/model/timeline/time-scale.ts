import type { Stretch } from './timeline-type.ts'

/** A piece of a scale: a stretch of time and where it is drawn. */
export type Piece = Stretch & {
  readonly x: number
  readonly width: number
  /** Drawn as a fold: much time in little room. */ readonly folded: boolean
}

/** Where moments are drawn. Both ways are monotonous and each undoes the other inside the range. */
export type TimeScale = {
  readonly pieces: readonly Piece[]
  readonly width: number
  toX(time: number): number
  toTime(x: number): number
}

const FOLD_WIDTH = 28
const LARGEST_SHARE_OF_FOLDS = 0.4

/** A scale for a range of time, so many pixels wide, in which the idle stretches take next to no room. */
export function timeScale(
  { from, to }: Stretch,
  idle: readonly Stretch[],
  width: number,
): TimeScale {
  // A range without any time in it is still somewhere.
  const range = { from, to: Math.max(to, from + 1) }
  const parts = cut(range, idle)
  const folds = parts.filter(({ folded }) => folded).length
  const open = parts.reduce((sum, part) => sum + (part.folded ? 0 : part.to - part.from), 0)
  const foldWidth =
    folds === 0
      ? 0
      : open === 0
        ? width / folds
        : Math.min(FOLD_WIDTH, (width * LARGEST_SHARE_OF_FOLDS) / folds)
  const perMillisecond = open === 0 ? 0 : (width - foldWidth * folds) / open
  let x = 0
  const pieces = parts.map((part): Piece => {
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

/** Moments to write at a scale: round numbers of seconds since `origin`, far enough from each other, none in a fold. */
export function ticksOf({ pieces }: TimeScale, origin: number, distance = 90): readonly number[] {
  const open = pieces.filter(({ folded, width }) => !folded && width > 0)
  const perPixel = open[0] ? (open[0].to - open[0].from) / open[0].width : 0
  const step = roundStep(perPixel * distance)
  if (!(step > 0)) return []
  return open.flatMap(({ from, to }) => {
    const first = Math.ceil((from - origin) / step) * step + origin
    return Array.from(
      { length: Math.max(0, Math.floor((to - first) / step) + 1) },
      (_, index) => first + index * step,
    )
  })
}

/** Changes a range so that it shows less (factor < 1) or more around a moment, and never more than the whole. */
export function zoom(range: Stretch, whole: Stretch, around: number, factor: number): Stretch {
  const length = Math.min(Math.max((range.to - range.from) * factor, 1), whole.to - whole.from)
  const share = range.to === range.from ? 0.5 : (around - range.from) / (range.to - range.from)
  const from = clamp(around - length * share, whole.from, whole.to - length)
  return { from, to: from + length }
}

const STEPS_S = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
]

function roundStep(least: number): number {
  return (
    (STEPS_S.find((seconds) => seconds * 1000 >= least) ?? Math.ceil(least / 86_400_000) * 86_400) *
    1000
  )
}

function cut(
  { from, to }: Stretch,
  idle: readonly Stretch[],
): readonly (Stretch & { readonly folded: boolean })[] {
  const parts: (Stretch & { readonly folded: boolean })[] = []
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
