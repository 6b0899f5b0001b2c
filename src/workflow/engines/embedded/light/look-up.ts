import { ToolError } from '../../../../contract/tool-error.ts'
import type { RunState } from '../../../../contract/run-state.ts'
import type { Execution, StepError } from '../../engine-type.ts'
import { stepErrorOf } from '../../step-error.ts'
import { overOf } from './execution.ts'
import type { LiveExecution } from './execution.ts'
import { readExecution } from './execution-records.ts'
import type { ExecutionRecords } from './execution-records.ts'
import type { Listed } from './index-line.ts'
import { segmentPaths } from './light-paths.ts'
import type { LightPaths } from './light-paths.ts'
import { readFolder } from './read-folder.ts'
import { ownerOf } from './segment-lock.ts'

type Live = ReadonlyMap<string, Pick<LiveExecution, 'show'>>

/** The executions of a folder, newest first. One that nobody goes on with has failed as INTERRUPTED. */
export async function listExecutions(
  paths: LightPaths,
  live: Live,
  {
    name,
    state,
    limit = Infinity,
  }: { readonly name?: string; readonly state?: RunState; readonly limit?: number },
): Promise<Execution[]> {
  const isAtWork = remember(
    (segment: string) => ownerOf(segmentPaths(paths, segment)) !== undefined,
  )
  const found: Execution[] = []
  // Most are in order already, and sorting costs no more than looking then.
  const listed = [...(await readFolder(paths)).values()].sort((left, right) =>
    left.at < right.at ? 1 : left.at > right.at ? -1 : 0,
  )
  for (const one of listed) {
    if (found.length >= limit) break
    if (one.s === 'moved' || (name !== undefined && one.n !== name)) continue
    const execution =
      one.s === undefined
        ? (live.get(one.w)?.show() ?? unfinished(one, isAtWork(one.j)))
        : { id: one.w, name: one.n, hash: one.h, state: one.s, created: one.at, ended: one.end! }
    if (state === undefined || execution.state === state) found.push(execution)
  }
  return found
}

/** Executions that are not over and that no living process has. */
export async function listOrphans(paths: LightPaths, live: Live): Promise<Listed[]> {
  const isAtWork = remember(
    (segment: string) => ownerOf(segmentPaths(paths, segment)) !== undefined,
  )
  return [...(await readFolder(paths)).values()].filter(
    (one) => one.s === undefined && !live.has(one.w) && !isAtWork(one.j),
  )
}

/** One execution of a folder, with its result; undefined where there is none, or it became a run of its own. */
export async function findExecution(
  paths: LightPaths,
  id: string,
): Promise<
  | {
      readonly execution: Execution
      readonly listed: Listed
      readonly records: () => ExecutionRecords
    }
  | undefined
> {
  const listed = (await readFolder(paths)).get(id)
  if (!listed || listed.s === 'moved') return undefined
  const files = segmentPaths(paths, listed.j)
  const records = await readExecution(files.journal, id)
  if (!records) return undefined
  return {
    listed,
    records: () => records,
    execution: records.end
      ? overOf(records.begin, records.end)
      : unfinished(listed, ownerOf(files) !== undefined, records),
  }
}

function unfinished(
  { w, n, h, at }: Listed,
  isAtWork: boolean,
  records?: ExecutionRecords,
): Execution {
  const head = { id: w, name: n, hash: h, created: at }
  const questions = openQuestions(records)
  if (isAtWork)
    return {
      ...head,
      state: questions.length > 0 ? 'waiting_ai' : 'running',
      ...(questions.length > 0 && { questions }),
    }
  return {
    ...head,
    state: 'failed',
    error: interrupted(w),
    ...(questions.length > 0 && { questions }),
  }
}

function openQuestions(records: ExecutionRecords | undefined): NonNullable<Execution['questions']> {
  const open = new Map<string, NonNullable<Execution['questions']>[number]>()
  for (const record of records?.records ?? []) {
    if (record.t === 'ask') open.set(record.k, record.q)
    else if (record.t === 'done') open.delete(record.k)
  }
  return [...open.values()]
}

function interrupted(id: string): StepError {
  return stepErrorOf(
    new ToolError('INTERRUPTED', 'the process that executed it is gone', {
      suggestion: `toolable workflow resume ${id}`,
    }),
  )
}

function remember<Key, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.has(key) ? known.get(key)! : find(key)
    known.set(key, value)
    return value
  }
}
