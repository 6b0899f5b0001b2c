import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 8

/** Long work in slices, so that whoever waits for something else waits a few milliseconds. */
export type Slices = {
  /** Lets others have their turn, where the slice is used up. */
  rest(): Promise<void>
  /** Whether it is. */
  readonly used: boolean
}

/** Begins the first slice. */
export function startSlices(milliseconds = SLICE_MS): Slices {
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
