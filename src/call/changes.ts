import type { ChangeListener, ToolsetChange } from './servable.ts'

/** Those who want to hear of changes, in the order in which they came. */
export type Changes = {
  listen(listener: ChangeListener): () => void
  announce(change: ToolsetChange): void
}

/** Starts without anybody who listens. */
export function createChanges(): Changes {
  const listeners = new Set<{ readonly hear: ChangeListener }>()
  return {
    listen(listener) {
      // Wrapped, so that a function that listens twice is told twice and stops once at a time.
      const entry = { hear: listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    announce(change) {
      for (const { hear } of [...listeners]) {
        try {
          hear(change)
        } catch {
          /* one who cannot listen must not keep the news from the others */
        }
      }
    },
  }
}
