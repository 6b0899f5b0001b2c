/**
 * The interpreter: runs the steps of a workflow with conditions, retries, compensation and
 * `finally`.
 *
 * It is deterministic. Everything that takes time is an operation of the engine, so a replay from
 * the journal takes the same path.
 */

import { createHash } from 'node:crypto'
import { findErrorRow, getErrorInfo } from '../protocol/errors.ts'
import { compact } from '../util/values.ts'
import type { RetryPolicy, Workflow, WorkflowStep } from './definition/model.ts'
import { DEFAULT_RETRY } from './definition/model.ts'
import type { DurableContext, OperationOutcome, StepError, WorkflowQuestion } from './engine.ts'
import type { StepRecord } from './expressions.ts'
import { interpolate, isConditionTrue } from './expressions.ts'
import { runFlow } from './scheduler.ts'
import type { Flow, StepLocation, StepRunner, WorkflowFrame, WorkflowParent } from './steps/flow.ts'
import {
  checkValue,
  FlowStoppedError,
  getStepError,
  joinStepPath,
  runOperation,
  runShielded,
  runWithTimeout,
  StepFailedError,
} from './steps/flow.ts'
import { getStepKind } from './steps/table.ts'

/**
 * Executes a workflow on an engine, from the beginning or from the end of its journal. Rejects only
 * when the engine fails; failures of steps are in the outcome.
 */
export async function interpretWorkflow(
  workflow: Workflow,
  input: unknown,
  context: DurableContext,
): Promise<OperationOutcome> {
  const flow = runWorkflow(workflow, input, { context, path: '' })
  const ended = await runFlow(
    workflow.timeout === undefined ? flow : runWithTimeout('~timeout', workflow.timeout, flow),
    context,
  )
  return ended.ok
    ? { ok: true, value: ended.value ?? null }
    : { ok: false, error: getStepError(ended.thrown) }
}

/**
 * Runs a workflow: its steps, compensations after a failure, and `finally`. Throws StepFailedError
 * or FlowStoppedError.
 */
function* runWorkflow(
  workflow: Workflow,
  given: unknown,
  { context, path, outerCompensations: outer }: WorkflowParent,
): Flow<unknown> {
  const input = workflow.input ? yield* checkValue(workflow.input, given) : given
  const frame: WorkflowFrame = { workflow, context, compensations: [], runner: STEP_RUNNER }
  const at: StepLocation = {
    frame,
    path,
    scope: { input, steps: {}, workflow: { id: context.id, name: workflow.name }, items: {} },
  }
  let value: unknown
  try {
    const last = yield* runSteps(workflow.steps, at)
    value = workflow.output === undefined ? last : interpolate(workflow.output, at.scope)
  } catch (thrown) {
    const error = getStepError(thrown)
    if (frame.compensations.length > 0) context.emit?.({ type: 'compensating', error })
    const problems = yield* runShielded(runCleanup(workflow, at))
    const reported =
      problems.length === 0
        ? error
        : {
            ...error,
            details: { ...error.details, cleanup: [...getCleanupProblems(error), ...problems] },
          }
    throw thrown instanceof FlowStoppedError
      ? new FlowStoppedError(reported)
      : new StepFailedError(reported)
  }
  outer?.push(...frame.compensations)
  // A failure in `finally` fails the workflow, but what was done stays done, unless the workflow
  // around it undoes it.
  if (workflow.finally) yield* runShielded(runSteps(workflow.finally, toFinallyLocation(at)))
  return value
}

const STEP_RUNNER: StepRunner = {
  step: runStep,
  steps: runSteps,
  workflow: runWorkflow,
  ask: askQuestion,
}

// The last step is undone first. A failure does not prevent the other compensations.
function* runCleanup({ finally: last = [] }: Workflow, at: StepLocation): Flow<StepError[]> {
  const problems: StepError[] = []
  for (const { steps, at: where } of [...at.frame.compensations].reverse()) {
    // Each compensation has its own scope, because steps without names may be called alike.
    const scope = { ...where.scope, steps: { ...where.scope.steps } }
    problems.push(...(yield* runAndCollectErrors(steps, { ...where, scope })))
  }
  problems.push(...(yield* runAndCollectErrors(last, toFinallyLocation(at))))
  return problems
}

// A nested workflow may have had cleanup problems of its own.
function getCleanupProblems({ details }: StepError): readonly unknown[] {
  return Array.isArray(details?.['cleanup']) ? details['cleanup'] : []
}

function toFinallyLocation(at: StepLocation): StepLocation {
  return { ...at, path: joinStepPath(at.path, 'finally') }
}

function* runAndCollectErrors(steps: Workflow['steps'], at: StepLocation): Flow<StepError[]> {
  try {
    yield* runSteps(steps, at)
    return []
  } catch (thrown) {
    return [getStepError(thrown)]
  }
}

const SKIPPED_RECORD: StepRecord = { status: 'skipped', result: null, error: null }
const NO_RETRY: RetryPolicy = { ...DEFAULT_RETRY, max: 0 }

/** Runs steps one after another; returns the result of the last one that was not skipped. */
function* runSteps(steps: readonly WorkflowStep[], at: StepLocation): Flow<unknown> {
  let last: unknown = null
  for (const step of steps) {
    const record = yield* runStep(step, at)
    if (record.status !== 'skipped') last = record.result
  }
  return last
}

/**
 * Runs a step with its retries, and records its outcome. Throws StepFailedError when its failure
 * fails the workflow.
 */
