/**
 * The index of all runs: newest first, with versions, so that lists are pages and listeners get
 * only what changed.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { RunState } from '../../protocol/run-state.ts'
import { RUN_STATES } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { RunListChanges, RunPage, RunRow, StateCounts } from '../model/api.ts'
import { matchesRunFilter, parseRunFilter } from '../model/run-filter.ts'
import { findBoundary } from './event-index.ts'
import { parseNumberParam } from './event-pages.ts'
import type { RecordedQuestion } from './run-row.ts'

/** A run in memory: its row, and the little that other questions need. */
export type RunIndexEntry = {
  readonly row: RunRow
  /** The version of the list in which it changed last; 0 since it was first read. */
  readonly version: number
  /** When its folder changed last, milliseconds. */
  readonly changed: number
  /** It has a plan. */
  readonly planned: boolean
  /** Its record was not scanned for questions yet. */
  readonly unscanned: boolean
  /** Open questions of a workflow that is not running. */
  readonly left?: readonly RecordedQuestion[]
}

export type NewRunIndexEntry = Omit<RunIndexEntry, 'version'>

/** What changed since a version: rows in the order of their changes. */
type RunIndexChanges = {
  readonly version: number
  readonly rows: readonly RunRow[]
  readonly removed: readonly string[]
}

/** Every run, newest first, and what changed when. */
export type RunIndex = {
  readonly version: number
  readonly size: number
  /** Open questions. */
  readonly open: number
  /** How many there are in each state. */
  counts(): StateCounts
  get(id: string): RunIndexEntry | undefined
  /** Newest first. The list is live: copy it before awaiting. */
  all(): readonly RunIndexEntry[]
  /**
   * Takes a run in, or what became of it. `quietly`: it was there before anybody looked, and is no
   * news.
   */
  put(entry: NewRunIndexEntry, quietly?: boolean): void
  remove(id: string): void
  /** At most so many changes, the oldest first. */
  since(version: number, most: number): RunIndexChanges
  /** Called at each change. */
  onChange(listener: () => void): () => void
  /** Says that something about the whole has changed. */
  touch(): void
}

type IndexChange = { readonly id: string; readonly version: number }

const MAX_REMOVED = 20_000

