import { watch } from 'node:fs'

/** Where a folder cannot be watched, it is looked into so often; also where it can, because a watch may miss something. */
const LOOK_AGAIN = 500

/** Looks now, at every change in the folder, and now and then besides, never twice at the same time; undefined when nobody waits any more. Rejects as `look` does. */
export function untilThere<Found>(
  folder: string,
  signal: AbortSignal,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  return new Promise((resolve, reject) => {
    let looking = false
    let changed = false
    const watcher = startWatch(folder, () => void again())
    const timer = setInterval(() => void again(), LOOK_AGAIN)
    const finish = (settle: () => void): void => {
      clearInterval(timer)
      watcher?.close()
      signal.removeEventListener('abort', giveUp)
      settle()
    }
    const giveUp = (): void => finish(() => resolve(undefined))
    const again = async (): Promise<void> => {
      changed = true
      if (looking) return
      looking = true
      try {
        while (changed) {
          changed = false
          const found = await look()
          if (found !== undefined) return finish(() => resolve(found))
        }
        looking = false
      } catch (error) {
        finish(() => reject(error))
      }
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
