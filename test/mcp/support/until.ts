import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something is so; fails after 60 seconds, which only a hang can reach. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 60_000
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited in vain for: ${isSo.toString()}`)
    await sleep(10)
  }
}
