import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchRoot } from '../live/watch-root.ts'
import type { Asked } from '../row/standing.ts'
import { startSlices } from '../slices.ts'
import { keepLight } from './keep-light.ts'
import { keepRuns } from './keep-runs.ts'
import type { RunKeeper } from './keep-runs.ts'
import { listIds } from './load-runs.ts'
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

/** Begins to fill an index. */
export function keepIndex({ root, light, onSettled }: { readonly root: string; readonly light: boolean; readonly onSettled: (id: string, settled: readonly Asked[]) => void }): KeptIndex {
  const index = createRunIndex()
  const keeper = keepRuns({ root, index, onSettled })
  const executions = light ? keepLight(root, index) : undefined
  let complete = false
  let closed = false
  let tellFirst = (): void => undefined
  const first = new Promise<void>((resolve) => { tellFirst = resolve })
  // Before anything is read: what comes meanwhile is not missed.
  const watch = watchRoot({ root, index, isReady: () => complete, onRun: (id) => void keeper.look(id), onOther: () => void executions?.look() })

  const load = async (): Promise<void> => {
    const slices = startSlices()
    let told = performance.now()
    await executions?.look(true)
    for (const id of await listIds(root)) {
      if (closed) return
      if (!index.get(id) || index.get(id)!.row.light) await keeper.look(id, true)
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
  const loaded = load().catch(() => undefined).then(() => {
    complete = true
    tellFirst()
    if (!closed) index.touch()
  })
  return {
    index,
    keeper,
    get complete() { return complete },
    first,
    lookForLight: async () => { await executions?.look() },
    noticed(id, folder) {
      if (statSync(folder, { throwIfNoEntry: false })?.mtimeMs !== index.get(id)?.changed) void keeper.look(id)
    },
    async untilGone(id, signal) {
      while (!signal.aborted && !closed && index.get(id)?.row.light) await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
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
