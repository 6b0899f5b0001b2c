/**
 * Performs the tool of a step: programs and workflows as child runs, everything else as a call in
 * this process. Concurrent requests for the same step share one execution.
 */

import { existsSync } from 'node:fs'
import type { CallOptions } from '../core/call.ts'
import { parseInputWords } from '../define/input-from-words.ts'
import { narrowPermissions } from '../process/permissions.ts'
import type { Interaction } from '../protocol/events.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { RegistryEntry } from '../registry/catalog.ts'
import type { FoundProgram } from '../registry/source.ts'
import { readRunRequest } from '../runner/find-run.ts'
import type { RunArguments, RunRequest } from '../runner/request.ts'
import { createRunRequest, takesDocument, toRunArguments } from '../runner/request.ts'
import type { RunPaths } from '../runner/run-paths.ts'
import { getRunPaths } from '../runner/run-paths.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import { performChildRun } from './child-run.ts'
import type { OperationOutcome, PerformTool, StepError } from './engine.ts'
import { stepErrorToToolError } from './engine.ts'
import type { LoadedWorkflow } from './lookup.ts'
import { getLoadedWorkflow, isFunctionTool } from './lookup.ts'
import { createWorkflowRequest } from './request.ts'
import type { ChildRunPlan, StepCall, StepHost } from './step-host.ts'
import {
  getAbortError,
  getAttemptKey,
  getChildRunId,
  getForwardedQuestionId,
  toFailureOutcome,
  toOperationOutcome,
} from './step-host.ts'

/**
 * Performs the tools of steps: programs and other workflows as child runs, everything else by a
 * call. Concurrent requests for the same key, in this process or another, are joined. Rejects only
 * with ANSWER_REQUIRED, and only if the host wants that.
 */
export function createPerformTool(host: StepHost): PerformTool {
  return (call, signal) =>
    joinSharedWork(`${host.runsFolder}\0${call.idempotencyKey}`, signal, (shared) =>
      performStep(host, call, shared),
    )
}

async function performStep(
  host: StepHost,
  call: StepCall,
  signal: AbortSignal,
): Promise<OperationOutcome> {
  let unanswered: StepError
  try {
    const entry = await findToolEntry(host, call.tool)
    const work = await planChildRun(host, call, entry)
    const settled = work
      ? await performChildRun({ host, call, work, signal })
      : await callInProcess(host, call, entry, signal)
    const isUnanswered = !settled.ok && settled.error.code === 'ANSWER_REQUIRED'
    if (!isUnanswered || !host.leavesUnanswered || signal.aborted) return settled
    unanswered = settled.error
  } catch (error) {
    return toFailureOutcome(error)
  }
  throw stepErrorToToolError(unanswered)
}

async function findToolEntry({ registry }: StepHost, tool: string): Promise<RegistryEntry> {
  await registry.prepare?.()
  const entry = registry.find(tool) as RegistryEntry | undefined
  if (entry) return entry
  // Throws NOT_FOUND with a suggestion.
  await registry.describe(tool)
  throw new Error(`there is no tool '${tool}'`)
}

type SharedWork = {
  readonly settled: Promise<OperationOutcome>
  readonly stop: AbortController
  waiting: number
}

// One table for the process, because two engines on one folder may request the same step.
const sharedWork = new Map<string, SharedWork>()

/**
 * Does work once for all concurrent requests with the same key. It is aborted when no request wants
 * it any more; one that leaves earlier does not wait for its end.
 */
async function joinSharedWork(
  key: string,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<OperationOutcome>,
): Promise<OperationOutcome> {
  if (signal.aborted) return { ok: false, error: getAbortError(signal) }
  const work = sharedWork.get(key) ?? startSharedWork(key, begin)
  work.waiting += 1
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      work.waiting -= 1
      if (work.waiting === 0) work.stop.abort(signal.reason)
      else resolve({ ok: false, error: getAbortError(signal) })
    }
    signal.addEventListener('abort', leave, { once: true })
    void work.settled
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', leave))
  })
}

function startSharedWork(
  key: string,
  begin: (signal: AbortSignal) => Promise<OperationOutcome>,
): SharedWork {
  const stop = new AbortController()
  const settled = begin(stop.signal).finally(() => {
    if (sharedWork.get(key) === work) sharedWork.delete(key)
  })
  const work: SharedWork = { settled, stop, waiting: 0 }
  sharedWork.set(key, work)
  return work
}

/**
 * Calls a tool that is no program: a function of this process, or a tool of a server. It has no
 * run; its progress is reported as a task.
 */
