import type { RunListChanges, RunRow } from '../../../src/views/model/api.ts'

/** Rows with others put in at their place, newest first; who is there already stays as it is. */
export function addRows(rows: readonly RunRow[], more: readonly RunRow[]): readonly RunRow[] {
  if (more.length === 0) return rows
  const known = new Set(rows.map(({ run_id }) => run_id))
  const fresh = more.filter(({ run_id }) => !known.has(run_id))
  return fresh.length === 0 ? rows : [...rows, ...fresh].sort(newestFirst)
}

/**
 * Rows after some news: changed, and without those that are gone or do not fit any more. `known`
 * are all that were there.
 */
export function changeRows(
  rows: readonly RunRow[],
  news: RunListChanges,
  fits: (row: RunRow) => boolean,
): { readonly rows: readonly RunRow[]; readonly known: ReadonlySet<string> } {
  const known = new Set(rows.map(({ run_id }) => run_id))
  const changed = new Map(
    news.rows.filter(({ run_id }) => known.has(run_id)).map((row) => [row.run_id, row]),
  )
  const removed = new Set(news.removed.filter((id) => known.has(id)))
  if (changed.size === 0 && removed.size === 0) return { rows, known }
  return {
    known,
    rows: rows.flatMap((row) => {
      const next = changed.get(row.run_id) ?? row
      return removed.has(row.run_id) || (next !== row && !fits(next)) ? [] : [next]
    }),
  }
}

function newestFirst(left: RunRow, right: RunRow): number {
  if (left.created !== right.created) return left.created < right.created ? 1 : -1
  return left.run_id < right.run_id ? 1 : -1
}
