/** What ends a call from outside: an AbortSignal without its events, for servers that make one for every request. */
export class Cancellation {
  /** Why it was cancelled; undefined as long as it was not. */
  reason: Error | undefined
  #reactions: Set<() => void> | undefined

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

  /** Calls `react` when it is cancelled; gives the function that stops it. */
  onCancel(react: () => void): () => void {
    const reactions = (this.#reactions ??= new Set())
    reactions.add(react)
    return () => void reactions.delete(react)
  }
}
