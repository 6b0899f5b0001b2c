/**
 * Durations and ages for people.
 */

/** A length of time for people: `0.42 s`, `12.4 s`, `3 m 05 s`, `2 h 07 m`, `3 d 04 h`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return ''
  if (seconds < 1) return `${Math.round(seconds * 100) / 100} s`
  if (seconds < 59.95) return `${Math.round(seconds * 10) / 10} s`
  const whole = Math.round(seconds)
  const [minutes, hours, days] = [
    Math.floor(whole / 60),
    Math.floor(whole / 3600),
    Math.floor(whole / 86_400),
  ]
  if (hours < 1) return `${minutes} m ${padTwo(whole % 60)} s`
  if (days < 1) return `${hours} h ${padTwo(minutes % 60)} m`
  return `${days} d ${padTwo(hours % 24)} h`
}

/**
 * How long ago something was, in one word: `now`, `14 s ago`, `3 m ago`, `2 h ago`, `5 d ago`; what
 * lies ahead is `in 3 m`.
 */
export function formatAgo(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000)
  if (!Number.isFinite(seconds)) return ''
  if (Math.abs(seconds) < 2) return 'now'
  const text = formatCoarse(Math.abs(seconds))
  return seconds < 0 ? `in ${text}` : `${text} ago`
}

function formatCoarse(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

function padTwo(value: number): string {
  return String(value).padStart(2, '0')
}
