import { setTimeout as sleep } from 'node:timers/promises'
import { changedAt } from '../changed-at.ts'
import { watchRoot } from '../live/watch-root.ts'
import type { Asked } from '../row/standing.ts'
import { startSlices } from '../slices.ts'
import { keepLight } from './keep-light.ts'
import { keepRuns } from './keep-runs.ts'
import type { RunKeeper } from './keep-runs.ts'
import { listIds } from './load-runs.ts'
import { readRowCache, writeRowCache } from './row-cache.ts'
import { createRunIndex } from './run-index.ts'
import type { RunIndex } from './run-index.ts'

/** An index that is filled, newest runs first, and then held to what happens. */
export type KeptIndex = {
  readonly index: RunIndex
  readonly keeper: RunKeeper
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

const ENOUGH = 500
const TELL_MS = 250
const LOOK_MS = 500
/** One of so many. */
const WORTH_IT = 20

/** Begins to fill an index. */
export function keepIndex({
  root,
  light,
  onSettled,
}: {
  readonly root: string
  readonly light: boolean
  readonly onSettled: (id: string, settled: readonly Asked[]) => void
}): KeptIndex {
  const index = createRunIndex()
  const keeper = keepRuns({
    root,
    index,
    onSettled: (id, settled) => {
      if (!complete) asked.add(id)
      onSettled(id, settled)
    },
  })
  const executions = light ? keepLight(root, index) : undefined
  const asked = new Set<string>()
  let read = 0
  let complete = false
  let closed = false
  let tellFirst = (): void => undefined
  const first = new Promise<void>((resolve) => {
    tellFirst = resolve
  })
  // Before anything is read: what comes meanwhile is not missed.
  const watch = watchRoot({
    root,
    index,
    isReady: () => complete,
    onRun: (id) => void keeper.look(id),
    onOther: () => void executions?.look(),
  })

  const load = async (): Promise<void> => {
    const slices = startSlices()
    let told = performance.now()
    await executions?.look(true)
    const cache = await readRowCache(root)
    for (const id of await listIds(root, cache.known)) {
      if (closed) return
      const isNew = !index.get(id) || index.get(id)!.row.light === true
      const found = isNew ? cache.find(id) : undefined
      if (found) index.put(found, true)
      else if (isNew) {
        read += 1
        await keeper.look(id, true)
      }
      if (index.size >= ENOUGH) tellFirst()
      if (slices.used) {
        await slices.rest()
        if (performance.now() - told > TELL_MS) {
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
      // Where a good part was read anew, the next start is spared that.
      if (read * WORTH_IT >= index.size) await writeRowCache(root, index, (id) => asked.has(id))
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
      if (changedAt(folder) !== index.get(id)?.changed) void keeper.look(id)
    },
    async untilGone(id, signal) {
      while (!signal.aborted && !closed && index.get(id)?.row.light)
        await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
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