async function callInProcess(
  { registry, cwd, env, emit, ask, remembers = true }: StepHost,
  call: StepCall,
  entry: RegistryEntry,
  signal: AbortSignal,
): Promise<OperationOutcome> {
  if (call.permissions)
    throw new ToolError(
      'PERMISSION',
      `'${call.tool}' is no program, so that nobody can hold it to the permissions of a step`,
      { suggestion: 'Take the permissions out of the step' },
    )
  const input = await readInput(call.given, entry, env)
  const task = getAttemptKey(call)
  let events = 0
  let questionCount = 0
  const answer = (question: Interaction): Promise<unknown> => {
    const original = question.key ?? `${(questionCount += 1)}`
    return ask!(
      {
        question: {
          ...question,
          id: getForwardedQuestionId(task, original),
          action: question.key ?? question.kind,
        },
        task,
        original,
      },
      signal,
    ).then((given) => given?.value)
  }
  const sample: NonNullable<CallOptions['sample']> = async ({ id, prompt, key, ...sampling }) =>
    String(await answer(compact({ id, kind: 'sample', prompt, sampling, key })))
  await emit?.({
    type: 'task_submitted',
    task_id: task,
    payload: call.command === undefined ? { tool: entry.id, input } : { command: call.command },
  })
  await emit?.({ type: 'task_started', task_id: task })
  const ended = toCallOutcome(
    await registry.call(entry.id, input, {
      cwd,
      env,
      signal,
      ...compact({
        timeout: call.timeout,
        idempotencyKey: remembers ? call.idempotencyKey : undefined,
        answer: ask && answer,
        sample: ask && sample,
      }),
      onEvent: (event) => {
        if (event.type === 'tool_invoked') return undefined
        events += 1
        return event.type === 'progress'
          ? emit?.({ type: 'task_progress', task_id: task, child_event: event })
          : undefined
      },
    }),
    signal,
  )
  await emit?.({
    type: 'task_done',
    task_id: task,
    status: ended.ok ? 'ok' : 'failed',
    child_result: ended.ok ? ended.value : ended.error,
    events_count: events,
  })
  return ended
}

/**
 * Calls functions of this process directly, and leaves everything else to `others`. For executions
 * without a run folder: there are no watchers, and no other process has the same step.
 */
export function createFunctionPerformer(
  { registry, cwd, env }: Pick<StepHost, 'registry' | 'cwd' | 'env'>,
  others: PerformTool,
): PerformTool {
  // Found once per name, unless other tools have come since.
  let entries: unknown
  let known = new Map<string, string | undefined>()
  const idOf = (tool: string): string | undefined => {
    const now = 'entries' in registry ? registry.entries : undefined
    if (now !== entries || now === undefined) {
      entries = now
      known = new Map()
    }
    if (!known.has(tool))
      known.set(tool, getFunctionId(registry.find(tool) as RegistryEntry | undefined))
    return known.get(tool)
  }
  return (call, signal) => {
    const { given, timeout } = call
    if (!('input' in given) || call.permissions || signal.aborted) return others(call, signal)
    const id = idOf(call.tool)
    if (id === undefined) return others(call, signal)
    const options = { cwd, env, signal }
    return registry
      .call(id, given.input, timeout === undefined ? options : { ...options, timeout })
      .then((outcome) => toCallOutcome(outcome, signal))
  }
}

function toCallOutcome(outcome: Outcome, signal: AbortSignal): OperationOutcome {
  const settled = toOperationOutcome(outcome)
  return settled.ok || !signal.aborted ? settled : { ok: false, error: getAbortError(signal) }
}

function getFunctionId(entry: RegistryEntry | undefined): string | undefined {
  return isFunctionTool(entry) ? entry.id : undefined
}

async function readInput(
  given: StepCall['given'],
  entry: RegistryEntry,
  env: StepHost['env'],
): Promise<JsonObject> {
  if ('input' in given) return given.input
  return parseInputWords((await entry.definition.compiled()).manifest, given.args, env)
}

function withTrace(env: StepHost['env'], traceparent: string | undefined): StepHost['env'] {
  return traceparent === undefined ? env : { ...env, TRACEPARENT: traceparent }
}

/** Workflows that run each other as steps. */
const MAX_WORKFLOW_DEPTH = 10

/**
 * The plan of a child run; undefined for a tool that is called. Throws PRECONDITION for workflows
 * that run each other without end.
 */
