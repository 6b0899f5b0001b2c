import type { RunEvent } from '../../../../../src/protocol/run-state.ts'

const MOST_AT_ONCE = 200
const LONGEST_FRAME_MS = 8
const MOST_WAITING = 50_000
const HIDDEN_PAUSE_MS = 500

/**
 * Takes events as they come and gives them on in portions, so that no flood of them stops the page.
 */
export type EventFeed = { push(events: readonly RunEvent[]): void; close(): void }

/**
 * Begins to feed. `take` gets the events in their order; `drawn` is called once for each picture of
 * the screen in which there were some; `overflow` instead of everything where more wait than it is
 * worth to take one by one.
 */
export function openFeed({
  take,
  drawn,
  overflow,
}: {
  take(event: RunEvent): void
  drawn(): void
  overflow(): void
}): EventFeed {
  let waiting: RunEvent[] = []
  let at = 0
  let cancel: (() => void) | undefined

  const drain = (): void => {
    cancel = undefined
    const began = performance.now()
    while (at < waiting.length && performance.now() - began < LONGEST_FRAME_MS) {
      for (const end = Math.min(at + MOST_AT_ONCE, waiting.length); at < end; at += 1)
        take(waiting[at]!)
    }
    if (at < waiting.length) schedule()
    else [waiting, at] = [[], 0]
    drawn()
  }
  // A hidden page draws nothing, but is to be true when somebody looks again.
  const schedule = (): void => {
    if (cancel) return
    if (document.hidden) {
      const timer = setTimeout(drain, HIDDEN_PAUSE_MS)
      cancel = () => clearTimeout(timer)
    } else {
      const frame = requestAnimationFrame(drain)
      cancel = () => cancelAnimationFrame(frame)
    }
  }
  const close = (): void => {
    cancel?.()
    cancel = undefined
    ;[waiting, at] = [[], 0]
  }
  return {
    push(events) {
      if (waiting.length - at + events.length > MOST_WAITING) {
        close()
        overflow()
        return
      }
      for (const event of events) waiting.push(event)
      schedule()
    },
    close,
  }
}
