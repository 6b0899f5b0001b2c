import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Answerer } from '../../../../contract/interaction.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { isRunId, newRunId } from '../../../../runner/folder/run-id.ts'
import type { Workflow } from '../../../definition/workflow-type.ts'
import type { Execution, ExecutionHandle, PerformTool, WorkflowEngine } from '../../engine-type.ts'
import { stringify, writeBegin } from '../journal/record.ts'
import type { BeginRecord } from '../journal/record.ts'
import { dropLeftRequests, listenForCancels } from './cancel-requests.ts'
import { claimId } from './claim-id.ts'
import { goOn, overAlready } from './execution.ts'
import type { ExecutionHost, LiveExecution } from './execution.ts'
import { followToEnd } from './follow-to-end.ts'
import { lightPaths, prepareFolder } from './light-paths.ts'
import { findExecution, listExecutions, listOrphans } from './look-up.ts'
import type { ExecutionRecords } from './execution-records.ts'
import type { Listed } from './index-line.ts'
import { prepareDefinition } from './prepared.ts'
import type { Prepared } from './prepared.ts'
import { openSegments } from './segments.ts'
import type { Segment } from './segment.ts'

export type EmbeddedOptions = {
  /** The folder of the runs, `.runs`; it is made where it is missing. */
  readonly folder: string
  readonly perform: PerformTool
  /** Answers questions; undefined leaves one open, for `answer()`. */
  readonly answer?: Answerer
  /** Goes on with what processes that died have left; default true. */
  readonly resume?: boolean
  /** Milliseconds of the clock on the wall; for tests. */
  readonly now?: () => number
}

/** The engine that needs nothing but a folder. */
export type EmbeddedEngine = WorkflowEngine & {
  /** Executions that nobody goes on with. */
  orphans(): Promise<readonly Listed[]>
  /** What is on record of an execution; undefined where there is none. */
  recordsOf(id: string): Promise<ExecutionRecords | undefined>
  /** Goes on with the executions that processes that died have left, or with one of them; gives the ids of all that go on now. Throws CONFLICT, with the process and its place, where somebody has the one that is meant, NOT_FOUND where there is none. */
  resume(id?: string): Promise<readonly string[]>
}

