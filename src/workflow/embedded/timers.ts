/**
 * Timers of sleeping steps: relative ones follow the monotonic clock, absolute ones the wall clock.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { DurableOperation } from '../engine.ts'

type SleepUntil = Extract<DurableOperation, { readonly kind: 'sleep' }>['until']

// Timers count on while the machine sleeps or its clock is set: a moment is looked at again and
// again.
const MAX_CLOCK_CHECK_MS = 60_000
const MAX_TIMER_MS = 2 ** 31 - 1

/** When a pause that begins now is over. Throws INVALID_INPUT for what is no time. */
export function getSleepEnd(until: SleepUntil, now: number): string {
  const end = 'seconds' in until ? now + until.seconds * 1000 : Date.parse(until.time)
  const time = new Date(end)
  if (Number.isNaN(time.getTime()))
    throw new ToolError(
      'INVALID_INPUT',
      `'${'seconds' in until ? until.seconds : until.time}' is no time to wait for`,
    )
  return time.toISOString()
}

/**
 * Calls back when a pause is over; gives what takes that back. A number of seconds is never longer
 * than that, also where the clock was set back meanwhile.
 */
export function startSleepTimer(
  until: SleepUntil,
  end: string,
  now: () => number,
  isOver: () => void,
): () => void {
  const byClock = Date.parse(end)
  let timer: NodeJS.Timeout
  if ('seconds' in until) {
    // Set back between two attempts, the clock would add what it was set back by.
    const begun = performance.now()
    const length = Math.min(until.seconds * 1000, Math.max(0, byClock - now()))
    const wait = (): void => {
      const rest = length - (performance.now() - begun)
      timer = setTimeout(
        rest > MAX_TIMER_MS ? wait : isOver,
        Math.min(Math.ceil(rest), MAX_TIMER_MS),
      )
    }
    wait()
  } else {
    const look = (): void => {
      const rest = byClock - now()
      if (rest <= 0) isOver()
      else timer = setTimeout(look, Math.min(rest, MAX_CLOCK_CHECK_MS))
    }
    timer = setTimeout(look, 0)
  }
  return () => clearTimeout(timer)
}
