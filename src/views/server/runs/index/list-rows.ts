import { ToolError } from '../../../../contract/tool-error.ts'
import { matches, readFilter } from '../../../model/filter/run-filter.ts'
import type { RunPage, RunRow } from '../../../model/wire/run-row.ts'
import { numberIn } from '../events/run-events.ts'
import { emptyCounts, isNewer } from './run-index.ts'
import type { RunIndex } from './run-index.ts'

const DEFAULT_LIMIT = 100
const MOST_ROWS = 500

/** A page of the rows of an index, newest first. A page that goes on behind another one is the same whatever has come in the meantime. Throws INVALID_INPUT for a place that is none. */
export function listRows(
  index: RunIndex,
  query: URLSearchParams,
  { now, complete }: { readonly now: number; readonly complete: boolean },
): RunPage {
  const filter = readFilter(query, now)
  const limit = Math.max(1, numberIn(query, 'limit', MOST_ROWS) ?? DEFAULT_LIMIT)
  const before = readCursor(query.get('before'))
  const counts = emptyCounts()
  const rows: RunRow[] = []
  let matching = 0
  let more = false
  for (const { row } of index.all()) {
    if (!matches(filter, row, { anyState: true })) continue
    counts[row.state] += 1
    if (filter.states && !filter.states.includes(row.state)) continue
    matching += 1
    if (before && !isNewer(before, row)) continue
    if (rows.length < limit) rows.push(row)
    else more = true
  }
  const last = rows.at(-1)
  return {
    rows,
    counts,
    matching,
    total: index.size,
    ...(more && last && { next: cursorOf(last) }),
    complete,
  }
}

type Place = Pick<RunRow, 'created' | 'run_id'>

function cursorOf({ created, run_id }: Place): string {
  return `${Date.parse(created).toString(36)}.${run_id}`
}

function readCursor(text: string | null): Place | undefined {
  if (text === null || text === '') return undefined
  const [, at, run_id] = /^(-?[0-9a-z]{1,11})\.(r-[0-9a-f]{10})$/.exec(text) ?? []
  const time = parseInt(at ?? '', 36)
  if (run_id === undefined || !(Math.abs(time) <= 8.64e15))
    throw new ToolError('INVALID_INPUT', 'before is not where a page ended', {
      field: 'before',
      suggestion: 'Give the next of the page before',
    })
  return { created: new Date(time).toISOString(), run_id }
}
