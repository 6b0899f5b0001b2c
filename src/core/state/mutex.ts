import { ToolError } from '../../protocol/tool-error.ts'
import type { RunningCall } from '../lifecycle.ts'

/**
 * Something that one call has at a time; the others wait in the order in which they came. With a
 * patience, in milliseconds, those who wait give up when one call has it for longer: it may itself
 * be waiting for them.
 */
export class Mutex {
  isLocked = false
  readonly #patience: number | undefined
  readonly #waiting = new Map<() => void, (error: ToolError) => void>()
  #watch: NodeJS.Timeout | undefined

  constructor(patience?: number) {
    this.#patience = patience
  }

  /**
   * Returns the function that passes the turn on, synchronously when it is free. A call that fails
   * from outside while it waits leaves the queue.
   */
  acquire(call?: Pick<RunningCall, 'onFail'>): (() => void) | Promise<() => void> {
    if (!this.isLocked) return this.#begin()
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        stopListening?.()
        resolve(this.#begin())
      }
      const refuse = (error: ToolError): void => {
        this.#waiting.delete(begin)
        if (this.#waiting.size === 0) clearTimeout(this.#watch)
        reject(error)
      }
      this.#waiting.set(begin, refuse)
      if (this.#waiting.size === 1) this.#watchOver()
      const stopListening = call?.onFail(refuse)
    })
  }

  #begin(): () => void {
    this.isLocked = true
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.isLocked = false
      clearTimeout(this.#watch)
      const [next] = this.#waiting.keys()
      if (!next) return
      this.#waiting.delete(next)
      next()
      if (this.#waiting.size > 0) this.#watchOver()
    }
  }

  #watchOver(): void {
    if (this.#patience === undefined) return
    this.#watch = setTimeout(() => {
      for (const refuse of [...this.#waiting.values()])
        refuse(createStuckError(this.#patience! / 1000))
    }, this.#patience)
  }
}

function createStuckError(seconds: number): ToolError {
  return new ToolError(
    'CONFLICT',
    `another call on this state has not come to the end of its commit for ${seconds} seconds`,
    {
      retryable: true,
      suggestion:
        'Call it again; if that does not help, see that onEvent does not wait for a call on the same state',
    },
  )
}
