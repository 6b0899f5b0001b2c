/** The first pause before a new attempt, and the longest one, in seconds. */
const FIRST = 1
const LONGEST = 60

/** Seconds to wait before the attempt with that number (2 is the first that is tried again): twice as long each time, and never the same for many at once. */
export function pauseBefore(attempt: number, random: number): number {
  const full = Math.min(LONGEST, FIRST * 2 ** (attempt - 2))
  return Math.round((full / 2 + (full / 2) * random) * 1000) / 1000
}
