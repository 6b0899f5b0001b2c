/** Sizes for people. Apart from format.ts, because every screen of the page loads that one. */

const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** A size for people: `812 bytes`, `3.4 kB`, `12 MB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) [value, unit] = [value / 1000, unit + 1]
  if (unit === 0) return value === 1 ? '1 byte' : `${value} bytes`
  return `${value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value)} ${BYTE_UNITS[unit]}`
}
