import { watch } from 'node:fs'

/** Where a folder cannot be watched, it is looked into so often; also where it can, because a watch may miss something. */
const LOOK_AGAIN = 500

/** Looks now, at every change in the folder, and now and then besides; undefined when nobody waits any more. */
export function untilThere<Found>(folder: string, signal: AbortSignal, look: () => Promise<Found | undefined>): Promise<Found | undefined> {
  return new Promise((resolve) => {
    const watcher = startWatch(folder, () => void again())
    const timer = setInterval(() => void again(), LOOK_AGAIN)
    const finish = (found: Found | undefined): void => {
      clearInterval(timer)
      watcher?.close()
      signal.removeEventListener('abort', giveUp)
      resolve(found)
    }
    const giveUp = (): void => finish(undefined)
    const again = async (): Promise<void> => {
      const found = await look()
      if (found !== undefined) finish(found)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    else void again()
  })
}

function startWatch(folder: string, onChange: () => void): { close(): void } | undefined {
  try {
    return watch(folder, { persistent: false }, onChange).on('error', () => undefined)
  } catch {
    return undefined
  }
}
