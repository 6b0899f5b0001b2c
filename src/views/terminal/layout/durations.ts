/** How long something took: `0.4 s`, `12.4 s`, `1m05s`, `2h07m`. */
export function formatTook(milliseconds: number): string {
  return milliseconds < 59_950 ? `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s` : formatLong(milliseconds)
}

/** How long something goes on already, in whole seconds, so that it does not flicker: `3 s`, `1m05s`. */
export function formatElapsed(milliseconds: number): string {
  return milliseconds < 60_000 ? `${Math.floor(Math.max(0, milliseconds) / 1000)} s` : formatLong(milliseconds)
}

function formatLong(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  const pad = (number: number): string => String(number).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`
  return `${Math.floor(seconds / 3600)}h${pad(Math.floor((seconds % 3600) / 60))}m`
}
