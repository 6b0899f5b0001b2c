const UNITS: { readonly [unit: string]: number } = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }
const LONGEST = 10 * 366 * 86_400

/** How durations are written, for messages. */
export const DURATION_WORDS = "seconds, or a text like '500ms', '30s', '10m', '1h30m' or '7d'"

/** The seconds of a duration as people write it; undefined for what is none, for less than nothing and for more than ten years. */
export function readDuration(value: unknown): number | undefined {
  const seconds =
    typeof value === 'number' ? value : typeof value === 'string' ? secondsOf(value.trim()) : NaN
  return seconds >= 0 && seconds <= LONGEST ? seconds : undefined
}

function secondsOf(text: string): number {
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text)
  if (!/^(\d{1,12}(\.\d{1,6})?(ms|s|m|h|d)\s*){1,5}$/.test(text)) return NaN
  const milliseconds = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)].reduce(
    (sum, [, count, unit]) => sum + Math.round(Number(count) * UNITS[unit!]! * 1000),
    0,
  )
  return milliseconds / 1000
}
