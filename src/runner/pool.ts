/** Does work with a bounded number of others at the same time, in the order in which it was asked for. */
export type Pool = {
  /** Resolves or rejects as the work does. What is aborted while it waits is never begun. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  readonly running: number
  readonly waiting: number
}

/** A pool of that many places. */
export function createPool(places: number): Pool {
  const queue: { begin: () => void }[] = []
  let running = 0

  const leave = (): void => {
    running -= 1
    queue.shift()?.begin()
  }
  const enter = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp)
        running += 1
        resolve()
      }
      const entry = { begin }
      const giveUp = (): void => {
        const index = queue.indexOf(entry)
        if (index < 0) return
        queue.splice(index, 1)
        reject(signal?.reason as Error)
      }
      if (running < places) return begin()
      if (signal?.aborted) return reject(signal.reason as Error)
      signal?.addEventListener('abort', giveUp, { once: true })
      queue.push(entry)
    })

  return {
    async run(work, signal) {
      await enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
    get running() {
      return running
    },
    get waiting() {
      return queue.length
    },
  }
}
