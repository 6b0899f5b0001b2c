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
import type {
  Execution,
  ExecutionFilter,
  ExecutionHandle,
  PerformTool,
  StartExecutionOptions,
  WorkflowEngine,
} from '../engine.ts'
import { requireRunId } from '../engine.ts'
import { hashWorkflow } from '../request.ts'
import type { ExecutionHost, LiveExecution, OpenedExecution } from './execution.ts'
import { runExecution } from './execution.ts'
import type { CancelListener } from './find-executions.ts'
import {
  dropStaleRequests,
  findInlineExecution,
  listenForCancels,
  listInlineExecutions,
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
import type { JournalSegment } from './segments.ts'
import { SegmentPool } from './segments.ts'

export type EmbeddedEngineOptions = {
  /** The folder of the runs, `.runs`; created if it is missing. */
  readonly folder: string
  readonly perform: PerformTool
  /** Answers questions; undefined leaves one open, for `answer()`. */
  readonly answer?: Answerer
  /** Resumes what processes that died have left; default true. */
  readonly resume?: boolean
  /** The wall clock in milliseconds; for tests. */
  readonly now?: () => number
}

/**
 * Opens the embedded engine on a folder of runs: all executions of this process are records in one
 * file. Throws what prevents using the folder, and CONFIG for damaged records that are to be
 * resumed.
 */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const engine = new EmbeddedEngine(options)
  await engine.open(options.resume ?? true)
  return engine
}

/** The engine that needs nothing but a folder. */
export class EmbeddedEngine implements WorkflowEngine {
  readonly #paths: InlinePaths
  readonly #host: ExecutionHost
  readonly #live = new Map<string, LiveExecution>()
  readonly #starting = new Map<string, Promise<ExecutionHandle>>()
  readonly #segments: SegmentPool
  readonly #requests: CancelListener
  #closed: ToolError | undefined

