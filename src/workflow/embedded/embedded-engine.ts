/**
 * The embedded engine: durable executions that need nothing but a folder.
 *
 * Executions of one process share a journal file, a segment. Read journal.ts and journal-records.ts
 * (the file), segments.ts (which
 * process writes which segment), segment-reader.ts (the index over all segments),
 * durable-context.ts (replay and recording),
 * execution.ts (one running execution), find-executions.ts (looking up others).
 */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answerer } from '../../protocol/events.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { toDiskError } from '../../runner/files.ts'
import { getCurrentOwner, getOwnerLiveness, parseOwner } from '../../runner/lock.ts'
import { createRunId } from '../../runner/run-paths.ts'
import { readTextFile } from '../../util/files.ts'
import { createFileExclusively, removeStaleFile } from '../../util/lock-file.ts'
import type { Workflow } from '../definition/model.ts'
import type { Execution, ExecutionHandle, PerformTool, WorkflowEngine } from '../engine.ts'
import { requireRunId } from '../engine.ts'
import { hashWorkflow } from '../request.ts'
import type { ExecutionHost, LiveExecution } from './execution.ts'
import { runExecution } from './execution.ts'
import {
  dropStaleRequests,
  findInlineExecution,
  listenForCancels,
  listInlineExecutions,
  listOrphans,
} from './find-executions.ts'
import type { BeginRecord } from './journal-records.ts'
import { createOverError, serializeBegin, stringifyOrThrow } from './journal-records.ts'
import type { InlinePaths } from './segment-files.ts'
import {
  ensureInlineFolder,
  getInlinePaths,
  getSegmentOwner,
  getSegmentPaths,
} from './segment-files.ts'
import type { ExecutionRecords, IndexedExecution } from './segment-reader.ts'
import type { JournalSegment } from './segments.ts'
import { openSegmentPool } from './segments.ts'

export type EmbeddedEngineOptions = {
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
  orphans(): Promise<readonly IndexedExecution[]>
  /** What is on record of an execution; undefined where there is none. */
  recordsOf(id: string): Promise<ExecutionRecords | undefined>
  /**
   * Goes on with the executions that processes that died have left, or with one of them; gives the
   * ids of all that go on now. Throws CONFLICT, with the process and its place, where somebody has
   * the one that is meant, NOT_FOUND where there is none.
   */
  resume(id?: string): Promise<readonly string[]>
}

/**
 * Opens the embedded engine on a folder of runs: executions are records in a file that all of this
 * process share. Throws what keeps the folder from being used, and CONFIG for what is damaged there
 * where it is to be resumed.
 */
