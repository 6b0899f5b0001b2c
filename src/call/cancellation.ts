/** Whatever says that something shall end. */
export type Stopping = AbortSignal | Cancellation

/** What ends a call from outside: an AbortSignal without its events, for servers that make one for every request and for programs that start for one call. */
export class Cancellation {
  /** Why it was cancelled; undefined as long as it was not. */
  reason: Error | undefined
  #reactions: Set<() => void> | undefined
  #controller: AbortController | undefined

  get aborted(): boolean {
    return this.reason !== undefined
  }

  /** Cancels; the first reason counts. */
  cancel(reason: Error): void {
    if (this.reason) return
    this.reason = reason
    const reactions = this.#reactions
    this.#reactions = undefined
    for (const react of reactions ?? []) react()
  }

  /** The same as an AbortSignal, for those who need one. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = (this.#controller = new AbortController())
      if (this.reason) controller.abort(this.reason)
      else this.onCancel(() => controller.abort(this.reason))
    }
    return this.#controller.signal
  }

  /** Calls `react` when it is cancelled; gives the function that stops it. */
  onCancel(react: () => void): () => void {
    const reactions = (this.#reactions ??= new Set())
    reactions.add(react)
    return () => void reactions.delete(react)
  }
}
