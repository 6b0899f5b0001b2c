/**
 * The contract between the interpreter and an engine: operations, outcomes, the durable context,
 * executions.
 */

import type { Interaction } from '../protocol/events.ts'
import type { Permissions } from '../protocol/manifest.ts'
import type { RunState } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isRunId } from '../runner/run-paths.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { Workflow } from './definition/model.ts'

/** An error in the form that a journal keeps. */
export type StepError = {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly hint?: string
  readonly details?: JsonObject
  /** The run that failed. */
  readonly run_id?: string
}

/** The outcome of an operation. It is recorded once, under the key of the operation. */
export type OperationOutcome =
  | { readonly ok: true; readonly value: unknown; readonly run_id?: string }
  | { readonly ok: false; readonly error: StepError }

/** The state in which an execution ends. */
export type EndState = 'completed' | 'failed' | 'cancelled'

export function getEndState(outcome: OperationOutcome): EndState {
  if (outcome.ok) return 'completed'
  return outcome.error.code === 'CANCELLED' ? 'cancelled' : 'failed'
}

/** A tool that a step wants: words as they are typed, or a name and an input. */
export type StepToolCall = {
  /**
   * The path of the step in the definition; with the id of the execution it is the idempotency key.
   */
  readonly step: string
  /** 1 for the first try. */
  readonly attempt: number
  readonly tool: string
  readonly given: { readonly args: readonly string[] } | { readonly input: JsonObject }
  /** The line as it was written, for people. */
  readonly command?: string
  /** Seconds. */
  readonly timeout?: number
  readonly permissions?: Permissions
}

/** Something that takes time, and whose end is recorded. */
export type DurableOperation =
  | { readonly kind: 'tool'; readonly key: string; readonly call: StepToolCall }
  | { readonly kind: 'answer'; readonly key: string; readonly question: WorkflowQuestion }
  | {
      readonly kind: 'sleep'
      readonly key: string
      readonly until: { readonly seconds: number } | { readonly time: string }
    }

/**
 * A question of a workflow. Its id follows from its key, so that it is the same after every
 * restart.
 */
export type WorkflowQuestion = Interaction & {
  /** What presets and policies may call it. */ readonly action: string
  readonly context?: JsonObject
}

/** An operation that was begun. */
export type PendingOperation = {
  readonly operation: DurableOperation
  /** Aborts it: it settles with CANCELLED or TIMEOUT, or with its outcome if that came first. */
  abort(error: StepError): void
}

/**
 * What an engine does for one execution. The interpreter uses nothing else: no clock, no
 * randomness, no other order.
 */
export type DurableContext = {
  /** The id of the execution. */
  readonly id: string
  /**
   * Begins an operation. Nothing needs to happen before `first` is called with it. Keys are unique
   * in an execution.
   */
  begin(operation: DurableOperation): PendingOperation
  /**
   * The first of these to settle, in the order that the engine has recorded: the same after every
   * restart. Rejects with a `Cancellation`, once, when the execution is cancelled.
   */
  first(
    begun: readonly PendingOperation[],
  ): Promise<{ readonly begun: PendingOperation; readonly settled: OperationOutcome }>
  /** Reports what happens. After a restart it is reported again, and the engine marks it. */
  emit?(event: WorkflowEvent): void
}

/** Thrown by `first` when the execution is cancelled. */
export class ExecutionCancelledError extends Error {
  readonly reason: string
  constructor(reason: string) {
    super(reason)
    this.name = 'Cancellation'
    this.reason = reason
  }
}

/** What the interpreter reports. Tasks are reported by the one who performs them. */
export type WorkflowEvent =
  | { readonly type: 'step_start'; readonly step: string; readonly kind: string }
  | { readonly type: 'step_skipped'; readonly step: string }
  | {
      readonly type: 'step_retry'
      readonly step: string
      readonly attempt: number
      readonly in_s: number
      readonly error: StepError
    }
  | {
      readonly type: 'step_done'
      readonly step: string
      readonly status: 'ok' | 'failed'
      readonly error?: StepError
    }
  | { readonly type: 'compensating'; readonly error: StepError }

/**
 * Performs a tool for a step: in this process, or as a child run. A live attempt under the same key
 * is joined. Never rejects.
 */
export type PerformTool = (
  call: StepToolCall & { readonly workflow: string; readonly idempotencyKey: string },
  signal: AbortSignal,
) => Promise<OperationOutcome>

/** The state of an execution. */
export type Execution = {
  /** A run id. */
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly state: RunState
  readonly created: string
  readonly ended?: string
  readonly result?: unknown
  readonly error?: StepError
  /** Open questions. */
  readonly questions?: readonly WorkflowQuestion[]
}

/** An execution that was started. */
export type ExecutionHandle = {
  readonly id: string
  /** Never rejects for what steps do; rejects where the engine is lost. */ readonly done: Promise<Execution>
}

export type StartExecutionOptions = {
  /** A run id chosen by the caller: an execution with this id is joined. */
  readonly id?: string
}

/** Which executions are listed; default: all of them. */
export type ExecutionFilter = {
  readonly name?: string
  readonly state?: RunState
  readonly limit?: number
}

/** Where workflows are executed: one process, or many machines. */
export type WorkflowEngine = {
  start(
    definition: Workflow,
    input: unknown,
    options?: StartExecutionOptions,
  ): Promise<ExecutionHandle>
  /** Answers a question; the first answer wins. Throws NOT_FOUND, CONFLICT. */
  answer(id: string, question: string, value: unknown, by?: string): Promise<void>
  cancel(id: string, reason?: string): Promise<void>
  get(id: string): Promise<Execution | undefined>
  list(filter?: ExecutionFilter): Promise<readonly Execution[]>
  close(): Promise<void>
}

/** Whether a filter matches, apart from its limit. */
export function matchesFilter(execution: Execution, { name, state }: ExecutionFilter): boolean {
  return (
    (name === undefined || execution.name === name) &&
    (state === undefined || execution.state === state)
  )
}

/** Throws INVALID_INPUT for an id that no execution can have. */
export function requireRunId(id: string, verb = 'cannot be'): string {
  if (isRunId(id)) return id
  throw new ToolError(
    'INVALID_INPUT',
    `'${String(id).slice(0, 100)}' ${verb} the id of a workflow: ids look like r-0123456789`,
    { field: 'id' },
  )
}

/** A thrown value in the form that a journal keeps. */
export function toStepError(thrown: unknown): StepError {
  const error = ToolError.is(thrown)
    ? thrown
    : new ToolError('INTERNAL', thrown instanceof Error ? thrown.message : String(thrown))
  const { code, message, retryable, suggestion, details } = error
  return compact({
    code,
    message,
    retryable,
    hint: suggestion ? (suggestion.example ?? suggestion.fix) : undefined,
    details,
  })
}

/** The error of a step as a ToolError. */
export function stepErrorToToolError({
  code,
  message,
  retryable,
  hint,
  details,
  run_id,
}: StepError): ToolError {
  return new ToolError(
    code,
    message,
    compact({
      retryable,
      suggestion: hint,
      details:
        (details ?? run_id) !== undefined ? { ...details, ...compact({ run_id }) } : undefined,
    }),
  )
}
