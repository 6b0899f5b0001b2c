/**
 * The implementation of `workflows()`: starts each execution inline (records in a shared journal)
 * or as a run, and lists both.
 */

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { host } from '../core/host.ts'
import { findErrorRow } from '../protocol/errors.ts'
import type { Answerer } from '../protocol/events.ts'
import { isFinished } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { Registry } from '../registry/types.ts'
import { createFolderChannel, createHostChannel, submitAnswer } from '../runner/answer-channels.ts'
import { compareNewestFirst, listRuns, readNewestRuns, readRunRequest } from '../runner/find-run.ts'
import { isRunLive } from '../runner/lock.ts'
import { readEventBatches } from '../runner/log-reader.ts'
import { performRun } from '../runner/perform-run.ts'
import { recoverRuns } from '../runner/recover.ts'
import type { RunRequest } from '../runner/request.ts'
import { createRun } from '../runner/run-folder.ts'
import type { RunPaths } from '../runner/run-paths.ts'
import { createRunId, findRunsFolder, getRunPaths } from '../runner/run-paths.ts'
import { readBriefSummary, readRunSummary } from '../runner/summary.ts'
import type { JsonObject } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { RunSummary } from '../views/model/run-summary.ts'
import { checkTools } from './definition/checks.ts'
import { loadWorkflow, toDefinition } from './definition/load.ts'
import type { Workflow } from './definition/model.ts'
import { createProblemsError } from './definition/reader.ts'
import { walkSteps } from './definition/walk.ts'
import { openEmbeddedEngine } from './embedded/embedded-engine.ts'
import type {
  Execution,
  ExecutionFilter,
  ExecutionHandle,
  StepError,
  WorkflowEngine,
  WorkflowQuestion,
} from './engine.ts'
import { matchesFilter, requireRunId } from './engine.ts'
import { createFunctionPerformer, createPerformTool } from './perform-tool.ts'
import { createWorkflowRequest } from './request.ts'
import { readWorkflowRun } from './run-record.ts'
import { checkWorkflowInput } from './scheduler.ts'
import { toPlainCode } from './step-host.ts'
import { getStepKind } from './steps/table.ts'
import { createWorkflowTarget } from './workflow-run.ts'
import type { AnyWorkflow, WorkflowHostOptions, Workflows } from './workflow-types.ts'

/** Opens a host for workflows on a folder of runs. */
export async function openWorkflowHost({
  registry,
  folder,
  answer,
  resume = true,
  cwd = host.cwd(),
  env = host.env(),
}: WorkflowHostOptions): Promise<Workflows> {
  const root = folder === undefined ? findRunsFolder(cwd) : resolve(cwd, folder)
  const ask: Parameters<typeof createPerformTool>[0]['ask'] =
    answer && (async ({ question }, signal) => ({ value: await answer(question, signal) }))
  // The journal remembers the outcome already.
  const others = createPerformTool(
    compact({ registry, runsFolder: root, cwd, env, remembers: false, ask }),
  )
  // Without an answerer, a function needs nothing but its call.
  const perform = answer ? others : createFunctionPerformer({ registry, cwd, env }, others)
  const inline = await openEmbeddedEngine(compact({ folder: root, perform, answer, resume }))
  const runs = new RunExecutions({ root, registry, answer, cwd, env })
  const known = new WeakMap<Workflow, { readonly entries: unknown; readonly isInline: boolean }>()

  // Checked once, unless other tools have come since.
  const checkInline = async (workflow: Workflow): Promise<boolean> => {
    const before = known.get(workflow)
    if (before && before.entries === registry.entries) return before.isInline
    await registry.prepare?.()
    const { problems, found } = await checkTools(workflow, registry)
    if (problems.length > 0) throw createProblemsError(problems, found)
    const isInline = canRunInline(workflow, registry)
    known.set(workflow, { entries: registry.entries, isInline })
    return isInline
  }
  if (resume) await runs.resume()
  return {
    async start(
      given: Parameters<Workflows['start']>[0],
      input: unknown = {},
      { id }: { readonly id?: string } = {},
    ) {
      const workflow = await resolveWorkflow(given, cwd)
      if (id !== undefined && runs.has(requireRunId(id))) return runs.join(id)
      const isInline = await checkInline(workflow)
      const ready = await validateInput(workflow, input)
      return isInline
        ? inline.start(workflow, ready, compact({ id }))
        : runs.start(workflow, ready, id ?? createRunId())
    },
    answer: (id, question, value) =>
      runs.has(requireRunId(id))
        ? runs.answer(id, question, value)
        : inline.answer(id, question, value),
    cancel: (id, reason = 'cancelled by the caller') =>
      runs.has(requireRunId(id)) ? runs.cancel(id, reason) : inline.cancel(id, reason),
    get: (id) => (runs.has(requireRunId(id)) ? runs.read(id) : inline.get(id)),
    list: (filter = {}) => listAllExecutions(root, inline, filter),
    resume: async () => [...(await inline.resume()), ...(await runs.resume())],
    async close() {
      await Promise.all([inline.close(), runs.close()])
    },
  }
}

