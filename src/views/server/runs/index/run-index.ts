import { RUN_STATES } from '../../../../contract/run-state.ts'
import type { RunState } from '../../../../contract/run-state.ts'
import type { RunRow, StateCounts } from '../../../model/wire/run-row.ts'
import type { Asked } from '../row/standing.ts'

/** A run in memory: its row, and the little that other questions need. */
export type Entry = {
  readonly row: RunRow
  /** The version of the list in which it changed last; 0 since it was first read. */
  readonly version: number
  /** When its folder changed last, milliseconds. */
  readonly changed: number
  /** It has a plan. */
  readonly planned: boolean
  /** Nobody has looked yet which questions it asked. */
  readonly unscanned: boolean
  /** Questions of a workflow that nobody performs. */
  readonly left?: readonly Asked[]
}

export type NewEntry = Omit<Entry, 'version'>

/** What changed since a version: rows in the order of their changes. */
export type Changes = {
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
  get(id: string): Entry | undefined
  /** Newest first. It changes with the index: whoever waits in between takes a copy. */
  all(): readonly Entry[]
  /** Takes a run in, or what became of it. `quietly`: it was there before anybody looked, and is no news. */
  put(entry: NewEntry, quietly?: boolean): void
  remove(id: string): void
  /** At most so many changes, the oldest first. */
  since(version: number, most: number): Changes
  /** Called at each change. */
  onChange(listener: () => void): () => void
  /** Says that something about the whole has changed. */
  touch(): void
}

const MOST_REMOVED = 20_000

/** Makes an empty index. */
export function createRunIndex(): RunIndex {
  const entries = new Map<string, Entry>()
  // Newest first; thousands are put behind the last when it is filled.
  const order: Entry[] = []
  const removed = new Map<string, number>()
  const counts: Record<RunState, number> = emptyCounts()
  const listeners = new Set<() => void>()
  // Each change, the oldest first; what changed again since is passed over, and taken out in time.
  let changes: { readonly id: string; readonly version: number }[] = []
  let version = 1
  let open = 0

  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  const count = ({ row }: Entry, by: 1 | -1): void => {
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
  const isCurrent = ({
    id,
    version: at,
  }: {
    readonly id: string
    readonly version: number
  }): boolean => (entries.get(id)?.version ?? removed.get(id)) === at
  const placeOf = (row: RunRow): number => {
    const last = order.at(-1)
    if (last && isNewer(last.row, row)) return order.length
    let [from, to] = [0, order.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (isNewer(order[middle]!.row, row)) from = middle + 1
      else to = middle
    }
    return from
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
      const kept: Entry = {
        ...entry,
        version: isSame ? before.version : quietly && !before ? 0 : note(run_id),
      }
      if (before) {
        count(before, -1)
        const place = placeOf(before.row)
        if (before.row.created === entry.row.created) order[place] = kept
        else {
          order.splice(place, 1)
          order.splice(placeOf(kept.row), 0, kept)
        }
      } else order.splice(placeOf(kept.row), 0, kept)
      entries.set(run_id, kept)
      count(kept, 1)
      if (kept.version > 0 && !isSame) tell()
    },
    remove(id) {
      const before = entries.get(id)
      if (!before) return
      count(before, -1)
      order.splice(placeOf(before.row), 1)
      entries.delete(id)
      removed.set(id, note(id))
      // The first that was put in is the oldest.
      if (removed.size > MOST_REMOVED) removed.delete(removed.keys().next().value!)
      tell()
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
      tell()
    },
  }
}

/** For sorting: whether a run comes before another one in lists. Runs of the same moment come in the order of their ids. */
export function isNewer(
  left: Pick<RunRow, 'created' | 'run_id'>,
  right: Pick<RunRow, 'created' | 'run_id'>,
): boolean {
  return left.created === right.created ? left.run_id < right.run_id : left.created > right.created
}

/** No runs. */
export function emptyCounts(): Record<RunState, number> {
  return Object.fromEntries(RUN_STATES.map((state) => [state, 0])) as Record<RunState, number>
}
