/**
 * Flows: what the run functions of step kinds are made of.
 *
 * A flow is a generator. It yields commands (run an operation, run several flows, run with a
 * timeout) and is resumed by the scheduler with the result; it never touches clocks, files or
 * processes itself.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Workflow, WorkflowStep } from '../definition/model.ts'
import type {
  DurableContext,
  DurableOperation,
  OperationOutcome,
  StepError,
  WorkflowQuestion,
} from '../engine.ts'
import type { ExpressionScope, StepRecord } from '../expressions.ts'

/** What a flow requests from the scheduler, which resumes it with the result. */
export type FlowCommand =
  | { readonly kind: 'operation'; readonly operation: DurableOperation }
  | {
      readonly kind: 'all'
      readonly flows: readonly Flow<unknown>[]
      readonly limit: number
      /** Stops the others when one fails. */ readonly stopEarly: boolean
      /** They clean up, and are not stopped from outside. */ readonly shielded?: boolean
    }
  | {
      readonly kind: 'within'
      readonly key: string
      readonly seconds: number
      readonly flow: Flow<unknown>
    }
  | { readonly kind: 'check'; readonly schema: JsonSchema; readonly value: unknown }

/** A part of a workflow that is running. */
export type Flow<Result> = Generator<FlowCommand, Result, unknown>

/** How a flow ended. */
export type FlowOutcome<Result = unknown> =
  { readonly ok: true; readonly value: Result } | { readonly ok: false; readonly thrown: unknown }

class FlowError extends Error {
  constructor(readonly error: StepError) {
    super(error.message)
  }
}

/** A step failed, and with it the flow it belongs to. */
export class StepFailedError extends FlowError {
  override name = 'StepFailure'
}

/**
 * Thrown into a flow that must end: it was cancelled, its time is over, or a sibling failed. Only
 * cleanup runs after it.
 */
export class FlowStoppedError extends FlowError {
  override name = 'Stopped'
}

/** The error that was thrown in a flow, as a journal keeps it. Throws what is no error of steps. */
export function getStepError(thrown: unknown): StepError {
  if (thrown instanceof FlowError) return thrown.error
  if (!ToolError.is(thrown)) throw thrown
  const { code, message, retryable, suggestion } = thrown
  return compact({ code, message, retryable, hint: suggestion?.fix })
}

// A flow that outlives the one that was stopped has failed because of it.
function toFailure(thrown: unknown): unknown {
  return thrown instanceof FlowStoppedError ? new StepFailedError(thrown.error) : thrown
}

/** Runs an operation. Throws StepFailedError when it fails. */
export function* runOperation(
  operation: DurableOperation,
): Flow<OperationOutcome & { readonly ok: true }> {
  const outcome = (yield { kind: 'operation', operation }) as OperationOutcome
  if (outcome.ok) return outcome
  throw new StepFailedError(outcome.error)
}

/** Runs a flow with a timeout; then it is stopped, and this throws TIMEOUT. */
export function* runWithTimeout<Result>(
  key: string,
  seconds: number,
  flow: Flow<Result>,
): Flow<Result> {
  const outcome = (yield { kind: 'within', key, seconds, flow }) as FlowOutcome<Result>
  if (outcome.ok) return outcome.value
  throw toFailure(outcome.thrown)
}

/** Validates a value and fills in defaults. Throws StepFailedError for an invalid one. */
export function* checkValue(schema: JsonSchema, value: unknown): Flow<unknown> {
  const outcome = (yield { kind: 'check', schema, value }) as OperationOutcome
  if (outcome.ok) return outcome.value
  throw new StepFailedError(outcome.error)
}

/** Runs a flow that cleans up: nothing outside stops it. */
export function* runShielded<Result>(flow: Flow<Result>): Flow<Result> {
  const [outcome] = (yield {
    kind: 'all',
    flows: [flow],
    limit: 1,
    stopEarly: false,
    shielded: true,
  }) as readonly [FlowOutcome<Result>]
  if (outcome.ok) return outcome.value
  throw outcome.thrown
}

/**
 * Runs the parts of a step concurrently; the result is the list of their results. The failure of a
 * part stops the others and fails the step, unless the step continues after errors: then the result
 * of that part is null.
 */
export function* runGroup<Part>(
  flows: readonly Flow<Part>[],
  getResult: (part: Part) => unknown,
  { max_concurrency: limit, on_error }: GroupLimits,
): Flow<StepRecord> {
  const stopEarly = on_error !== 'continue'
  // A part that was never started has no outcome.
  const outcomes = (yield { kind: 'all', flows, limit, stopEarly }) as readonly (
    FlowOutcome<Part> | undefined
  )[]
  const failed = outcomes.filter((outcome) => outcome?.ok === false)
  // A part that was stopped because another one failed is not the reason.
  const reason = failed.find(({ thrown }) => !(thrown instanceof FlowStoppedError)) ?? failed[0]
  const result = outcomes.map((outcome) => (outcome?.ok ? getResult(outcome.value) : null))
  if (!reason) return createOkRecord(result)
  if (stopEarly) throw toFailure(reason.thrown)
  const errors = outcomes.map((outcome) =>
    outcome?.ok === false ? getStepError(outcome.thrown) : null,
  )
  return { status: 'failed', result, error: getStepError(reason.thrown), errors }
}

type GroupLimits = Pick<WorkflowStep, 'on_error'> & { readonly max_concurrency: number }

/** Steps that undo another one, and where they run. */
type Compensation = { readonly steps: readonly WorkflowStep[]; readonly at: StepLocation }

/** What the steps of one workflow share. */
export type WorkflowFrame = {
  readonly workflow: Workflow
  readonly context: DurableContext
  /** In the order in which their steps completed. */
  readonly compensations: Compensation[]
  readonly runner: StepRunner
}

/** What the interpreter does for step kinds. */
export type StepRunner = {
  step(step: WorkflowStep, at: StepLocation): Flow<StepRecord>
  /** Returns the result of the last step that was not skipped. */
  steps(steps: readonly WorkflowStep[], at: StepLocation): Flow<unknown>
  workflow(workflow: Workflow, input: unknown, parent: WorkflowParent): Flow<unknown>
  /** Asks a question, and returns the answer; after its timeout, the default if it has one. */
  ask(path: string, question: Omit<WorkflowQuestion, 'id'>): Flow<unknown>
}

/** Where a workflow runs. */
export type WorkflowParent = {
  readonly context: DurableContext
  /** The path around it; empty at the top. */
  readonly path: string
  /** Receives the compensations of its steps when all of them are done. */
  readonly outerCompensations?: Compensation[]
}

/** The names that steps see; each adds its own when it is done. */
type MutableScope = ExpressionScope & { readonly steps: { [name: string]: StepRecord } }

/** Where in a workflow a step runs. */
export type StepLocation = {
  readonly frame: WorkflowFrame
  /** The path around it; empty at the top. */
  readonly path: string
  readonly scope: MutableScope
}

/** The record of a step that succeeded. */
export function createOkRecord(result: unknown, runId?: string): StepRecord {
  const record: StepRecord = { status: 'ok', result, error: null }
  return runId === undefined ? record : { ...record, run_id: runId }
}

/** The path of a step in a list. */
export function joinStepPath(around: string, name: string): string {
  return around === '' ? name : `${around}/${name}`
}
