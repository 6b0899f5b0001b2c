import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something is so; fails after ten seconds, which only a hang can reach. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 10_000
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited in vain for: ${isSo.toString()}`)
    await sleep(10)
  }
}
