/**
 * Cancel requests between processes: one process writes a file, the process that runs the execution
 * cancels it.
 */

import { mkdirSync, readdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { toDiskError } from '../../runner/files.ts'
import { isRunId } from '../../runner/run-paths.ts'
import { readTextFile } from '../../util/files.ts'
import { writeFileAtomic } from '../../util/lock-file.ts'
import type { LiveExecution } from './execution.ts'
import type { InlinePaths } from './segment-files.ts'
import { getSegmentOwner, getSegmentPaths } from './segment-files.ts'
import { readExecutionIndex } from './segment-reader.ts'

/**
 * So often the folder is looked into: a watch may miss something, and some file systems tell
 * nothing.
 */
const CANCEL_POLL_MS = 500
const MAX_REASON_LENGTH = 1000

/**
 * Asks the process that has an execution to cancel it; gives what takes the request back. Throws
 * what keeps the file from being written.
 */
export function requestCancel(paths: InlinePaths, id: string, reason: string): () => void {
  const file = join(paths.cancels, id)
  try {
    mkdirSync(paths.cancels, { recursive: true, mode: 0o700 })
    writeFileAtomic(file, reason)
  } catch (error) {
    throw toDiskError(error, `cannot ask for the end of ${id}`)
  }
  return () => rmSync(file, { force: true })
}

/** Removes requests for what no living process has: they were meant for one that is gone. */
export async function dropStaleRequests(paths: InlinePaths): Promise<void> {
  const ids = listCancelRequests(paths)
  if (ids.length === 0) return
  const listed = await readExecutionIndex(paths)
  for (const id of ids) {
    const one = listed.get(id)
    if (!one || one.s !== undefined || !getSegmentOwner(getSegmentPaths(paths, one.j)))
      rmSync(join(paths.cancels, id), { force: true })
  }
}

/** What an engine does to hear of requests. */
export type CancelListener = {
  /**
   * Something goes on: requests for it are looked for until nothing does. Costs nothing as long as
   * that is done already.
   */
  wake(): void
  close(): void
}

/**
 * Cancels executions of this process that others ask the end of. They have a folder of their own,
 * because that of the records changes all the time; what is over before the first look is never
 * looked for.
 */
export function listenForCancels(
  paths: InlinePaths,
  live: ReadonlyMap<string, Pick<LiveExecution, 'cancel'>>,
): CancelListener {
  let timer: NodeJS.Timeout | undefined
  let watcher: { close(): void } | undefined
  const look = (): void => {
    for (const id of listCancelRequests(paths)) {
      const file = join(paths.cancels, id)
      // One that has ended meanwhile needs no cancelling, and one that lost its disk cannot be.
      void live
        .get(id)
        ?.cancel((readTextFile(file) || 'cancelled').slice(0, MAX_REASON_LENGTH))
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
    watcher ??= tryWatch(paths.cancels, look)
    look()
  }
  return {
    wake() {
      timer ??= setInterval(tick, CANCEL_POLL_MS).unref()
    },
    close,
  }
}

function listCancelRequests({ cancels }: InlinePaths): string[] {
  try {
    return readdirSync(cancels).filter(isRunId)
  } catch {
    return []
  }
}

function tryWatch(folder: string, onChange: () => void): { close(): void } | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return watch(folder, { persistent: false }, onChange).on('error', () => undefined)
  } catch {
    return undefined
  }
}
