import type { ProcessRow } from '../process-table.ts'
import { listChildrenOf, readProcess } from '../process-table.ts'

/** More than any tree has that is not caught already. */
const MOST = 20_000

/** A tree of processes that is looked at again and again. What was seen in it once stays part of it, also when its parents are gone. */
export type TrackedTree = {
  /** Who lives now. */
  look(): readonly ProcessRow[]
  /** Everybody who was there at the last look. */
  known(): readonly ProcessRow[]
}

/** Follows the tree that begins with this process; it may not be known yet. */
export function trackTree(root: () => number | undefined): TrackedTree {
  let seen: ReadonlyMap<number, ProcessRow> = new Map()
  return {
    known: () => [...seen.values()],
    look() {
      const first = root()
      const found = new Map<number, ProcessRow>()
      const queue: { readonly pid: number; readonly start?: string }[] =
        first === undefined ? [] : [{ pid: first }, ...seen.values()]
      for (const { pid, start } of queue) {
        if (found.has(pid) || found.size >= MOST) continue
        const row = readProcess(pid)
        // The number may belong to somebody else by now.
        if (!row || (start !== undefined && row.start !== start)) continue
        found.set(pid, row)
        for (const child of listChildrenOf(row)) queue.push({ pid: child })
      }
      seen = found
      return [...found.values()]
    },
  }
}
