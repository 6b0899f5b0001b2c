import { setTimeout as sleep } from 'node:timers/promises'
import { HANG_MS } from '../../support/limits.ts'

/** Waits until something is so; fails after a time that only a hang reaches. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + HANG_MS
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited in vain for: ${isSo.toString()}`)
    await sleep(10)
  }
}
