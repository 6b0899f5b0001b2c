/** Runs work in the order in which it came, each when the one before has ended, however it ended. What was aborted before its turn is not begun. */
export type Turns = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/** Starts a line in which nobody stands yet. */
export function oneAtATime(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return (signal, work) => {
    const mine = last.then(() => {
      signal.throwIfAborted()
      return work()
    })
    last = mine.catch(() => undefined)
    return mine
  }
}
