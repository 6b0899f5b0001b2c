const FIRST = 250
const LONGEST = 30_000

/** How long to wait before something that fails is tried again: not at all after the first failure, then twice as long each time. */
export type Backoff = {
  failed(): void
  worked(): void
  failures(): number
  /** Milliseconds until it may be tried again. */
  remaining(): number
}

/** Starts without failures. */
export function backoff(now: () => number = () => performance.now()): Backoff {
  let failures = 0
  let notBefore = 0
  return {
    failed() {
      failures += 1
      notBefore = failures === 1 ? 0 : now() + Math.min(LONGEST, FIRST * 2 ** (failures - 2))
    },
    worked() {
      failures = 0
      notBefore = 0
    },
    failures: () => failures,
    remaining: () => Math.max(0, notBefore - now()),
  }
}
