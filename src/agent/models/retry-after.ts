/** Seconds that a server asks to wait, by its headers: a number, milliseconds, or a date. */
export function parseRetryAfter(header: (name: string) => unknown): number | undefined {
  const milliseconds = Number(header('retry-after-ms') ?? NaN)
  if (milliseconds >= 0) return milliseconds / 1000
  const given = header('retry-after')
  if (given === undefined || given === null) return undefined
  const seconds = Number(given)
  if (seconds >= 0) return seconds
  const at = Date.parse(String(given))
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000)
}
