/**
 * What step kinds are made of: the contract of a kind, and the flow operations that its run
 * function yields.
 *
 * A run function is a generator. It yields commands (run an operation, run several flows, run with
 * a timeout) and is resumed by the
 * scheduler with the result; it never touches clocks, files or processes itself.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Workflow, WorkflowStep } from '../definition/model.ts'
import type {
  DefinitionReader,
  ExpressionUse,
  StepDraft,
  StepDraftGroup,
} from '../definition/reader.ts'
import type { DurableContext, DurableOperation, OperationOutcome, StepError } from '../engine.ts'
import type { ExpressionScope, StepRecord } from '../expressions.ts'

/** What a flow wants from its scheduler; it is resumed when it has it. */
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

/**
 * A part of a workflow on its way. It knows nothing of time: it says what it wants, and goes on
 * when it is told.
 */
export type Flow<Result> = Generator<FlowCommand, Result, unknown>

/** How a flow ended. */
export type FlowOutcome<Result = unknown> =
  { readonly ok: true; readonly value: Result } | { readonly ok: false; readonly thrown: unknown }

/** A step that failed, and with it what it belongs to. */
export class StepFailedError extends Error {
  readonly error: StepError
  constructor(error: StepError) {
    super(error.message)
    this.name = 'StepFailure'
    this.error = error
  }
}

/**
 * Thrown into a flow that has to end: it was cancelled, its time is over, or another one beside it
 * failed. Only what cleans up runs after it.
 */
export class FlowStoppedError extends Error {
  readonly error: StepError
  constructor(error: StepError) {
    super(error.message)
    this.name = 'Stopped'
    this.error = error
  }
}

/** Does an operation; throws StepFailure where it fails. */
export function* runOperation(
  operation: DurableOperation,
): Flow<OperationOutcome & { readonly ok: true }> {
  const settled = (yield { kind: 'operation', operation }) as OperationOutcome
  if (settled.ok) return settled
  throw new StepFailedError(settled.error)
}

/**
 * Follows several flows, so many at a time. With `stopEarly`, what was never begun has no ending.
 */
export function* runAll<Result>(
  flows: readonly Flow<Result>[],
  { limit, stopEarly }: { readonly limit: number; readonly stopEarly: boolean },
): Flow<readonly (FlowOutcome<Result> | undefined)[]> {
  return (yield { kind: 'all', flows, limit, stopEarly }) as readonly (
    FlowOutcome<Result> | undefined
  )[]
}

/** Follows a flow for so many seconds at most; then it is stopped, with TIMEOUT. */
export function* runWithTimeout<Result>(
  key: string,
  seconds: number,
  flow: Flow<Result>,
): Flow<Result> {
  const ended = (yield { kind: 'within', key, seconds, flow }) as FlowOutcome<Result>
  if (ended.ok) return ended.value
  // Were this flow to stop as well, it would have been told so instead.
  throw ended.thrown instanceof FlowStoppedError
    ? new StepFailedError(ended.thrown.error)
    : ended.thrown
}

/** Checks a value, and gives it with its defaults; throws StepFailure where it does not fit. */
export function* checkValue(schema: JsonSchema, value: unknown): Flow<unknown> {
  const settled = (yield { kind: 'check', schema, value }) as OperationOutcome
  if (settled.ok) return settled.value
  throw new StepFailedError(settled.error)
}

/** Follows a flow that cleans up: it is not stopped, whatever happens around it. */
export function* runShielded<Result>(flow: Flow<Result>): Flow<Result> {
  const [ended] = (yield {
    kind: 'all',
    flows: [flow],
    limit: 1,
    stopEarly: false,
    shielded: true,
  }) as readonly [FlowOutcome<Result>]
  if (ended.ok) return ended.value
  throw ended.thrown
}

/** Steps that take back what another one did, with what they may refer to. */
type Compensation = { readonly steps: readonly WorkflowStep[]; readonly at: StepLocation }

/** What the steps of one workflow have in common. */
export type WorkflowFrame = {
  readonly workflow: Workflow
  readonly context: DurableContext
  /** In the order in which their steps were done. */
  readonly compensations: Compensation[]
  readonly walk: StepRunner
}

