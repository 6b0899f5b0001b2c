import type { ProcessRow } from '../process-table.ts'

/** Adds up the processor time of a tree, in seconds; it never goes down. */
export function countProcessorTime(): (rows: readonly ProcessRow[]) => number {
  let living: ReadonlyMap<string, number> = new Map()
  let ofTheDead = 0
  let most = 0
  return (rows) => {
    const now = new Map(rows.map(({ pid, start, own }) => [`${pid} ${start}`, own]))
    for (const [process, own] of living) if (!now.has(process)) ofTheDead += own
    living = now
    // Whoever was waited for is in the sum of its parent; whoever was not, because its parent does not care, was seen while it lived.
    const withWaitedFor = sum(rows.map(({ used }) => used))
    most = Math.max(most, withWaitedFor, ofTheDead + sum([...now.values()]))
    return most / 1000
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
