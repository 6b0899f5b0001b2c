import { ToolError } from './tool-error.ts'

/** A duration as people write it: a number is seconds; strings take `ms`, `s`, `m`, `h` (`'500ms'`, `'1.5h'`). */
export type Duration = number | string

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
// setTimeout overflows above this and fires at once.
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Milliseconds of a duration; throws INVALID_INPUT for anything that is not a positive, finite time. */
export function toMilliseconds(duration: Duration, field?: string): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*$/.exec(String(duration))
  const milliseconds = match
    ? Number(match[1]) * UNITS[(match[2] ?? 's') as keyof typeof UNITS]
    : NaN
  if (!(milliseconds > 0)) {
    throw new ToolError(
      'INVALID_INPUT',
      `'${duration}' is not a duration: give seconds above 0, or a number with ms, s, m or h`,
      field === undefined ? {} : { field },
    )
  }
  return Math.min(milliseconds, LONGEST_TIMER_MS)
}