async function validateInput({ input: schema }: Workflow, input: unknown): Promise<JsonObject> {
  if (!isObject(input))
    throw new ToolError('INVALID_INPUT', 'the input of a workflow is an object', { field: 'input' })
  if (!schema) return input
  const checked = await checkWorkflowInput(schema, input)
  if (checked.ok) return checked.value as JsonObject
  throw new ToolError('INVALID_INPUT', checked.error.message)
}

/** The definition that a workflow in any form is. Throws CONFIG, with every problem. */
async function resolveWorkflow(given: AnyWorkflow, cwd: string): Promise<Workflow> {
  return typeof given === 'string' ? loadWorkflow(given, { cwd }) : toDefinition(given)
}

/** All executions of a folder, newest first. Only as many runs are read as are listed. */
async function listAllExecutions(
  root: string,
  inline: Pick<WorkflowEngine, 'list'>,
  filter: ExecutionFilter,
): Promise<readonly Execution[]> {
  const { limit = Infinity } = filter
  const runs = await readNewestRuns(
    listRuns(root),
    async ({ paths }) => {
      const execution = await readBriefExecution(paths)
      return execution && matchesFilter(execution, filter) ? execution : undefined
    },
    limit,
  )
  const others = await inline.list(filter)
  return [...others, ...runs].sort(compareNewestFirst).slice(0, limit)
}

/**
 * Whether an execution only calls functions of this process: then it needs no run folder. A
 * workflow that asks, waits or starts programs is a run.
 */
function canRunInline(workflow: Workflow, registry: Pick<Registry, 'find'>): boolean {
  return [...walkSteps(workflow)].every(
    ({ step }) => getStepKind(step).canRunInline?.(step, registry) ?? false,
  )
}

type RunExecutionsOptions = {
  readonly root: string
  readonly registry: Registry
  readonly answer?: Answerer | undefined
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
}

type LiveRunExecution = { readonly stop: AbortController; readonly done: Promise<Execution> }

/** Executions that are runs on record: those that ask, wait or start programs. */
class RunExecutions {
  readonly #options: RunExecutionsOptions
  readonly #live = new Map<string, LiveRunExecution>()

  constructor(options: RunExecutionsOptions) {
    this.#options = options
  }

