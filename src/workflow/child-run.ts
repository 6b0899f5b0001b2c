/**
 * The child run of a step: starts it, follows it when another process runs it, or takes the result
 * that is already on record.
 */

import { existsSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunEvent } from '../protocol/run-state.ts'
import { isFinished } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { createFolderChannel } from '../runner/answer-channels.ts'
import { isRetryableFailure } from '../runner/attempt-outcome.ts'
import { readRunRequest } from '../runner/find-run.ts'
import { isRunLive } from '../runner/lock.ts'
import { readEventBatches } from '../runner/log-reader.ts'
import { performRun } from '../runner/perform-run.ts'
import type { AnswerChannel } from '../runner/questions.ts'
import { recoverRun } from '../runner/recover.ts'
import type { RunRequest } from '../runner/request.ts'
import { createRun } from '../runner/run-folder.ts'
import type { RunPaths } from '../runner/run-paths.ts'
import { getRunPaths } from '../runner/run-paths.ts'
import type { RunHost } from '../runner/run-target.ts'
import { compact, isObject } from '../util/values.ts'
import type { RunSummary } from '../views/model/run-summary.ts'
import { createSummaryBuilder } from '../views/model/run-summary.ts'
import type { OperationOutcome, StepError } from './engine.ts'
import type { ChildStep, StepCall, StepHost } from './step-host.ts'
import {
  getAbortError,
  getAttemptKey,
  getForwardedQuestionId,
  getTaskPayload,
  toPlainCode,
} from './step-host.ts'

// A run folder exists a moment before its request.
const CHILD_POLL_MS = 20
const MAX_CHILD_POLLS = 500
/**
 * After this many, an empty folder without an owner belongs to a process that died while it created
 * the run.
 */
const MAX_UNOWNED_POLLS = 100

/**
 * Performs the tool of a step as a child run, whose id follows from the step: a recorded end of
 * this attempt is used, a run of another process is followed to its end, and one whose runner died
 * is performed again, in the same workspace.
 */
export async function performChildRun(step: ChildStep): Promise<OperationOutcome> {
  const { host, call, work, signal } = step
  const paths = getRunPaths(host.runsFolder, work.runId)
  const request = await work.request(paths)
  const task = createStepTask(host, call, paths.id)
  await task.submitted()
  let isFollowed = false
  for (let polls = 0; polls < MAX_CHILD_POLLS; polls += 1) {
    const child = await inspectChildRun(paths, call.attempt, request.parent)
    if (child.is === 'unfinished') {
      if (polls >= MAX_UNOWNED_POLLS && !isRunLive(paths)) removeDeadFolder(paths)
      await sleep(CHILD_POLL_MS)
    } else if (child.is === 'live') {
      await task.started()
      await followChildRun(paths, task, signal)
      isFollowed = true
    } else if (child.is === 'ended' && (child.counts || isFollowed))
      return task.done(toChildOutcome(child, paths.id, signal), child)
    else if (signal.aborted)
      return task.done({ ok: false, error: toAbortedError(signal, paths.id) })
    else isFollowed = await startChildRun(paths, request, child.is === 'none', step, task)
  }
  throw new ToolError(
    'CONFLICT',
    `the run ${paths.id} of the step '${call.step}' cannot be made: its folder is there, and holds no run`,
    { suggestion: `Look at ${paths.folder}` },
  )
}

// Only one of several processes removes it.
function removeDeadFolder({ folder }: RunPaths): void {
  const aside = `${folder}.dead-${crypto.randomUUID()}`
  try {
    renameSync(folder, aside)
  } catch {
    return
  }
  rmSync(aside, { recursive: true, force: true })
}