/** How kinds of steps that hold others have them taken. */
export type StepRunner = {
  step(step: WorkflowStep, at: StepLocation): Flow<StepRecord>
  /** Gives the result of the last one that was not skipped. */
  steps(steps: readonly WorkflowStep[], at: StepLocation): Flow<unknown>
  workflow(workflow: Workflow, input: unknown, around: WorkflowParent): Flow<unknown>
}

/** Where a workflow is followed. */
export type WorkflowParent = {
  readonly context: DurableContext
  /** The path of what is around it; empty at the top. */
  readonly path: string
  /** Given what takes its steps back, once they are all done. */
  readonly outerCompensations?: Compensation[]
}

/** The names that steps see; each adds its own when it is done. */
type MutableScope = ExpressionScope & { readonly steps: { [name: string]: StepRecord } }

/** Where in a workflow something is. */
export type StepLocation = {
  readonly frame: WorkflowFrame
  /** The path of what is around it; empty at the top. */
  readonly path: string
  readonly scope: MutableScope
}

/** One kind of step. `path` is that of the step itself, in this try of it. */
export type StepKind<Kind extends WorkflowStep = WorkflowStep> = {
  /** Whether a step that says nothing about it is tried again after a failure that may pass. */
  readonly retriesByDefault: boolean
  /** Whether the timeout of a step is kept around it; otherwise it keeps its own. */
  readonly enforceTimeout: boolean
  run(step: Kind, at: StepLocation, path: string, attempt: number): Flow<StepRecord>
}

/** The record of a step that gave something. */
export function createOkRecord(result: unknown, runId?: string): StepRecord {
  return { status: 'ok', result, error: null, ...compact({ run_id: runId }) }
}

/** The path of a step in a list. */
export function joinStepPath(around: string, name: string): string {
  return around === '' ? name : `${around}/${name}`
}

/** A step as it was given. */
export type RawStep = { readonly [key: string]: unknown }

/** What the reader of a kind may ask for. */
export type StepParseContext = {
  readonly reader: DefinitionReader
  /** Reads steps inside the step; `role` says how they are named. */
  steps(value: unknown, path: KeyPath, role: 'steps' | 'tasks'): readonly StepDraft[]
  /** Reads another workflow: one that stands there, or the file that is named. */
  workflow(value: unknown, path: KeyPath): Workflow | undefined
}

/**
 * What a kind makes of a step: its own fields, written out. Undefined fields: too much is wrong.
 */
export type ParsedStep = {
  readonly fields: object | undefined
  readonly uses?: readonly ExpressionUse[]
  readonly inside?: readonly StepDraftGroup[]
}

/**
 * Reads what one form of a step says besides what every step may say; its keys are known ones, and
 * the required ones are there.
 */
export type ParseStep = (given: RawStep, path: KeyPath, context: StepParseContext) => ParsedStep

/** What was thrown in a flow, as a journal keeps it: failures of steps, and of expressions. */
export function getStepError(thrown: unknown): StepError {
  if (thrown instanceof StepFailedError || thrown instanceof FlowStoppedError) return thrown.error
  if (ToolError.is(thrown))
    return compact({
      code: thrown.code,
      message: thrown.message,
      retryable: thrown.retryable,
      hint: thrown.suggestion ? thrown.suggestion.fix : undefined,
    })
  throw thrown
}

/**
 * The record of a step from the endings of its parts. A failure is that of the whole, unless the
 * step goes on: then the result of what failed is null.
 */
export function createGroupRecord<Part>(
  endings: readonly (FlowOutcome<Part> | undefined)[],
  resultOf: (part: Part) => unknown,
  goesOn: boolean,
): StepRecord {
  const failed = endings.filter(
    (ended): ended is FlowOutcome<Part> & { ok: false } => ended?.ok === false,
  )
  // What was stopped because of another failure is not the reason.
  const reason = failed.find(({ thrown }) => !(thrown instanceof FlowStoppedError)) ?? failed[0]
  const results = endings.map((ended) => (ended?.ok ? resultOf(ended.value) : null))
  if (!reason) return createOkRecord(results)
  if (!goesOn)
    throw reason.thrown instanceof FlowStoppedError
      ? new StepFailedError(reason.thrown.error)
      : reason.thrown
  const errors = endings.map((ended) => (ended?.ok === false ? getStepError(ended.thrown) : null))
  return { status: 'failed', result: results, error: getStepError(reason.thrown), errors }
}
