import { mkdirSync, readdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../../../../call/exclusive-file.ts'
import { isRunId } from '../../../../runner/folder/run-id.ts'
import { writeAtomically } from '../../../../runner/folder/write-atomically.ts'
import { diskProblem } from '../../../../runner/log/disk-problem.ts'
import type { LiveExecution } from './execution.ts'
import { segmentPaths } from './light-paths.ts'
import type { LightPaths } from './light-paths.ts'
import { readFolder } from './read-folder.ts'
import { ownerOf } from './segment-lock.ts'

/** So often the folder is looked into: a watch may miss something, and some file systems tell nothing. */
const LOOK_AGAIN_MS = 500
const LONGEST_REASON = 1000

/** Asks the process that has an execution to cancel it; gives what takes the request back. Throws what keeps the file from being written. */
export function requestCancel(paths: LightPaths, id: string, reason: string): () => void {
  const file = join(paths.cancels, id)
  try {
    mkdirSync(paths.cancels, { recursive: true, mode: 0o700 })
    writeAtomically(file, reason)
  } catch (error) {
    throw diskProblem(error, `cannot ask for the end of ${id}`)
  }
  return () => rmSync(file, { force: true })
}

/** Removes requests for what no living process has: they were meant for one that is gone. */
export async function dropLeftRequests(paths: LightPaths): Promise<void> {
  const ids = listRequests(paths)
  if (ids.length === 0) return
  const listed = await readFolder(paths)
  for (const id of ids) {
    const one = listed.get(id)
    if (!one || one.s !== undefined || !ownerOf(segmentPaths(paths, one.j)))
      rmSync(join(paths.cancels, id), { force: true })
  }
}

/** What an engine does to hear of requests. */
export type CancelListener = {
  /** Something goes on: requests for it are looked for until nothing does. Costs nothing as long as that is done already. */
  wake(): void
  close(): void
}

/** Cancels executions of this process that others ask the end of. They have a folder of their own, because that of the records changes all the time; what is over before the first look is never looked for. */
export function listenForCancels(
  paths: LightPaths,
  live: ReadonlyMap<string, Pick<LiveExecution, 'cancel'>>,
): CancelListener {
  let timer: NodeJS.Timeout | undefined
  let watcher: { close(): void } | undefined
  const look = (): void => {
    for (const id of listRequests(paths)) {
      const file = join(paths.cancels, id)
      // One that has ended meanwhile needs no cancelling, and one that lost its disk cannot be.
      void live
        .get(id)
        ?.cancel((readText(file) || 'cancelled').slice(0, LONGEST_REASON))
        .catch(() => undefined)
        .finally(() => rmSync(file, { force: true }))
    }
  }
  const close = (): void => {
    clearInterval(timer)
    watcher?.close()
    timer = watcher = undefined
  }
  const tick = (): void => {
    if (live.size === 0) return close()
    watcher ??= startWatch(paths.cancels, look)
    look()
  }
  return {
    wake() {
      timer ??= setInterval(tick, LOOK_AGAIN_MS).unref()
    },
    close,
  }
}

function listRequests({ cancels }: LightPaths): string[] {
  try {
    return readdirSync(cancels).filter(isRunId)
  } catch {
    return []
  }
}

function startWatch(folder: string, onChange: () => void): { close(): void } | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return watch(folder, { persistent: false }, onChange).on('error', () => undefined)
  } catch {
    return undefined
  }
}
