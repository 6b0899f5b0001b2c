import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isRunId } from '../../../../runner/folder/run-id.ts'
import { changedAt } from '../changed-at.ts'
import { listIds } from '../index/load-runs.ts'
import type { RunIndex } from '../index/run-index.ts'
import { startSlices } from '../slices.ts'

// Nobody tells of what changes inside the folder of a run that is over, such as somebody who resumes it; and some file systems tell nothing at all.
const LOOK_AGAIN_MS = 500
const NEWEST = 100
const SOME = 200

export type RootWatch = { close(): void }

export type WatchOptions = {
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
export function watchRoot({ root, index, isReady, onRun, onOther }: WatchOptions): RootWatch {
  let watcher: FSWatcher | undefined
  let above: FSWatcher | undefined
  let closed = false
  let changed = -1
  let next = 0
  let looking = false

  const open = (): void => {
    try {
      watcher = watch(root, (_kind, name) => {
        if (name !== null && isRunId(name)) onRun(name)
        else if (name === null || name === 'workflows') onOther()
      }).on('error', reopen)
      above?.close()
      above = undefined
    } catch {
      openAbove()
    }
  }
  // It is not there yet: the first run of a project makes it.
  const openAbove = (): void => {
    try {
      above ??= watch(dirname(root), (_kind, name) => {
        if (name === null || name === basename(root)) tick()
      }).on('error', () => undefined)
    } catch {
      /* nor is that */
    }
  }
  const reopen = (): void => {
    watcher?.close()
    watcher = undefined
  }
  // What came and went, by the names alone; only where the folder has changed.
  const compare = async (): Promise<void> => {
    const now = changedAt(root) ?? 0
    if (now === changed) return
    const ids = new Set(await listIds(root))
    const slices = startSlices()
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
    if (changedAt(root) === undefined) reopen()
    else if (!watcher) open()
    if (isReady()) await compare()
    const all = index.all()
    const slices = startSlices()
    if (next < NEWEST || next >= all.length) next = NEWEST
    for (const { row, changed: known } of [
      ...all.slice(0, NEWEST),
      ...all.slice(next, next + SOME),
    ]) {
      if (row.light) continue
      if ((changedAt(join(root, row.run_id)) ?? -1) !== known) onRun(row.run_id)
      await slices.rest()
      if (closed) return
    }
    next += SOME
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
  const timer = setInterval(tick, LOOK_AGAIN_MS).unref()
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