  constructor({ folder, perform, answer, now = Date.now }: EmbeddedEngineOptions) {
    this.#paths = getInlinePaths(folder)
    this.#host = { perform, answer, now }
    ensureInlineFolder(this.#paths)
    this.#segments = new SegmentPool(this.#paths, now)
    this.#requests = listenForCancels(this.#paths, this.#live)
  }

  async open(resume: boolean): Promise<void> {
    await dropStaleRequests(this.#paths)
    if (resume) await this.resume()
  }

  async start(
    definition: Workflow,
    input: unknown,
    { id }: StartExecutionOptions = {},
  ): Promise<ExecutionHandle> {
    this.#requireOpen()
    if (id === undefined) {
      const segment = this.#segments.current()
      return segment
        ? this.#begin(prepareDefinition(definition), input, createRunId(), segment)
        : this.#startNew(definition, input, createRunId())
    }
    const before = this.#starting.get(id)
    if (before) return before
    const begun = this.#startNamed(definition, input, id).finally(() => this.#starting.delete(id))
    this.#starting.set(id, begun)
    return begun
  }

  async get(id: string): Promise<Execution | undefined> {
    const mine = this.#live.get(id)
    return mine ? mine.show() : (await findInlineExecution(this.#paths, id))?.execution
  }

  async list(filter: ExecutionFilter = {}): Promise<readonly Execution[]> {
    this.#segments.writeIndex()
    return listInlineExecutions(this.#paths, this.#live, filter)
  }

  async cancel(id: string, reason = 'cancelled by the caller'): Promise<void> {
    const mine = await this.#take(id)
    await mine.cancel(reason)
  }

  async answer(id: string, question: string, value: unknown, by?: string): Promise<void> {
    const mine = await this.#take(id)
    await mine.answer(question, value, by)
  }

  /**
   * Continues the executions that processes that died have left, or one of them; returns the ids.
   * Throws CONFLICT, with the process and its place, when another one has it, NOT_FOUND when there
   * is none.
   */
  async resume(id?: string): Promise<readonly string[]> {
    this.#requireOpen()
    const adopted = await this.#segments.takeOver(id, this.#live)
    for (const { segment, executions } of adopted) {
      for (const one of executions) this.#execute(one, segment)
      segment.live -= 1
    }
    return adopted.flatMap(({ executions }) => executions.map((one) => one.begin.w))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = new ToolError('INTERRUPTED', 'the engine was closed', {
      suggestion: 'Open it again: what was not over goes on',
    })
    this.#requests.close()
    const left = [...this.#live.values()]
    for (const one of left) one.stop(this.#closed)
    await Promise.allSettled(left.map(({ done }) => done))
    await this.#segments.close()
  }

  #requireOpen(): void {
    if (this.#closed) throw this.#closed
  }

  #execute(opened: OpenedExecution, segment: JournalSegment): LiveExecution {
    const { w: id } = opened.begin
    const begun = runExecution(opened, segment, this.#host, () => this.#live.delete(id))
    this.#live.set(id, begun)
    this.#requests.wake()
    void ignoreRejection(begun.done)
    return begun
  }

  // Few promises: this is what is done most often.
  #begin(
    { hash, definition }: PreparedDefinition,
    input: unknown,
    id: string,
    segment: JournalSegment,
  ): Promise<ExecutionHandle> {
    const text = serializeInput(input)
    segment.define(hash, definition)
    const begin: BeginRecord = {
      t: 'begin',
      w: id,
      h: hash,
      n: definition.name,
      at: toIsoTime(this.#host.now()),
      i: JSON.parse(text),
    }
    const position = segment.appendLine(serializeBegin(begin, text))
    segment.note(position, begin)
    const handle = { id, done: this.#execute({ begin, definition, records: [] }, segment).done }
    // Once the caller has the handle, the execution survives a crash.
    return new Promise((resolve, reject) => {
      segment.whenSynced(position, (lost) => {
        lost ? reject(lost) : resolve(handle)
      })
    })
  }

  async #startNew(definition: Workflow, input: unknown, id: string): Promise<ExecutionHandle> {
    const prepared = prepareDefinition(definition)
    const segment = this.#segments.current() ?? (await this.#segments.next())
    return this.#begin(prepared, input, id, segment)
  }

  async #startNamed(definition: Workflow, input: unknown, id: string): Promise<ExecutionHandle> {
    const mine = this.#live.get(requireRunId(id))
    if (mine) return { id, done: mine.done }
    const release = await claimExecutionId(this.#paths, id)
    try {
      if (await findInlineExecution(this.#paths, id))
        return { id, done: ignoreRejection(this.#waitForEnd(id)) }
      if (existsSync(join(this.#paths.root, id)))
        throw new ToolError('CONFLICT', `${id} is a run of its own`, {
          suggestion: `toolable runs show ${id}`,
        })
      return await this.#startNew(definition, input, id)
    } finally {
      release()
    }
  }

  #waitForEnd(id: string): Promise<Execution> {
    const getDone = (): Promise<Execution> | undefined => this.#live.get(id)?.done
    return (
      getDone() ?? waitForExecution(this.#paths, id, () => this.resume(id).then(() => getDone()))
    )
  }

  // One that runs here, or that no living process has: then it is taken over.
  async #take(id: string): Promise<LiveExecution> {
    this.#requireOpen()
    if (!this.#live.has(id)) await this.resume(id)
    const mine = this.#live.get(id)
    if (mine) return mine
    throw createOverError(id)
  }
}

// Not everyone who starts an execution waits for its end.
function ignoreRejection<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => undefined)
  return promise
}

// The input is what a restart will read: a date becomes a text, and later changes by the caller
// have no effect.
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
 * Claims an id that a caller chose until its begin is on record, so that two processes do not both
 * start it. Waits while another one has the claim; throws CONFLICT after a timeout.
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
 * Waits for the end of an execution of another process. If that process dies, `takeOver` continues
 * it.
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
        // Another process was faster.
        if (!ToolError.is(error) || error.code !== 'CONFLICT') throw error
      })
      if (mine) return mine
    }
    await sleep(pause)
  }
}