  has(id: string): boolean {
    return existsSync(this.#paths(id).request)
  }

  start(workflow: Workflow, input: JsonObject, id: string): ExecutionHandle {
    const { root, cwd, env } = this.#options
    const request = createWorkflowRequest(id, workflow, input, { cwd, env })
    return this.#perform(createRun(root, request), request)
  }

  /** Waits for one that was started already. If no process runs it, it continues here. */
  join(id: string): ExecutionHandle {
    const mine = this.#live.get(id)
    if (mine) return { id, done: mine.done }
    const paths = this.#paths(id)
    return isRunLive(paths) ? { id, done: followRun(paths) } : this.#goOn(paths)
  }

  async answer(id: string, question: string, value: unknown): Promise<void> {
    const paths = this.#paths(id)
    const { questions = [], state } = await readRunExecution(paths)
    const meant = questions.find((one) => [one.id, one.key, one.action].includes(question))
    if (!meant)
      throw new ToolError(
        isFinished(state) ? 'PRECONDITION' : 'NOT_FOUND',
        isFinished(state) ? `${id} is over: it is ${state}` : `${id} does not ask '${question}'`,
        { field: 'question' },
      )
    await submitAnswer(paths, meant, value)
  }

  async cancel(id: string, reason: string): Promise<void> {
    const mine = this.#live.get(id)
    const paths = this.#paths(id)
    if (mine) mine.stop.abort(reason)
    else if (isRunLive(paths)) await writeFile(paths.cancel, '', { mode: 0o600 })
    else {
      const { state, error } = await readRunExecution(paths)
      const isLeft = !isFinished(state) || error?.code === 'INTERRUPTED'
      throw new ToolError(
        'PRECONDITION',
        isLeft ? `nobody performs ${id}: its process died` : `${id} is over: it is ${state}`,
        isLeft ? { suggestion: `toolable cancel ${id}, or resume it first` } : {},
      )
    }
  }

  read(id: string): Promise<Execution> {
    return readRunExecution(this.#paths(id))
  }

  /** Resumes those that a host like this one started, and whose process died. */
  async resume(): Promise<readonly string[]> {
    const { root } = this.#options
    await recoverRuns(root)
    const ids: string[] = []
    for (const { id, paths } of listRuns(root).reverse()) {
      if (this.#live.has(id) || !(await isAbandonedRun(paths))) continue
      this.#goOn(paths)
      ids.push(id)
    }
    return ids
  }

  async close(): Promise<void> {
    for (const { stop } of this.#live.values())
      stop.abort(new ToolError('INTERRUPTED', 'the host of workflows was closed'))
    await Promise.allSettled([...this.#live.values()].map(({ done }) => done))
  }

  #paths(id: string): RunPaths {
    return getRunPaths(this.#options.root, id)
  }

  #goOn(paths: RunPaths): ExecutionHandle {
    return this.#perform(paths, readRunRequest(paths), 'resume')
  }

  #perform(paths: RunPaths, request: RunRequest, resumedBy?: 'resume'): ExecutionHandle {
    const { registry, answer, env } = this.#options
    const stop = new AbortController()
    const done = performRun(
      paths,
      request,
      compact({
        env,
        start: createWorkflowTarget({ paths, request, registry, env, now: Date.now }),
        channels: [
          ...(answer ? [createHostChannel(answer)] : []),
          createFolderChannel(paths.answers),
        ],
        signal: stop.signal,
        resumedBy,
      }),
    )
      .then(() => readRunExecution(paths))
      .finally(() => this.#live.delete(paths.id))
    // A rejection that is not awaited must not end the process.
    done.catch(() => undefined)
    this.#live.set(paths.id, { stop, done })
    return { id: paths.id, done }
  }
}

// Those of the command line are resumed by a command.
async function isAbandonedRun(paths: RunPaths): Promise<boolean> {
  if (isRunLive(paths)) return false
  try {
    const request = readRunRequest(paths)
    if (request.command !== 'workflow' || request.surroundings || request.parent) return false
    const { state, error } = await readBriefSummary(paths, request)
    return !isFinished(state) || error?.code === 'E_INTERRUPTED'
  } catch {
    return false
  }
}

async function followRun(paths: RunPaths): Promise<Execution> {
  for await (const _events of readEventBatches(paths.events, {
    follow: true,
    isComplete: () => !isRunLive(paths),
  }));
  return readRunExecution(paths)
}

/** The state of an execution that is a run. Throws CONFIG when the record is damaged. */
async function readRunExecution(paths: RunPaths): Promise<Execution> {
  const request = readRunRequest(paths)
  const summary = await readRunSummary(paths, request)
  const isLeft = isFinished(summary.state) && summary.state !== 'completed' && !isRunLive(paths)
  return toExecution(
    request,
    isLeft ? { ...summary, questions: (await readWorkflowRun(paths)).open } : summary,
  )
}

/** An execution from the request and the summary of its run. */
function toExecution({ run_id: id, tool, workflow }: RunRequest, summary: RunSummary): Execution {
  const { state, created, ended, result, questions } = summary
  const error = getRunError(summary)
  return compact({
    id,
    name: String(workflow?.definition['name'] ?? tool),
    hash: workflow?.hash ?? '',
    state,
    created,
    ended,
    result: state === 'completed' ? (result ?? null) : undefined,
    error,
    questions:
      questions.length > 0 ? (questions as unknown as readonly WorkflowQuestion[]) : undefined,
  })
}

function getRunError({ error, state }: RunSummary): StepError | undefined {
  if (!error || state === 'completed') return undefined
  const code = toPlainCode(error.code)
  return compact({
    code,
    message: error.message ?? code,
    retryable: findErrorRow(code)?.row.retryable ?? false,
    hint: error.hint,
  })
}

/**
 * The state of an execution, read as quickly as possible; undefined for a run that is none, or that
 * cannot be read.
 */
async function readBriefExecution(paths: RunPaths): Promise<Execution | undefined> {
  try {
    const request = readRunRequest(paths)
    return request.command === 'workflow'
      ? toExecution(request, await readBriefSummary(paths, request))
      : undefined
  } catch {
    return undefined
  }
}