export async function openEmbeddedEngine({
  folder,
  perform,
  answer,
  resume = true,
  now = Date.now,
}: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const paths = getInlinePaths(folder)
  const host: ExecutionHost = { perform, answer, now }
  const live = new Map<string, LiveExecution>()
  const starting = new Map<string, Promise<ExecutionHandle>>()
  ensureInlineFolder(paths)
  const segments = openSegmentPool(paths, now)
  const requests = listenForCancels(paths, live)
  let closed: ToolError | undefined

  const execute = (
    opened: Parameters<typeof runExecution>[0],
    segment: JournalSegment,
  ): LiveExecution => {
    const { w } = opened.begin
    const begun = runExecution(opened, segment, host, () => live.delete(w))
    live.set(w, begun)
    requests.wake()
    // Told whoever waits for it; nobody need.
    begun.done.catch(() => undefined)
    return begun
  }
  // Few promises: this is what is done most often.
  const begin = (
    { hash, definition }: PreparedDefinition,
    input: unknown,
    id: string,
    segment: JournalSegment,
  ): Promise<ExecutionHandle> => {
    const text = serializeInput(input)
    segment.define(hash, definition)
    const record: BeginRecord = {
      t: 'begin',
      w: id,
      h: hash,
      n: definition.name,
      at: toIsoTime(now()),
      i: JSON.parse(text),
    }
    const position = segment.journal.appendLine(serializeBegin(record, text))
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
    requireRunId(id)
    const mine = live.get(id)
    if (mine) return { id, done: mine.done }
    const release = await claimExecutionId(paths, id)
    try {
      const found = await findInlineExecution(paths, id)
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
    waitForExecution(paths, id, async () => {
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
          ? begin(prepareDefinition(definition), input, createRunId(), segment)
          : startNew(definition, input, createRunId())
      }
      const before = starting.get(id)
      if (before) return before
      const begun = startNamed(definition, input, id).finally(() => starting.delete(id))
      starting.set(id, begun)
      return begun
    },
    async get(id) {
      const mine = live.get(id)
      return mine ? mine.show() : (await findInlineExecution(paths, id))?.execution
    },
    async list(filter = {}) {
      segments.writeIndex()
      return listInlineExecutions(paths, live, filter)
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
      return (await findInlineExecution(paths, id))?.records()
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
    throw createOverError(id)
  }
  await dropStaleRequests(paths)
  if (resume) await engine.resume()
  return engine
}

// It is executed as it will be read after a restart: a date is a text, and what the caller changes
// later is not changed here.
function serializeInput(input: unknown): string {
  try {
    return stringifyOrThrow(input ?? {}) ?? '{}'
  } catch (error) {
    throw new ToolError(
      'INVALID_INPUT',
      `the input of a workflow has to be JSON: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

let cachedMs = 0
let cachedIso = ''

// Executions that are started together ask for the same millisecond.
function toIsoTime(now: number): string {
  if (now !== cachedMs) [cachedMs, cachedIso] = [now, new Date(now).toISOString()]
  return cachedIso
}

/** A definition as it is executed: a copy, so that what is executed is what was written down. */
type PreparedDefinition = { readonly hash: string; readonly definition: Workflow }

const preparedDefinitions = new WeakMap<Workflow, PreparedDefinition>()

/** Prepares a definition, once for the same object. */
function prepareDefinition(definition: Workflow): PreparedDefinition {
  const before = preparedDefinitions.get(definition)
  if (before) return before
  const prepared = {
    hash: hashWorkflow(definition),
    definition: JSON.parse(JSON.stringify(definition)) as Workflow,
  }
  preparedDefinitions.set(definition, prepared)
  return prepared
}

const CLAIM_POLL_MS = 20
const CLAIM_TIMEOUT_MS = 30_000

/**
 * Holds an id that a caller chose until its begin is on record, so that two processes do not begin
 * it both. Waits while somebody else does so; throws CONFLICT where that takes too long.
 */
async function claimExecutionId({ folder }: InlinePaths, id: string): Promise<() => void> {
  const file = join(folder, `${id}.claim`)
  const mine = `${JSON.stringify(getCurrentOwner())}\n`
  try {
    for (
      const end = performance.now() + CLAIM_TIMEOUT_MS;
      !createFileExclusively(file, mine, { flush: false });
    ) {
      const found = readTextFile(file)
      const owner = found === undefined ? undefined : parseOwner(found)
      if (found !== undefined && (!owner || getOwnerLiveness(owner) === 'dead'))
        removeStaleFile(file, found)
      else if (performance.now() > end)
        throw new ToolError(
          'CONFLICT',
          `${id} is being started by ${owner ? `process ${owner.pid} on ${owner.machine}` : 'another process'}`,
        )
      else await sleep(CLAIM_POLL_MS)
    }
  } catch (error) {
    throw toDiskError(error, `cannot claim ${id}`)
  }
  return () => rmSync(file, { force: true })
}

const MIN_POLL_MS = 20
const MAX_POLL_MS = 500

/**
 * Waits for the end of an execution that another process has. Where that dies, `takeOver` goes on
 * with it.
 */
async function waitForExecution(
  paths: InlinePaths,
  id: string,
  takeOver: () => Promise<Execution | undefined>,
): Promise<Execution> {
  for (let pause = MIN_POLL_MS; ; pause = Math.min(2 * pause, MAX_POLL_MS)) {
    const found = await findInlineExecution(paths, id)
    if (!found)
      throw new ToolError('CONFLICT', `${id} goes on elsewhere, as a run of its own`, {
        suggestion: `toolable watch ${id}`,
      })
    if (found.execution.ended !== undefined) return found.execution
    if (!getSegmentOwner(getSegmentPaths(paths, found.listed.j))) {
      const mine = await takeOver().catch((error: unknown) => {
        // Somebody else was faster.
        if (!ToolError.is(error) || error.code !== 'CONFLICT') throw error
      })
      if (mine) return mine
    }
    await sleep(pause)
  }
}
