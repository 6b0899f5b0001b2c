/**
 * Executions in a folder as other processes see them: lists, finds and follows them, and asks the
 * process that runs one to cancel it.
 */

import { mkdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import { toDiskError } from '../../runner/files.ts'
import { compareNewestFirst } from '../../runner/find-run.ts'
import { followLines } from '../../runner/log-reader.ts'
import { isRunId } from '../../runner/run-paths.ts'
import { listNames, readTextFile } from '../../util/files.ts'
import { writeFileAtomic } from '../../util/lock-file.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import type { Execution, ExecutionFilter, WorkflowQuestion } from '../engine.ts'
import { matchesFilter, toStepError } from '../engine.ts'
import type { LiveExecution } from './execution.ts'
import type { BeginRecord, ExecutionRecord } from './journal-records.ts'
import {
  isJournalRecord,
  toExecutionHead,
  toFinishedExecution,
  toOpenExecution,
} from './journal-records.ts'
import type { InlinePaths } from './segment-files.ts'
import { getInlinePaths, getSegmentOwner, getSegmentPaths } from './segment-files.ts'
import type { ExecutionRecords, IndexedExecution } from './segment-reader.ts'
import { readExecutionIndex, readExecutionRecords } from './segment-reader.ts'

type LiveExecutions = ReadonlyMap<string, Pick<LiveExecution, 'show'>>

/** The executions of a folder, newest first. One whose process died has failed as INTERRUPTED. */
export async function listInlineExecutions(
  paths: InlinePaths,
  live: LiveExecutions,
  filter: ExecutionFilter,
): Promise<Execution[]> {
  const { name, limit = Infinity } = filter
  const isOwned = createOwnerCheck(paths)
  const found: Execution[] = []
  // Most are in order already, and sorting costs no more than looking then.
  const listed = [...(await readExecutionIndex(paths)).values()].sort((left, right) =>
    compareNewestFirst({ created: left.at }, { created: right.at }),
  )
  for (const one of listed) {
    if (found.length >= limit) break
    if (one.s === 'moved' || (name !== undefined && one.n !== name)) continue
    const execution =
      one.s === undefined
        ? (live.get(one.w)?.show() ?? toUnfinishedExecution(one, isOwned(one)))
        : { ...toExecutionHead(one), state: one.s, ended: one.end! }
    if (matchesFilter(execution, filter)) found.push(execution)
  }
  return found
}

/** The executions in a folder of runs that are not over and that no living process has. */
export async function findOrphans(root: string): Promise<readonly IndexedExecution[]> {
  const paths = getInlinePaths(root)
  const isOwned = createOwnerCheck(paths)
  return [...(await readExecutionIndex(paths)).values()].filter(
    (one) => one.s === undefined && !isOwned(one),
  )
}

// Looks once at the lock of each segment.
function createOwnerCheck(paths: InlinePaths): (one: IndexedExecution) => boolean {
  const known = new Map<string, boolean>()
  return ({ j: segment }) => {
    if (!known.has(segment))
      known.set(segment, getSegmentOwner(getSegmentPaths(paths, segment)) !== undefined)
    return known.get(segment)!
  }
}

/**
 * One execution of a folder, with its result; undefined where there is none, or it became a run of
 * its own.
 */
export async function findInlineExecution(
  paths: InlinePaths,
  id: string,
): Promise<
  | {
      readonly execution: Execution
      readonly listed: IndexedExecution
      readonly records: ExecutionRecords
    }
  | undefined
> {
  const listed = (await readExecutionIndex(paths)).get(id)
  if (!listed || listed.s === 'moved') return undefined
  const files = getSegmentPaths(paths, listed.j)
  const records = await readExecutionRecords(files.journal, id)
  if (!records) return undefined
  return {
    listed,
    records,
    execution: records.end
      ? toFinishedExecution(records.begin, records.end)
      : toUnfinishedExecution(listed, getSegmentOwner(files) !== undefined, records),
  }
}

function toUnfinishedExecution(
  one: IndexedExecution,
  isOwned: boolean,
  records?: ExecutionRecords,
): Execution {
  const open = toOpenExecution(one, listOpenQuestions(records))
  if (isOwned) return open
  const { questions, ...head } = open
  const error = toStepError(
    new ToolError('INTERRUPTED', 'the process that executed it is gone', {
      suggestion: `toolable workflow resume ${one.w}`,
    }),
  )
  return compact({ ...head, state: 'failed', error, questions })
}

function listOpenQuestions(records: ExecutionRecords | undefined): readonly WorkflowQuestion[] {
  const open = new Map<string, WorkflowQuestion>()
  for (const record of records?.records ?? []) {
    if (record.t === 'ask') open.set(record.k, record.q)
    else if (record.t === 'done') open.delete(record.k)
  }
  return [...open.values()]
}

/**
 * The records of one execution, its begin first, as many at a time as there are. With `follow` also
 * those that come, until its last one, or until no living process has it.
 */
export async function* followExecutionRecords(
  paths: InlinePaths,
  { w: id, j: segment }: { readonly w: string; readonly j: string },
  { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal },
): AsyncGenerator<(BeginRecord | ExecutionRecord)[]> {
  const files = getSegmentPaths(paths, segment)
  const ours = `"w":"${id}"`
  for await (const lines of followLines(files.journal, {
    follow,
    signal,
    isComplete: () => !getSegmentOwner(files),
  })) {
    const records = lines.flatMap((line) => {
      const value = line.includes(ours) ? parseJsonObject(line) : undefined
      return isJournalRecord(value) && value.t !== 'define' && value.w === id ? [value] : []
    })
    if (records.length > 0) yield records
    if (records.some(({ t }) => t === 'end' || t === 'moved')) return
  }
}

// A watch may miss something, and some file systems report nothing.
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

/** Removes requests for executions that no living process has. */
export async function dropStaleRequests(paths: InlinePaths): Promise<void> {
  const ids = listCancelRequests(paths)
  if (ids.length === 0) return
  const listed = await readExecutionIndex(paths)
  const isOwned = createOwnerCheck(paths)
  for (const id of ids) {
    const one = listed.get(id)
    if (!one || one.s !== undefined || !isOwned(one))
      rmSync(join(paths.cancels, id), { force: true })
  }
}

export type CancelListener = {
  /** Looks for requests as long as an execution runs. Costs nothing while it does already. */
  wake(): void
  close(): void
}

/**
 * Cancels executions of this process when another one asks for it. The requests have their own
 * folder, because the one of the records changes all the time.
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

function listCancelRequests({ cancels }: InlinePaths): readonly string[] {
  return listNames(cancels).filter(isRunId)
}

function tryWatch(folder: string, onChange: () => void): { close(): void } | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return watch(folder, { persistent: false }, onChange).on('error', () => undefined)
  } catch {
    return undefined
  }
}
