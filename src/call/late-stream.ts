import type { CallEvent } from '../contract/events.ts'

/** A stream that is opened by the first look at it. A reader may leave at any time, also while nothing comes. */
export function openLate(
  open: () => Promise<AsyncIterableIterator<CallEvent>>,
): AsyncIterableIterator<CallEvent> {
  let opened: Promise<AsyncIterableIterator<CallEvent>> | undefined
  let left = false
  const done = { done: true, value: undefined } as const
  return {
    async next() {
      if (left && !opened) return done
      return (await (opened ??= open())).next()
    },
    async return() {
      left = true
      return (await (await opened)?.return?.()) ?? done
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