// False if another process was faster; then its run is inspected.
async function startChildRun(
  paths: RunPaths,
  request: RunRequest,
  isNew: boolean,
  { host, call, work, signal }: ChildStep,
  task: StepTask,
): Promise<boolean> {
  try {
    // The cancel request was for an earlier attempt.
    if (isNew) createRun(host.runsFolder, request)
    else rmSync(paths.cancel, { force: true })
    await task.started()
    const start = work.start?.(paths, request)
    await performRun(paths, request, {
      ...createChildHost(host, call, paths, task, signal),
      ...compact({ start }),
    })
    return true
  } catch (error) {
    if (ToolError.is(error) && (error.code === 'CONFLICT' || error.code === 'PRECONDITION'))
      return false
    throw error
  }
}

/**
 * Follows a run of another process until no process performs it. If it is cancelled meanwhile, the
 * run is asked to end, and still followed.
 */
async function followChildRun(paths: RunPaths, task: StepTask, signal: AbortSignal): Promise<void> {
  const cancel = (): void =>
    void writeFile(paths.cancel, '', { mode: 0o600 }).catch(() => undefined)
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  try {
    for await (const events of readEventBatches(paths.events, {
      follow: true,
      isComplete: () => !isRunLive(paths),
    }))
      for (const event of events) await task.forward(event)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** A child run that has ended. */
type EndedChildRun = {
  readonly is: 'ended'
  readonly summary: RunSummary
  /** Whether its end belongs to this attempt, and would not change in another one. */
  readonly counts: boolean
  /** What the tool, or the runner, says about retrying. */
  readonly retryable: unknown
}

/** The state of a child run; `unfinished` is a folder that another process is about to fill. */
type ChildRunState = { readonly is: 'none' | 'unfinished' | 'live' } | EndedChildRun

// No failure: the runner died, or a question got no answer. What was cancelled is requested again.
const RESUMABLE_CODES = ['E_INTERRUPTED', 'E_ANSWER_REQUIRED']

/**
 * Inspects the run of a step. Throws CONFLICT if it belongs to another step. A run whose runner
 * died is finished first, and what it left running is ended.
 */
async function inspectChildRun(
  paths: RunPaths,
  attempt: number,
  parent: RunRequest['parent'],
): Promise<ChildRunState> {
  if (!existsSync(paths.folder)) return { is: 'none' }
  if (!existsSync(paths.request)) return { is: 'unfinished' }
  const request = readRunRequest(paths)
  if (request.parent?.run_id !== parent?.run_id || request.parent?.step !== parent?.step)
    throw new ToolError('CONFLICT', `${paths.id} is the run of something else`, {
      suggestion: `toolable runs show ${paths.id}`,
    })
  if (isRunLive(paths)) return { is: 'live' }
  const child = await readChildRun(paths, request, attempt)
  if (isFinished(child.summary.state)) return child
  try {
    await recoverRun(paths)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFLICT') return { is: 'live' }
    throw error
  }
  return readChildRun(paths, request, attempt)
}

async function readChildRun(
  paths: RunPaths,
  request: Parameters<typeof createSummaryBuilder>[0],
  attempt: number,
): Promise<EndedChildRun> {
  const builder = createSummaryBuilder(request)
  let tried: unknown
  let retryable: unknown
  for await (const events of readEventBatches(paths.events)) {
    for (const event of events) {
      builder.add(event)
      if (event.type === 'runner_start') [tried, retryable] = [event['workflow_attempt'], undefined]
      else if (event.type === 'error' || event.type === 'runner_error')
        retryable = event['retryable']
    }
  }
  const summary = builder.current()
  // An end of a manual resume is that of the attempt it resumed.
  const isThisTry = typeof tried !== 'number' || tried >= attempt
  const counts =
    summary.state === 'completed' ||
    (summary.state === 'failed' &&
      isThisTry &&
      !RESUMABLE_CODES.includes(summary.error?.code ?? ''))
  return { is: 'ended', summary, counts, retryable }
}

function toAbortedError(signal: AbortSignal, runId: string): StepError {
  return { ...getAbortError(signal), run_id: runId }
}

function toChildOutcome(
  { summary: { state, result, error, run_id }, retryable }: EndedChildRun,
  runId: string,
  signal: AbortSignal,
): OperationOutcome {
  if (state === 'completed') return { ok: true, value: result ?? null, run_id: runId }
  if (state === 'cancelled' && signal.aborted)
    return { ok: false, error: toAbortedError(signal, runId) }
  if (state === 'cancelled') {
    const message = error?.message ?? `${run_id} was cancelled`
    return { ok: false, error: { code: 'CANCELLED', message, retryable: false, run_id: runId } }
  }
  const code = error?.code ?? 'INTERNAL'
  return {
    ok: false,
    error: compact({
      code: toPlainCode(code),
      message: error?.message ?? `${run_id} failed`,
      retryable: isRetryableFailure(code, retryable),
      hint: error?.hint,
      run_id: runId,
    }),
  }
}

/** A step as a task of the run protocol. */
type StepTask = {
  submitted(): Promise<void>
  /** Reported once. */
  started(): Promise<void>
  /** Forwards the events of its run that matter to the workflow. */
  forward(event: RunEvent): void | Promise<void>
  done(settled: OperationOutcome, child?: EndedChildRun): Promise<OperationOutcome>
}

const FORWARDED_EVENT_TYPES = ['progress', 'action_required', 'error']

/** Reports a task that is a run. */
function createStepTask({ emit }: StepHost, call: StepCall, runId: string): StepTask {
  const task = getAttemptKey(call)
  const about = { task_id: task, child_run_id: runId }
  let isStarted = false
  let events = 0
  return {
    submitted: async () =>
      emit?.({ type: 'task_submitted', task_id: task, payload: getTaskPayload(call) }),
    async started() {
      if (isStarted) return
      isStarted = true
      await emit?.({ type: 'task_started', ...about })
    },
    forward(event) {
      events += 1
      return FORWARDED_EVENT_TYPES.includes(event.type)
        ? emit?.({ type: `task_${event.type}`, ...about, child_event: event })
        : undefined
    },
    async done(settled, child) {
      const { summary } = child ?? {}
      await emit?.({
        type: 'task_done',
        ...about,
        status: settled.ok ? 'ok' : 'failed',
        child_result: settled.ok
          ? settled.value
          : { status: 'error', error: omitRunId(settled.error) },
        ...compact({ child_rc: summary?.rc }),
        events_count: Math.max(events, summary?.events ?? 0),
      })
      return settled
    },
  }
}

function omitRunId({ run_id: _run, ...rest }: StepError): Omit<StepError, 'run_id'> {
  return rest
}

/** The host of a child run: its workflow starts it, and reports it. */
function createChildHost(
  host: StepHost,
  call: StepCall,
  { answers }: RunPaths,
  task: StepTask,
  signal: AbortSignal,
): RunHost {
  return {
    env: host.env,
    about: { workflow_attempt: call.attempt },
    signal,
    // The run itself may be answered too, but nothing waits for that alone.
    channels: [
      ...(host.ask ? [createWorkflowChannel(host.ask, call)] : []),
      { ...createFolderChannel(answers), passive: host.ask !== undefined },
    ],
    onWritten: (lines) => forwardEvents(lines, task),
  }
}

function createWorkflowChannel(ask: NonNullable<StepHost['ask']>, call: StepCall): AnswerChannel {
  return {
    name: 'the workflow',
    answer: (question, signal, problem) => {
      const task = getAttemptKey(call)
      return ask(
        {
          question: {
            ...question,
            id: getForwardedQuestionId(task, question.id),
            ...compact({ problem }),
          },
          task,
          original: question.id,
        },
        signal,
      )
    },
  }
}

async function forwardEvents(lines: string, task: StepTask): Promise<void> {
  for (const line of lines.trimEnd().split('\n')) {
    const event: unknown = JSON.parse(line)
    if (isObject(event)) await task.forward(event as unknown as RunEvent)
  }
}
