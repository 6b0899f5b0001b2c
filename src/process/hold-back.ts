import type { Readable } from 'node:stream'

/** A listener of a pipe that may take its time. */
export type Held = {
  take(chunk: Buffer): void
  isHeld(): boolean
  /** Resolves when the listener is done with what it was given. */
  whenFree(): Promise<void>
}

/** Gives chunks to a listener and holds the pipe while a promise of it is pending, so that whoever writes to the pipe has to wait. A listener that throws or rejects hears nothing more; what comes then is read away. */
export function hold(
  pipe: Readable,
  listener: (chunk: Buffer) => void | Promise<void>,
  onFailure: (error: Error) => void,
): Held {
  let pending: Promise<void> | undefined
  let broken = false
  const breakWith = (error: unknown): void => {
    if (broken) return
    broken = true
    onFailure(error instanceof Error ? error : new Error(String(error)))
  }
  return {
    take(chunk) {
      if (broken || chunk.length === 0) return
      try {
        const taken = listener(chunk)
        if (taken === undefined) return
        pipe.pause()
        const all = Promise.all([pending, taken.catch(breakWith)]).then(() => {
          if (pending !== all) return
          pending = undefined
          pipe.resume()
        })
        pending = all
      } catch (error) {
        breakWith(error)
      }
    },
    isHeld: () => pending !== undefined,
    whenFree: () => pending ?? Promise.resolve(),
  }
}