async function planChildRun(
  host: StepHost,
  call: StepCall,
  entry: RegistryEntry,
): Promise<ChildRunPlan | undefined> {
  const loaded = host.startWorkflow && getLoadedWorkflow(entry.found)
  if (loaded) return planWorkflowRun(host, call, entry, loaded)
  const program = await entry.found.program?.()
  return (
    program && {
      runId: getChildRunId(call.idempotencyKey),
      request: (paths) => createChildRequest({ host, call, entry, program }, paths),
    }
  )
}

async function planWorkflowRun(
  host: StepHost,
  call: StepCall,
  entry: RegistryEntry,
  { workflow, file }: LoadedWorkflow,
): Promise<ChildRunPlan> {
  if (call.permissions)
    throw new ToolError(
      'PERMISSION',
      `'${call.tool}' is a workflow, whose steps have permissions of their own`,
      { suggestion: 'Take the permissions out of the step' },
    )
  checkWorkflowDepth(host.runsFolder, call, entry)
  const { cwd, env, traceparent, startWorkflow } = host
  const input = await readInput(call.given, entry, env)
  return {
    // A workflow that failed has undone its steps: a retry starts a new run.
    runId: getChildRunId(
      call.attempt > 1 ? `${call.idempotencyKey}#${call.attempt}` : call.idempotencyKey,
    ),
    request: async ({ id }) => ({
      ...createWorkflowRequest(id, workflow, input, {
        cwd,
        env: withTrace(env, traceparent),
        file,
        caller: 'workflow',
        ...compact({ timeout: call.timeout }),
      }),
      parent: { run_id: call.workflow, step: call.step },
    }),
    start: startWorkflow!,
  }
}

function checkWorkflowDepth(
  root: string,
  { workflow, step }: StepCall,
  { id }: RegistryEntry,
): void {
  let number = 1
  for (let run: string | undefined = workflow; run !== undefined;) {
    number += 1
    if (number > MAX_WORKFLOW_DEPTH)
      throw new ToolError(
        'PRECONDITION',
        `the workflow '${id}' is not run: at step '${step}' it would be number ${number} of workflows that run each other`,
        {
          recoverable: false,
          suggestion: `Give the step a condition that ends it ('when'); ${MAX_WORKFLOW_DEPTH} workflows may stand in one another`,
        },
      )
    const paths = getRunPaths(root, run)
    run = existsSync(paths.request) ? readRunRequest(paths).parent?.run_id : undefined
  }
}

type ProgramStep = {
  readonly host: StepHost
  readonly call: StepCall
  readonly entry: RegistryEntry
  readonly program: FoundProgram
}

/**
 * The request of a child run. Throws PERMISSION if the step allows its tool more than the tool asks
 * for, USAGE or INVALID_INPUT for invalid arguments.
 */
async function createChildRequest(step: ProgramStep, paths: RunPaths): Promise<RunRequest> {
  const {
    host: { cwd, env, traceparent },
    call,
    entry,
  } = step
  const program = await narrowProgram(step, paths)
  const options = compact({
    retries: 0,
    caller: 'workflow',
    idempotencyKey: call.idempotencyKey,
    timeout: call.timeout,
  })
  const where = { cwd, env: withTrace(env, traceparent) }
  const request = await createRunRequest(
    paths.id,
    entry,
    program,
    await resolveArguments(step),
    options,
    where,
  )
  return { ...request, parent: { run_id: call.workflow, step: call.step } }
}

async function resolveArguments({
  call: { given },
  entry,
  program,
  host,
}: ProgramStep): Promise<RunArguments> {
  const { call } = program
  if ('args' in given && takesDocument(call))
    return { args: given.args, input: await readInput(given, entry, host.env) }
  const made = toRunArguments(given, call)
  // The author of the step has agreed to it.
  return call.destructive ? { ...made, args: [...made.args, '--yes'] } : made
}

// Problems of its own permissions refer to its manifest, those of the step do not.
async function narrowProgram(
  { call: { permissions: wanted }, entry, program, host: { cwd } }: ProgramStep,
  { workspace }: RunPaths,
): Promise<FoundProgram> {
  if (!wanted) return program
  if (program.orchestrator)
    throw new ToolError(
      'PERMISSION',
      `'${entry.id}' starts other tools, and what those do nobody can hold to the permissions of a step`,
      { suggestion: 'Take the permissions out of the step' },
    )
  const { permissions: own, manifest: file, ...rest } = program
  return {
    ...rest,
    permissions: await narrowPermissions({ wanted, own, file, tool: entry.id }, { workspace, cwd }),
  }
}
