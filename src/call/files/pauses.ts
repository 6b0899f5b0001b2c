import { setImmediate } from 'node:timers/promises'
import { host } from '../host.ts'

const LONGEST_TURN_MS = 8

/** Lets others have their turn from time to time, in work that would hold them up. */
export function pauses(): () => Promise<void> | undefined {
  let last = host.clock()
  return () => {
    if (host.clock() - last < LONGEST_TURN_MS) return undefined
    return setImmediate().then(() => {
      last = host.clock()
    })
  }
}
