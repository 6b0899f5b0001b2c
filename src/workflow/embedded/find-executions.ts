/**
 * Looks up and follows executions in a folder, also those of other processes.
 */

import type { RunState } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { followLines } from '../../runner/log-reader.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import { toStepError } from '../engine.ts'
import type { Execution, StepError } from '../engine.ts'
import { toFinishedExecution } from './execution.ts'
import type { LiveExecution } from './execution.ts'
import { isJournalRecord } from './journal-records.ts'
import type { BeginRecord, ExecutionRecord } from './journal-records.ts'
import { getSegmentOwner, getSegmentPaths } from './segment-files.ts'
import type { InlinePaths } from './segment-files.ts'
import { readExecutionIndex, readExecutionRecords } from './segment-reader.ts'
import type { ExecutionRecords, IndexedExecution } from './segment-reader.ts'

type LiveExecutions = ReadonlyMap<string, Pick<LiveExecution, 'show'>>

/**
 * The executions of a folder, newest first. One that nobody goes on with has failed as INTERRUPTED.
 */
export async function listInlineExecutions(
  paths: InlinePaths,
  live: LiveExecutions,
  {
    name,
    state,
    limit = Infinity,
  }: { readonly name?: string; readonly state?: RunState; readonly limit?: number },
): Promise<Execution[]> {
  const isAtWork = memoize(
    (segment: string) => getSegmentOwner(getSegmentPaths(paths, segment)) !== undefined,
  )
  const found: Execution[] = []
  // Most are in order already, and sorting costs no more than looking then.
  const listed = [...(await readExecutionIndex(paths)).values()].sort((left, right) =>
    left.at < right.at ? 1 : left.at > right.at ? -1 : 0,
  )
  for (const one of listed) {
    if (found.length >= limit) break
    if (one.s === 'moved' || (name !== undefined && one.n !== name)) continue
    const execution =
      one.s === undefined
        ? (live.get(one.w)?.show() ?? toUnfinishedExecution(one, isAtWork(one.j)))
        : { id: one.w, name: one.n, hash: one.h, state: one.s, created: one.at, ended: one.end! }
    if (state === undefined || execution.state === state) found.push(execution)
  }
  return found
}

/** Executions that are not over and that no living process has. */
export async function listOrphans(
  paths: InlinePaths,
  live: LiveExecutions,
): Promise<IndexedExecution[]> {
  const isAtWork = memoize(
    (segment: string) => getSegmentOwner(getSegmentPaths(paths, segment)) !== undefined,
  )
  return [...(await readExecutionIndex(paths)).values()].filter(
    (one) => one.s === undefined && !live.has(one.w) && !isAtWork(one.j),
  )
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
      readonly records: () => ExecutionRecords
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
    records: () => records,
    execution: records.end
      ? toFinishedExecution(records.begin, records.end)
      : toUnfinishedExecution(listed, getSegmentOwner(files) !== undefined, records),
  }
}

function toUnfinishedExecution(
  { w, n, h, at }: IndexedExecution,
  isAtWork: boolean,
  records?: ExecutionRecords,
): Execution {
  const head = { id: w, name: n, hash: h, created: at }
  const questions = listOpenQuestions(records)
  if (isAtWork)
    return {
      ...head,
      state: questions.length > 0 ? 'waiting_ai' : 'running',
      ...compact({ questions: questions.length > 0 ? questions : undefined }),
    }
  return {
    ...head,
    state: 'failed',
    error: createInterruptedError(w),
    ...compact({ questions: questions.length > 0 ? questions : undefined }),
  }
}

function listOpenQuestions(
  records: ExecutionRecords | undefined,
): NonNullable<Execution['questions']> {
  const open = new Map<string, NonNullable<Execution['questions']>[number]>()
  for (const record of records?.records ?? []) {
    if (record.t === 'ask') open.set(record.k, record.q)
    else if (record.t === 'done') open.delete(record.k)
  }
  return [...open.values()]
}

function createInterruptedError(id: string): StepError {
  return toStepError(
    new ToolError('INTERRUPTED', 'the process that executed it is gone', {
      suggestion: `toolable workflow resume ${id}`,
    }),
  )
}

function memoize<Key, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.has(key) ? known.get(key)! : find(key)
    known.set(key, value)
    return value
  }
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
