/**
 * Helpers of this folder: time slices for long work, a small cache of recent values, a serial
 * queue, and modification times.
 */

import { statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

const DEFAULT_SLICE_MS = 8

/** Long work in slices, so that whoever waits for something else waits a few milliseconds. */
type TimeSlices = {
  /** Lets others have their turn, where the slice is used up. */
  rest(): Promise<void>
  /** Whether it is. */
  readonly used: boolean
}

/** Begins the first slice. */
export function createTimeSlices(milliseconds = DEFAULT_SLICE_MS): TimeSlices {
  let began = performance.now()
  const isUsed = (): boolean => performance.now() - began >= milliseconds
  return {
    get used() {
      return isUsed()
    },
    async rest() {
      if (!isUsed()) return
      await nextTurn()
      began = performance.now()
    },
  }
}

/** The last few of something, by name: what nobody asked for longest goes first. */
export type RecentCache<Value> = {
  get(key: string, make: () => Value): Value
  delete(key: string): void
  readonly size: number
}

/** Keeps so many. */
export function createRecentCache<Value>(most: number): RecentCache<Value> {
  const kept = new Map<string, Value>()
  return {
    get(key, make) {
      const value = kept.has(key) ? kept.get(key)! : make()
      kept.delete(key)
      kept.set(key, value)
      if (kept.size > most) kept.delete(kept.keys().next().value!)
      return value
    },
    delete: (key) => void kept.delete(key),
    get size() {
      return kept.size
    },
  }
}

/**
 * Makes work of which only one piece is done at a time: each waits for the one before, however that
 * ended.
 */
export function serialize<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let before: Promise<unknown> = Promise.resolve()
  return () => {
    const mine = before.then(work, work)
    before = mine.catch(() => undefined)
    return mine
  }
}

/** When a file or folder was changed last, in milliseconds; undefined where nobody can tell. */
export function getModifiedMs(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs
  } catch {
    return undefined
  }
}
