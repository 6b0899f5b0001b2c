/** A stretch of time in the two units that matter: `3.4 s`, `2 min 05 s`, `4 h 12 min`, `3 d 4 h`. */
export function durationText(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '–'
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)]
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`
  return hours < 24 ? `${hours} h ${two(minutes % 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** How long ago something was: `just now`, `12 s ago`, `3 min ago`, `2 d ago`. */
export function agoText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < 2) return 'just now'
  return `${coarse(seconds)} ago`
}

/** A number of bytes as people say it. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1000 ** step
  return `${step === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[step]}`
}

function coarse(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`
}

function two(amount: number): string {
  return String(Math.floor(amount)).padStart(2, '0')
}
