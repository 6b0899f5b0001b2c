import type { Deadline } from '../contract/context.ts'
import { LONGEST_TIMER_MS } from '../contract/duration.ts'
import { host } from './host.ts'

/** A limit that fires by timer, and stands still while somebody is asked. */
export type RunningDeadline = Deadline & { pause(): void; resume(): void; clear(): void }

/** Starts a deadline of so many milliseconds from now, on the monotonic clock. */
export function startDeadline(milliseconds: number, expire: () => void): RunningDeadline {
  let left = milliseconds
  let startedAt = host.clock()
  let pauses = 0
  let cleared = false
  let timer = arm()

  function arm(): NodeJS.Timeout {
    startedAt = host.clock()
    return setTimeout(expire, Math.min(left, LONGEST_TIMER_MS))
  }
  const leftNow = (): number => Math.max(0, pauses > 0 ? left : left - (host.clock() - startedAt))

  return {
    get at() {
      return new Date(Date.now() + leftNow())
    },
    remaining: () => leftNow() / 1000,
    pause() {
      if (pauses++ > 0) return
      clearTimeout(timer)
      left = Math.max(0, left - (host.clock() - startedAt))
    },
    resume() {
      // Whoever waited may come back after the end of the call.
      if (--pauses === 0 && !cleared) timer = arm()
    },
    clear() {
      cleared = true
      clearTimeout(timer)
    },
  }
}
