import type { RunningCall } from '../running.ts'

/** Something that one call has at a time; the others wait in the order in which they came. */
export class Turns {
  isTaken = false
  readonly #waiting = new Set<() => void>()

  /** Gives the function that passes the turn on: at once where nobody has it. A call that is ended from outside while it waits leaves the queue. */
  take(call?: Pick<RunningCall, 'onFail'>): (() => void) | Promise<() => void> {
    if (!this.isTaken) return this.#begin()
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        stopListening?.()
        resolve(this.#begin())
      }
      this.#waiting.add(begin)
      const stopListening = call?.onFail((error) => {
        this.#waiting.delete(begin)
        reject(error)
      })
    })
  }

  #begin(): () => void {
    this.isTaken = true
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.isTaken = false
      const [next] = this.#waiting
      if (!next) return
      this.#waiting.delete(next)
      next()
    }
  }
}