/** Opens the embedded engine on a folder of runs: executions are records in a file that all of this process share. Throws what keeps the folder from being used, and CONFIG for what is damaged there where it is to be resumed. */
export async function openEmbedded({
  folder,
  perform,
  answer,
  resume = true,
  now = Date.now,
}: EmbeddedOptions): Promise<EmbeddedEngine> {
  const paths = lightPaths(folder)
  const host: ExecutionHost = { perform, answer, now }
  const live = new Map<string, LiveExecution>()
  const starting = new Map<string, Promise<ExecutionHandle>>()
  prepareFolder(paths)
  const segments = openSegments(paths, now)
  const requests = listenForCancels(paths, live)
  let closed: ToolError | undefined

  const execute = (opened: Parameters<typeof goOn>[0], segment: Segment): LiveExecution => {
    const { w } = opened.begin
    const begun = goOn(opened, segment, host, () => live.delete(w))
    live.set(w, begun)
    requests.wake()
    // Told whoever waits for it; nobody need.
    begun.done.catch(() => undefined)
    return begun
  }
  // Few promises: this is what is done most often.
  const begin = (
    { hash, definition }: Prepared,
    input: unknown,
    id: string,
    segment: Segment,
  ): Promise<ExecutionHandle> => {
    const text = writeInput(input)
    segment.define(hash, definition)
    const record: BeginRecord = {
      t: 'begin',
      w: id,
      h: hash,
      n: definition.name,
      at: timeOf(now()),
      i: JSON.parse(text),
    }
    const position = segment.journal.appendLine(writeBegin(record, text))
    segment.note(position, record)
    const handle = { id, done: execute({ begin: record, definition, records: [] }, segment).done }
    // What was told to be started goes on whatever happens.
    return new Promise((resolve, reject) => {
      segment.journal.whenSynced(position, (lost) => {
        lost ? reject(lost) : resolve(handle)
      })
    })
  }
  const startNew = async (
    definition: Workflow,
    input: unknown,
    id: string,
  ): Promise<ExecutionHandle> => {
    const prepared = prepareDefinition(definition)
    return begin(prepared, input, id, segments.current() ?? (await segments.next()))
  }
  const startNamed = async (
    definition: Workflow,
    input: unknown,
    id: string,
  ): Promise<ExecutionHandle> => {
    if (!isRunId(id))
      throw new ToolError(
        'INVALID_INPUT',
        `'${id.slice(0, 100)}' cannot be the id of a workflow: ids look like r-0123456789`,
        { field: 'id' },
      )
    const mine = live.get(id)
    if (mine) return { id, done: mine.done }
    const release = await claimId(paths, id)
    try {
      const found = await findExecution(paths, id)
      if (found) {
        const done = untilOver(id)
        // Told whoever waits for it; nobody need.
        done.catch(() => undefined)
        return { id, done }
      }
      if (existsSync(join(folder, id)))
        throw new ToolError('CONFLICT', `${id} is a run of its own`, {
          suggestion: `toolable runs show ${id}`,
        })
      return await startNew(definition, input, id)
    } finally {
      release()
    }
  }
  const untilOver = (id: string): Promise<Execution> =>
    live.get(id)?.done ??
    followToEnd(paths, id, async () => {
      await engine.resume(id)
      return live.get(id)?.done
    })
  const check = (): void => {
    if (closed) throw closed
  }

  const engine: EmbeddedEngine = {
    async start(definition, input, { id } = {}) {
      check()
      if (id === undefined) {
        const segment = segments.current()
        return segment
          ? begin(prepareDefinition(definition), input, newRunId(), segment)
          : startNew(definition, input, newRunId())
      }
      const before = starting.get(id)
      if (before) return before
      const begun = startNamed(definition, input, id).finally(() => starting.delete(id))
      starting.set(id, begun)
      return begun
    },
    async get(id) {
      const mine = live.get(id)
      return mine ? mine.show() : (await findExecution(paths, id))?.execution
    },
    async list(filter = {}) {
      segments.writeIndex()
      return listExecutions(paths, live, filter)
    },
    async cancel(id, reason = 'cancelled by the caller') {
      check()
      const mine = await reach(id)
      await mine.cancel(reason)
    },
    async answer(id, question, value, by) {
      check()
      const mine = await reach(id)
      await mine.answer(question, value, by)
    },
    async orphans() {
      return listOrphans(paths, live)
    },
    async recordsOf(id) {
      return (await findExecution(paths, id))?.records()
    },
    async resume(id) {
      check()
      const adopted = await segments.takeOver(id, live)
      for (const { segment, executions } of adopted) {
        for (const one of executions) execute(one, segment)
        segment.live -= 1
      }
      return adopted.flatMap(({ executions }) => executions.map((one) => one.begin.w))
    },
    async close() {
      if (closed) return
      closed = new ToolError('INTERRUPTED', 'the engine was closed', {
        suggestion: 'Open it again: what was not over goes on',
      })
      requests.close()
      const left = [...live.values()]
      for (const one of left) one.stop(closed)
      await Promise.allSettled(left.map(({ done }) => done))
      await segments.close()
    },
  }
  // One that is here, or that nobody has: then it is taken.
  const reach = async (id: string): Promise<LiveExecution> => {
    if (!live.has(id)) await engine.resume(id)
    const mine = live.get(id)
    if (mine) return mine
    throw overAlready(id)
  }
  await dropLeftRequests(paths)
  if (resume) await engine.resume()
  return engine
}

// It is executed as it will be read after a restart: a date is a text, and what the caller changes later is not changed here.
function writeInput(input: unknown): string {
  try {
    return stringify(input ?? {}) ?? '{}'
  } catch (error) {
    throw new ToolError(
      'INVALID_INPUT',
      `the input of a workflow has to be JSON: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

let [moment, written] = [0, '']

// Fifty that are started together ask for the same millisecond.
function timeOf(now: number): string {
  if (now !== moment) [moment, written] = [now, new Date(now).toISOString()]
  return written
}
