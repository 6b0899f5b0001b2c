const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

/** Seconds as people write them: `1h30m`, `0.5s`. */
export function describeSeconds(seconds: number): string {
  if (seconds < 1) return `${seconds}s`
  let rest = seconds
  let text = ''
  for (const [unit, size] of UNITS) {
    const count = unit === 's' ? Math.round(rest * 1000) / 1000 : Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text
}