function* runStep(step: WorkflowStep, at: StepLocation): Flow<StepRecord> {
  const {
    frame: { context, compensations: undo },
    scope,
  } = at
  const path = joinStepPath(at.path, step.name)
  const keep = (record: StepRecord): StepRecord => (scope.steps[step.name] = record)
  try {
    if (step.when !== undefined && !isConditionTrue(step.when, scope)) {
      context.emit?.({ type: 'step_skipped', step: path })
      return keep(SKIPPED_RECORD)
    }
    context.emit?.({ type: 'step_start', step: path, kind: step.type })
    const record = yield* runStepWithRetries(step, at, path)
    if (step.compensate) undo.push({ steps: step.compensate, at: { ...at, path: `${path}~undo` } })
    context.emit?.(
      compact({
        type: 'step_done',
        step: path,
        status: record.status === 'failed' ? 'failed' : 'ok',
        error: record.error || undefined,
      }),
    )
    return keep(record)
  } catch (thrown) {
    if (thrown instanceof FlowStoppedError) throw thrown
    const error = withFailedStep(getStepError(thrown), path)
    context.emit?.({ type: 'step_done', step: path, status: 'failed', error })
    // Also when it ends the workflow: compensations and `finally` may refer to it.
    const record = keep({ status: 'failed', result: null, error })
    if (step.on_error !== 'continue') throw new StepFailedError(error)
    return record
  }
}

function* runStepWithRetries(step: WorkflowStep, at: StepLocation, path: string): Flow<StepRecord> {
  const kind = getStepKind(step)
  const { retry = kind.retriesByDefault ? DEFAULT_RETRY : NO_RETRY, timeout } = step
  for (let attempt = 1; ; attempt += 1) {
    const here = attempt === 1 ? path : `${path}#${attempt}`
    try {
      const taken = kind.run(step, at, here, attempt)
      return yield* timeout === undefined || kind.enforcesTimeout
        ? taken
        : runWithTimeout(`${here}~timeout`, timeout, taken)
    } catch (thrown) {
      if (thrown instanceof FlowStoppedError) throw thrown
      const error = getStepError(thrown)
      if (attempt > retry.max || !canRetry(step, error)) throw new StepFailedError(error)
      const seconds = getRetryDelaySeconds(attempt + 1, retry, `${at.frame.context.id}/${path}`)
      at.frame.context.emit?.({
        type: 'step_retry',
        step: path,
        attempt: attempt + 1,
        in_s: seconds,
        error,
      })
      if (seconds > 0)
        yield* runOperation({
          kind: 'sleep',
          key: `${path}#${attempt + 1}~pause`,
          until: { seconds },
        })
    }
  }
}

function canRetry({ retry }: WorkflowStep, error: StepError): boolean {
  if (!retry) return error.retryable
  return retry.on ? matchesErrorCode(error, retry.on) : canSucceedOnRetry(error)
}

// The innermost step is the one that failed.
function withFailedStep(error: StepError, path: string): StepError {
  return error.details?.['step'] === undefined
    ? { ...error, details: { ...error.details, step: path } }
    : error
}

// A number of retries applies to every failure except those that a retry cannot change: invalid
// input, missing permission, and cancellation.
function canSucceedOnRetry({ code }: StepError): boolean {
  const { category } = getErrorInfo(code)
  return category !== 'input' && category !== 'auth' && findErrorRow(code)?.code !== 'CANCELLED'
}

function matchesErrorCode({ code }: StepError, on: NonNullable<RetryPolicy['on']>): boolean {
  const row = findErrorRow(code)
  return on.some(
    (wanted) =>
      wanted === code ||
      (row !== undefined && (wanted === row.row.class || findErrorRow(wanted)?.code === row.code)),
  )
}

// Steps that failed at the same moment do not retry at the same moment, but a replay waits as long
// as the first time.
function getRetryDelaySeconds(
  attempt: number,
  { delay, factor, longest }: RetryPolicy,
  key: string,
): number {
  let hash = attempt
  for (let index = 0; index < key.length; index += 1)
    hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0
  const full = Math.min(longest, delay * factor ** (attempt - 2))
  return Math.round(full * (500 + (hash % 501))) / 1000
}

/** Asks a question and returns the answer; after its timeout, its default if it has one. */
function* askQuestion(path: string, question: Omit<WorkflowQuestion, 'id'>): Flow<unknown> {
  const { timeout, default: preset } = question
  const asked = runOperation({
    kind: 'answer',
    key: path,
    question: { id: getQuestionId(path), ...question },
  })
  try {
    const { value } = yield* timeout === undefined
      ? asked
      : runWithTimeout(`${path}~timeout`, timeout, asked)
    return value
  } catch (thrown) {
    const isTimeout = thrown instanceof StepFailedError && thrown.error.code === 'TIMEOUT'
    if (isTimeout && preset !== undefined) return preset
    throw thrown
  }
}

const MAX_QUESTION_ID_LENGTH = 100

/** The id of the question at a path: a word that is the name of a file as well. */
export function getQuestionId(path: string): string {
  // No name contains these characters, so that two places never have the same id.
  const id = path.replaceAll('/', '.').replace(/[#~]/g, ':')
  // Two long ids could be equal once they are cut.
  return id.length <= MAX_QUESTION_ID_LENGTH && !id.startsWith('.')
    ? id
    : `q.${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
}