/** Makes an empty index. */
export function createRunIndex(): RunIndex {
  const entries = new Map<string, RunIndexEntry>()
  // Newest first; thousands are put behind the last when it is filled.
  const order: RunIndexEntry[] = []
  const removed = new Map<string, number>()
  const counts: Record<RunState, number> = createStateCounts()
  const listeners = new Set<() => void>()
  // Each change, the oldest first; what changed again since is passed over, and taken out in time.
  let changes: IndexChange[] = []
  let version = 1
  let open = 0

  const emitChange = (): void => {
    for (const listener of listeners) listener()
  }
  const count = ({ row }: RunIndexEntry, by: 1 | -1): void => {
    counts[row.state] += by
    open += by * row.questions
  }
  const note = (id: string): number => {
    version += 1
    changes.push({ id, version })
    if (changes.length > 2 * (entries.size + removed.size) + 1000)
      changes = changes.filter(isCurrent)
    return version
  }
  const isCurrent = ({ id, version: at }: IndexChange): boolean =>
    (entries.get(id)?.version ?? removed.get(id)) === at
  const findPlace = (row: RunRow): number => {
    const last = order.at(-1)
    if (last && isNewer(last.row, row)) return order.length
    return findBoundary(order.length, (place) => isNewer(order[place]!.row, row))
  }

  return {
    get version() {
      return version
    },
    get size() {
      return entries.size
    },
    get open() {
      return open
    },
    counts: () => ({ ...counts }),
    get: (id) => entries.get(id),
    all: () => order,
    put(entry, quietly = false) {
      const { run_id } = entry.row
      const before = entries.get(run_id)
      removed.delete(run_id)
      const isSame =
        before !== undefined && JSON.stringify(before.row) === JSON.stringify(entry.row)
      const isNews = !isSame && (before !== undefined || !quietly)
      const kept: RunIndexEntry = {
        ...entry,
        version: isNews ? note(run_id) : (before?.version ?? 0),
      }
      if (before) {
        count(before, -1)
        const place = findPlace(before.row)
        if (before.row.created === entry.row.created) order[place] = kept
        else {
          order.splice(place, 1)
          order.splice(findPlace(kept.row), 0, kept)
        }
      } else order.splice(findPlace(kept.row), 0, kept)
      entries.set(run_id, kept)
      count(kept, 1)
      if (isNews) emitChange()
    },
    remove(id) {
      const before = entries.get(id)
      if (!before) return
      count(before, -1)
      order.splice(findPlace(before.row), 1)
      entries.delete(id)
      removed.set(id, note(id))
      // The first that was put in is the oldest.
      if (removed.size > MAX_REMOVED) removed.delete(removed.keys().next().value!)
      emitChange()
    },
    since(after, most) {
      let from = changes.length
      while (from > 0 && changes[from - 1]!.version > after) from -= 1
      const rows: RunRow[] = []
      const gone: string[] = []
      let reached = after
      for (const change of changes.slice(from)) {
        if (rows.length + gone.length >= most) return { version: reached, rows, removed: gone }
        reached = change.version
        if (!isCurrent(change)) continue
        const entry = entries.get(change.id)
        if (entry) rows.push(entry.row)
        else gone.push(change.id)
      }
      return { version, rows, removed: gone }
    },
    onChange(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    touch() {
      version += 1
      emitChange()
    },
  }
}

/**
 * For sorting: whether a run comes before another one in lists. Runs of the same moment come in the
 * order of their ids.
 */
function isNewer(
  left: Pick<RunRow, 'created' | 'run_id'>,
  right: Pick<RunRow, 'created' | 'run_id'>,
): boolean {
  return left.created === right.created ? left.run_id < right.run_id : left.created > right.created
}

/** No runs. */
function createStateCounts(): Record<RunState, number> {
  return Object.fromEntries(RUN_STATES.map((state) => [state, 0])) as Record<RunState, number>
}

const DEFAULT_ROW_LIMIT = 100
const MAX_ROWS = 500

/**
 * A page of the rows of an index, newest first. A page that goes on behind another one is the same
 * whatever has come in the meantime. Throws INVALID_INPUT for a place that is none.
 */
export function listRunPage(
  index: RunIndex,
  query: URLSearchParams,
  { now, complete }: { readonly now: number; readonly complete: boolean },
): RunPage {
  const filter = parseRunFilter(query, now)
  const limit = Math.max(1, parseNumberParam(query, 'limit', MAX_ROWS) ?? DEFAULT_ROW_LIMIT)
  const before = parseCursor(query.get('before'))
  const counts = createStateCounts()
  const rows: RunRow[] = []
  let matching = 0
  let more = false
  for (const { row } of index.all()) {
    if (!matchesRunFilter(filter, row, { anyState: true })) continue
    counts[row.state] += 1
    if (filter.states && !filter.states.includes(row.state)) continue
    matching += 1
    if (before && !isNewer(before, row)) continue
    if (rows.length < limit) rows.push(row)
    else more = true
  }
  const last = rows.at(-1)
  return compact({
    rows,
    counts,
    matching,
    total: index.size,
    next: more && last ? toCursor(last) : undefined,
    complete,
  })
}

type RowCursor = Pick<RunRow, 'created' | 'run_id'>

function toCursor({ created, run_id }: RowCursor): string {
  return `${Date.parse(created).toString(36)}.${run_id}`
}

function parseCursor(text: string | null): RowCursor | undefined {
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

// At most about twenty pieces a second for each who listens; whatever comes meanwhile is in the
// next one.
const CHANGE_PAUSE_MS = 45
const MAX_CHANGED_ROWS = 500

/**
 * News of the list for one listener. Nothing is kept for it: what changed since its last piece is
 * looked up when it asks for the next, so that a slow one gets fewer and fuller ones. Without
 * `after` the first piece comes at once, with counts and no rows.
 */
export async function* streamChanges(
  index: RunIndex,
  after: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<{ readonly version: number; readonly news: RunListChanges }> {
  // A version of the future is one of another start.
  let at = after !== undefined && after <= index.version ? after : undefined
  if (at === undefined) {
    at = index.version
    yield { version: at, news: toListChanges(index, [], []) }
  }
  while (!signal.aborted) {
    if (index.version === at) {
      await waitForChange(index, signal)
      continue
    }
    const { version, rows, removed } = index.since(at, MAX_CHANGED_ROWS)
    at = version
    yield { version, news: toListChanges(index, rows, removed) }
    await sleep(CHANGE_PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

function toListChanges(
  index: RunIndex,
  rows: RunListChanges['rows'],
  removed: RunListChanges['removed'],
): RunListChanges {
  return { rows, removed, counts: index.counts(), open: index.open, total: index.size }
}

function waitForChange(index: RunIndex, signal: AbortSignal): Promise<void> {
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
