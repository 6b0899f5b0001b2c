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

/** A question of a tool, and who asks it. Its id is that under which the workflow asks it. */
type ForwardedQuestion = {
  readonly question: RunQuestion
  readonly context?: JsonObject
  readonly task: string
  /** The run of the tool, where it has one, and what it calls the question there. */ readonly run_id?: string
  readonly original: string
}

/** The tool of a step, as an engine wants it performed. */
export type StepCall = Parameters<PerformTool>[0]

/** What stands around the steps of workflows. */
export type StepHost = {
  readonly registry: Pick<Registry, 'find' | 'call' | 'describe' | 'prepare'>
  /** Where the runs of steps are recorded. */
  readonly runsFolder: string
  /** What relative paths mean. */
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  /** The trace that the runs of steps belong to. */
  readonly traceparent?: string | undefined
  /**
   * Told what happens to tasks, in the lines of the run protocol. A promise holds the tool back.
   */
  readonly emit?: (line: ToolLine) => void | Promise<void>
  /**
   * Runs a workflow that is the tool of a step, as a run of its own; without it such a tool is
   * called like any other.
   */
  readonly startWorkflow?: (paths: RunPaths, request: RunRequest) => StartRunTarget
  /** Answers what tools ask; undefined where nobody does. */
  readonly ask?: (
    asked: ForwardedQuestion,
    signal: AbortSignal,
  ) => Promise<{ readonly value: unknown } | undefined>
  /**
   * A try that ended because nobody answered its tool is no failure: it rejects with
   * ANSWER_REQUIRED, and is left for the next attempt of its workflow.
   */
  readonly leavesUnanswered?: true
  /**
   * Whether calls that are no runs are remembered by their key, so that an answer that was not
   * recorded is not worked for again; default true. It costs two files for each call.
   */
  readonly remembers?: boolean
}

/** What the tool of a step is as a run of its own: a program, or another workflow. */
export type ChildRunPlan = {
  readonly runId: string
  request(paths: RunPaths): Promise<RunRequest>
  /** What is run where it is no program. */
  start?(paths: RunPaths, request: RunRequest): StartRunTarget
}

/** A step whose tool is a run of its own. */
export type ChildStep = {
  readonly host: StepHost
  readonly call: StepCall
  readonly work: ChildRunPlan
  readonly signal: AbortSignal
}

const MAX_FORWARDED_ID_LENGTH = 100

/**
 * The key of a try: the path of its step, and which try it is where it is not the first. It is also
 * the id of its task.
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

/** The name of a code as a journal keeps it, whatever a protocol calls it. */
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
