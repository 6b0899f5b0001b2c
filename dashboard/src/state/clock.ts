import { signal } from '@preact/signals'

let ahead = 0

/**
 * The time of the server in milliseconds, once a second: everything that counts up or down reads
 * it.
 */
export const now = signal(Date.now())

/** Takes over the clock of the server, which has written all the times that are shown. */
export function setServerClock(time: string): void {
  const told = Date.parse(time)
  if (!Number.isNaN(told)) ahead = told - Date.now()
  tick()
}

/** The time of the server at this moment, for what is not drawn. */
export function serverTime(): number {
  return Date.now() + ahead
}

function tick(): void {
  now.value = serverTime()
}

setInterval(tick, 1000)
// A hidden page gets no ticks worth the name.
document.addEventListener('visibilitychange', tick)
