const FIRST_MS = 1000
const LONGEST_MS = 60_000
const MOST_KEPT = 1000

/** Remembers what did not start, so that it is not tried again at once. */
export class Backoff {
  readonly #failures = new Map<
    string,
    { readonly until: number; readonly pause: number; readonly why: string }
  >()

  /** Why something is not to be tried now; undefined where it may be. */
  reason(key: string): string | undefined {
    const failure = this.#failures.get(key)
    return failure && performance.now() < failure.until ? failure.why : undefined
  }

  failed(key: string, why: string): void {
    const pause = Math.min(LONGEST_MS, (this.#failures.get(key)?.pause ?? FIRST_MS / 2) * 2)
    this.#failures.delete(key)
    if (this.#failures.size >= MOST_KEPT) this.#failures.delete(this.#failures.keys().next().value!)
    this.#failures.set(key, { until: performance.now() + pause, pause, why })
  }

  worked(key: string): void {
    this.#failures.delete(key)
  }
}
