/**
 * Fills the run index, newest runs first, and watches the folder of runs for changes.
 */

import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunId } from '../../runner/run-paths.ts'
import { TimeSlices } from '../../util/async.ts'
import { statOrUndefined, watchFolder } from '../../util/files.ts'
import { trackInlineExecutions } from './inline-executions.ts'
import { readRowCache, writeRowCache } from './row-cache.ts'
import type { RunIndex } from './run-index.ts'
import { createRunIndex } from './run-index.ts'
import type { RecordedQuestion } from './run-row.ts'
import type { RunTracker } from './run-tracker.ts'
import { createRunTracker } from './run-tracker.ts'

/** An index that is filled, newest runs first, and then held to what happens. */
type LiveRunIndex = {
  readonly index: RunIndex
  readonly keeper: RunTracker
  /** Whether every run is in it. */
  readonly complete: boolean
  /** Resolves when there is a page of runs, or all. */
  readonly first: Promise<void>
  lookForLight(): Promise<void>
  /** Something of the folder of a run has changed. */
  noticed(id: string, folder: string): void
  /** Resolves when a run without a folder is none any more, or by the signal. */
  untilGone(id: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const FIRST_PAGE_SIZE = 500
const NOTIFY_INTERVAL_MS = 250
const POLL_INTERVAL_MS = 500
/** One of so many. */
const CACHE_WRITE_SHARE = 20

/** Begins to fill an index. */
export function startRunIndexer({
  root,
  light,
  onSettled,
}: {
  readonly root: string
  readonly light: boolean
  readonly onSettled: (id: string, settled: readonly RecordedQuestion[]) => void
}): LiveRunIndex {
  const index = createRunIndex()
  const keeper = createRunTracker({
    root,
    index,
    onSettled: (id, settled) => {
      if (!complete) asked.add(id)
      onSettled(id, settled)
    },
  })
  const executions = light ? trackInlineExecutions(root, index) : undefined
  const asked = new Set<string>()
  let read = 0
  let complete = false
  let closed = false
  let tellFirst = (): void => undefined
  const first = new Promise<void>((resolve) => {
    tellFirst = resolve
  })
  // Before anything is read: what comes meanwhile is not missed.
  const watch = watchRunsFolder({
    root,
    index,
    isReady: () => complete,
    onRun: (id) => void keeper.look(id),
    onOther: () => void executions?.look(),
  })

  const load = async (): Promise<void> => {
    const slices = new TimeSlices()
    let told = performance.now()
    await executions?.look(true)
    const cache = await readRowCache(root)
    for (const id of await listRunIds(root, cache.known)) {
      if (closed) return
      const isNew = !index.get(id) || index.get(id)!.row.light === true
      const found = isNew ? cache.find(id) : undefined
      if (found) index.put(found, true)
      else if (isNew) {
        read += 1
        await keeper.look(id, true)
      }
      if (index.size >= FIRST_PAGE_SIZE) tellFirst()
      if (slices.isUsed) {
        await slices.rest()
        if (performance.now() - told > NOTIFY_INTERVAL_MS) {
          told = performance.now()
          index.touch()
        }
      }
    }
  }
  const loaded = load()
    .catch(() => undefined)
    .then(async () => {
      complete = true
      tellFirst()
      if (closed) return
      index.touch()
      // Write the cache when a good part of the runs was not in it.
      if (read * CACHE_WRITE_SHARE >= index.size)
        await writeRowCache(root, index, (id) => asked.has(id))
      asked.clear()
    })
  return {
    index,
    keeper,
    get complete() {
      return complete
    },
    first,
    lookForLight: async () => {
      await executions?.look()
    },
    noticed(id, folder) {
      if (statOrUndefined(folder)?.mtimeMs !== index.get(id)?.changed) void keeper.look(id)
    },
    async untilGone(id, signal) {
      while (!signal.aborted && !closed && index.get(id)?.row.light)
        await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
    },
    async close() {
      closed = true
      watch.close()
      executions?.close()
      await keeper.close()
      await loaded
    },
  }
}

// The watcher does not see changes inside the folders of runs, such as a resume, and some file
// systems report no changes.
const RECHECK_INTERVAL_MS = 500
const NEWEST_COUNT = 100
const BATCH_COUNT = 200

type RunsFolderWatch = { close(): void }

type RunsFolderWatchOptions = {
  readonly root: string
  readonly index: RunIndex
  /** Whether what was there before has been read. */
  readonly isReady: () => boolean
  /** A run came, went or changed. */
  readonly onRun: (id: string) => void
  /** Something of the executions without a folder may have changed. */
  readonly onOther: () => void
}

/** Watches a folder of runs, or the place where it will be. */
function watchRunsFolder({
  root,
  index,
  isReady,
  onRun,
  onOther,
}: RunsFolderWatchOptions): RunsFolderWatch {
  let watcher: ReturnType<typeof watchFolder>
  let above: ReturnType<typeof watchFolder>
  let closed = false
  let changed = -1
  let next = 0
  let looking = false

  const open = (): void => {
    const onChange = (name: string | null): void => {
      if (name !== null && isRunId(name)) onRun(name)
      else if (name === null || name === 'workflows') onOther()
    }
    watcher = watchFolder(root, onChange, { onError: reopen })
    if (watcher) {
      above?.close()
      above = undefined
      return
    }
    // The first run of a project creates the folder.
    above ??= watchFolder(dirname(root), (name) => {
      if (name === null || name === basename(root)) tick()
    })
  }
  const reopen = (): void => {
    watcher?.close()
    watcher = undefined
  }
  // What came and went, by the names alone; only where the folder has changed.
  const compare = async (): Promise<void> => {
    const now = statOrUndefined(root)?.mtimeMs ?? 0
    if (now === changed) return
    const ids = new Set(await listRunIds(root))
    const slices = new TimeSlices()
    const news = [...ids].filter((id) => !index.get(id) || index.get(id)!.row.light)
    const gone = index
      .all()
      .flatMap(({ row }) => (row.light || ids.has(row.run_id) ? [] : [row.run_id]))
    for (const id of [...news, ...gone]) {
      onRun(id)
      await slices.rest()
    }
    changed = now
  }
  const lookAgain = async (): Promise<void> => {
    if (statOrUndefined(root)?.mtimeMs === undefined) reopen()
    else if (!watcher) open()
    if (isReady()) await compare()
    const all = index.all()
    const slices = new TimeSlices()
    if (next < NEWEST_COUNT || next >= all.length) next = NEWEST_COUNT
    for (const { row, changed: known } of [
      ...all.slice(0, NEWEST_COUNT),
      ...all.slice(next, next + BATCH_COUNT),
    ]) {
      if (row.light) continue
      if ((statOrUndefined(join(root, row.run_id))?.mtimeMs ?? -1) !== known) onRun(row.run_id)
      await slices.rest()
      if (closed) return
    }
    next += BATCH_COUNT
  }
  const tick = (): void => {
    if (looking || closed) return
    looking = true
    void lookAgain()
      .catch(() => undefined)
      .finally(() => {
        looking = false
      })
  }
  const timer = setInterval(tick, RECHECK_INTERVAL_MS).unref()
  open()
  return {
    close() {
      closed = true
      clearInterval(timer)
      above?.close()
      reopen()
    },
  }
}

/**
 * The ids of the runs of a folder, those whose request was written last first; none where there is
 * no folder. `known` are times of some of them. In slices.
 */
async function listRunIds(
  root: string,
  known: ReadonlyMap<string, number> = new Map(),
): Promise<readonly string[]> {
  const { readdir } = await import('node:fs/promises')
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const slices = new TimeSlices()
  const found: { readonly id: string; readonly at: number }[] = []
  for (const entry of entries) {
    if (!isRunId(entry.name) || !entry.isDirectory()) continue
    found.push({
      id: entry.name,
      at:
        known.get(entry.name) ??
        statOrUndefined(join(root, entry.name, 'run.json'))?.mtimeMs ??
        Infinity,
    })
    await slices.rest()
  }
  return found.sort((left, right) => right.at - left.at).map(({ id }) => id)
}
