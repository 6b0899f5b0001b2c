/**
 * What performing steps has in common: the host, the ids of child runs and questions, and
 * conversion of outcomes and errors.
 */

import { createHash } from 'node:crypto'
import { toToolError } from '../core/errors.ts'
import { findErrorRow } from '../protocol/errors.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { Registry } from '../registry/types.ts'
import { isRetryableFailure } from '../runner/attempt-outcome.ts'
import type { RunQuestion } from '../runner/questions.ts'
import type { RunRequest } from '../runner/request.ts'
import type { RunPaths } from '../runner/run-paths.ts'
import type { StartRunTarget } from '../runner/run-target.ts'
import type { ToolLine } from '../runner/tool-output.ts'
import type { JsonObject } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { OperationOutcome, PerformTool, StepError, StepToolCall } from './engine.ts'

/** A question of a tool. Its id is the one under which the workflow asks it. */
type ForwardedQuestion = {
  readonly question: RunQuestion
  readonly context?: JsonObject
  readonly task: string
  /** The run of the tool, if it has one, and the id of the question there. */
  readonly run_id?: string
  readonly original: string
}

/** The tool call of a step. */
export type StepCall = Parameters<PerformTool>[0]

/** What steps of workflows need. */
export type StepHost = {
  readonly registry: Pick<Registry, 'find' | 'call' | 'describe' | 'prepare'>
  /** Where the runs of steps are recorded. */
  readonly runsFolder: string
  /** The base of relative paths. */
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  /** The trace that the runs of steps belong to. */
  readonly traceparent?: string | undefined
  /**
   * Receives what happens to tasks, in the lines of the run protocol. A promise delays the tool.
   */
  readonly emit?: (line: ToolLine) => void | Promise<void>
  /**
   * Runs a workflow that is the tool of a step, as a child run; without it such a tool is called
   * like any other.
   */
  readonly startWorkflow?: (paths: RunPaths, request: RunRequest) => StartRunTarget
  /** Answers questions of tools; undefined if there is no answerer. */
  readonly ask?: (
    asked: ForwardedQuestion,
    signal: AbortSignal,
  ) => Promise<{ readonly value: unknown } | undefined>
  /**
   * An attempt whose tool got no answer is not a failure: it rejects with ANSWER_REQUIRED, and the
   * next attempt of the workflow asks again.
   */
  readonly leavesUnanswered?: true
  /**
   * Whether calls are remembered by their key, so that an outcome that was not recorded is not
   * computed again; default true. Costs two files per call.
   */
  readonly remembers?: boolean
}

/** The child run of a step: a program, or another workflow. */
export type ChildRunPlan = {
  readonly runId: string
  request(paths: RunPaths): Promise<RunRequest>
  /** Starts it, if it is no program. */
  start?(paths: RunPaths, request: RunRequest): StartRunTarget
}

/** A step whose tool is a child run. */
export type ChildStep = {
  readonly host: StepHost
  readonly call: StepCall
  readonly work: ChildRunPlan
  readonly signal: AbortSignal
}

const MAX_FORWARDED_ID_LENGTH = 100

/**
 * The key of an attempt: the path of its step, and the number of the attempt after the first. It is
 * also the id of its task.
 */
export function getAttemptKey({ step, attempt }: Pick<StepToolCall, 'step' | 'attempt'>): string {
  return attempt > 1 ? `${step}#${attempt}` : step
}

/** What the record of a run shows of the call of a step. */
export function getTaskPayload({ command, tool, given }: StepToolCall): JsonObject {
  return command === undefined ? { tool, ...given } : { command }
}

/** The run of a step: the same in every attempt of its workflow, and in every process. */
export function getChildRunId(idempotencyKey: string): string {
  return `r-${hashText(idempotencyKey).slice(0, 10)}`
}

/** The id under which a workflow asks what one of its tools asks. */
export function getForwardedQuestionId(key: string, question: string): string {
  const id = `${key}.${question}`
    .replaceAll('/', '.')
    .replaceAll('#', ':')
    .replaceAll(/[^\w.:-]/g, '-')
    .replace(/^\.+/, '')
  if (id.length <= MAX_FORWARDED_ID_LENGTH) return id
  return `${id.slice(0, MAX_FORWARDED_ID_LENGTH - 13)}-${hashText(id).slice(0, 12)}`
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The outcome of a call, as a journal keeps it. A partial result counts as a result. */
export function toOperationOutcome(outcome: Outcome): OperationOutcome {
  if (outcome.ok) return { ok: true, value: outcome.result ?? null }
  const { code, message, retryable, suggestion, details } = outcome.error
  return {
    ok: false,
    error: compact({
      code,
      message,
      retryable: isRetryableFailure(code, retryable),
      hint: suggestion?.example ?? suggestion?.fix,
      details: isObject(details) ? details : undefined,
    }),
  }
}

/** The same for an error that was thrown. */
export function toFailureOutcome(thrown: unknown): OperationOutcome {
  return toOperationOutcome({ ok: false, error: toToolError(thrown).toObject() } as Outcome)
}

/** The plain name of an error code of any protocol. */
export function toPlainCode(code: string): string {
  return findErrorRow(code)?.code ?? code
}

/** Why an operation was aborted: the reason of the signal if that is an error, else CANCELLED. */
export function getAbortError(signal: AbortSignal): StepError {
  const reason: unknown = signal.reason
  const { code, message, retryable, hint } = isObject(reason) ? reason : {}
  if (typeof code === 'string' && typeof message === 'string')
    return compact({
      code,
      message,
      retryable: retryable === true,
      hint: typeof hint === 'string' ? hint : undefined,
    })
  return {
    code: 'CANCELLED',
    message: typeof reason === 'string' ? reason : 'the step was cancelled',
    retryable: false,
  }
}
