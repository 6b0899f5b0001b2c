import { setTimeout as sleep } from 'node:timers/promises'
import type { RowsNews } from '../../../model/wire/others.ts'
import type { RunIndex } from './run-index.ts'

// At most about twenty pieces a second for each who listens; whatever comes meanwhile is in the next one.
const PAUSE_MS = 45
const MOST_ROWS = 500

/** News of the list for one listener. Nothing is kept for it: what changed since its last piece is looked up when it asks for the next, so that a slow one gets fewer and fuller ones. Without `after` the first piece comes at once, with counts and no rows. */
export async function* newsOf(
  index: RunIndex,
  after: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<{ readonly version: number; readonly news: RowsNews }> {
  // A version of the future is one of another start.
  let at = after !== undefined && after <= index.version ? after : undefined
  if (at === undefined) {
    at = index.version
    yield { version: at, news: newsWith(index, [], []) }
  }
  while (!signal.aborted) {
    if (index.version === at) {
      await untilChange(index, signal)
      continue
    }
    const { version, rows, removed } = index.since(at, MOST_ROWS)
    at = version
    yield { version, news: newsWith(index, rows, removed) }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

function newsWith(index: RunIndex, rows: RowsNews['rows'], removed: RowsNews['removed']): RowsNews {
  return { rows, removed, counts: index.counts(), open: index.open, total: index.size }
}

function untilChange(index: RunIndex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stop = index.onChange(done)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
}
