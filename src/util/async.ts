/** Waiting, taking turns, and keeping recent values. */

/** Waits for a number of milliseconds, or until the signal aborts. Never rejects. */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const finish = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, milliseconds)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

/** Waits for a promise for at most this long. Resolves to undefined when the time is over. */
export async function waitAtMost<T>(
  milliseconds: number,
  promise: Promise<T>,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Splits long work into slices of a few milliseconds, so that other work gets its turn. */
export class TimeSlices {
  private began = performance.now()
  private readonly milliseconds: number

  constructor(milliseconds = 8) {
    this.milliseconds = milliseconds
  }

  /** Whether the slice is used up. */
  get isUsed(): boolean {
    return performance.now() - this.began >= this.milliseconds
  }

  /** Lets other work run if the slice is used up. */
  async rest(): Promise<void> {
    if (!this.isUsed) return
    await new Promise((resolve) => setImmediate(resolve))
    this.began = performance.now()
  }
}

/** Runs tasks one after another, in the order they were added. A failed task does not stop the next. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve()

  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.last.then(task, task)
    this.last = result.catch(() => undefined)
    return result
  }

  /** Resolves when everything that was added so far is done. */
  async whenIdle(): Promise<void> {
    await this.last
  }
}

/** Keeps the most recently used values; the one unused for longest is dropped first. */
export class RecentCache<Value> {
  private readonly values = new Map<string, Value>()
  private readonly size: number

  constructor(size: number) {
    this.size = size
  }

  /** Returns the value of a key, and creates it when it is not kept. */
  get(key: string, create: () => Value): Value {
    const value = this.values.has(key) ? this.values.get(key)! : create()
    this.values.delete(key)
    this.values.set(key, value)
    if (this.values.size > this.size) this.values.delete(this.values.keys().next().value!)
    return value
  }
}
