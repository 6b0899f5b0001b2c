import type { PatternFinder } from './find-patterns.ts'
import { cutOut } from './replace.ts'

/** Takes secrets out of bytes that come in chunks, also where a chunk ends in the middle of one. Only what may be the beginning of a secret is kept back. */
export type RedactingStream = { push(chunk: Buffer): Buffer; finish(): Buffer }

const EMPTY = Buffer.alloc(0)

/** Begins a stream. */
export function redactStream(finder: PatternFinder): RedactingStream {
  let held = EMPTY
  // So many bytes of what is held belong to a secret that has its mark already.
  let covered = 0
  return {
    push(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const ranges = finder.find(bytes)
      const safe = finder.findBeginning(bytes)
      if (ranges.length === 0 && safe === bytes.length && covered === 0) {
        held = EMPTY
        return bytes
      }
      const out = cutOut(bytes, ranges, safe, covered)
      const reach = lastEndBefore(ranges, safe, covered)
      // A copy, so that a short rest does not keep a whole chunk in memory.
      held = Buffer.from(bytes.subarray(safe))
      covered = Math.max(0, reach - safe)
      return out
    },
    finish() {
      const out = cutOut(held, finder.find(held), held.length, covered)
      held = EMPTY
      covered = 0
      return out
    },
  }
}

/** Where what has its mark ends: the furthest end of the ranges that begin before `safe`. */
function lastEndBefore(ranges: readonly number[], safe: number, covered: number): number {
  let reach = covered
  for (let index = 0; index < ranges.length && ranges[index]! < safe; index += 2)
    reach = Math.max(reach, ranges[index + 1]!)
  return reach
}
