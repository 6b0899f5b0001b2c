/**
 * How a workflow speaks through its run: questions, progress of steps, and the final line.
 */

import { toProtocolCode } from '../protocol/errors.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { RunQuestion } from '../runner/questions.ts'
import type {
  RunTarget,
  RunTargetEnd,
  RunTargetListener,
  StopReason,
} from '../runner/run-target.ts'
import type { ToolLine } from '../runner/tool-output.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { Workflow } from './definition/model.ts'
import type { JournalRecord } from './embedded/journal-records.ts'
import type { OperationOutcome, StepError, WorkflowEvent, WorkflowQuestion } from './engine.ts'

/** The questions of a workflow, asked through its run. */
export type QuestionRegistry = Required<Pick<RunTarget, 'answer'>> & {
  /** Rejects when there is no answer. */
  ask(
    question: RunQuestion,
    signal: AbortSignal,
    context?: JsonObject,
  ): Promise<{ readonly value: unknown; readonly by: string }>
  /** The same for a question of the workflow itself; the interpreter enforces its timeout. */
  askWorkflowQuestion(
    question: WorkflowQuestion,
    signal: AbortSignal,
  ): Promise<{ readonly value: unknown; readonly by: string }>
  decline(id: string, error: ToolError): void
  /**
   * The workflow is interrupted: its questions stay open for its next attempt, although this
   * process no longer waits.
   */
  keepOpen(): void
}

type WaitingQuestion = {
  readonly resolve: (answer: { readonly value: unknown; readonly by: string }) => void
  readonly reject: (error: unknown) => void
}

/** The questions of one attempt. A question that is no longer waited for is withdrawn. */
export function createQuestionRegistry(
  listener: Pick<RunTargetListener, 'onQuestion' | 'onWithdrawn'>,
): QuestionRegistry {
  const waiting = new Map<string, WaitingQuestion>()
  let isLeft = false
  const ask: QuestionRegistry['ask'] = (question, signal, context) =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        signal.removeEventListener('abort', withdraw)
        waiting.delete(question.id)
      }
      const withdraw = (): void => {
        settle()
        if (!isLeft) listener.onWithdrawn(question.id)
        reject(signal.reason as Error)
      }
      if (signal.aborted) return reject(signal.reason as Error)
      signal.addEventListener('abort', withdraw, { once: true })
      waiting.set(question.id, {
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (error) => (settle(), reject(error)),
      })
      listener.onQuestion(question, context)
    })
  return {
    ask,
    askWorkflowQuestion({ timeout, context, ...question }, signal) {
      return ask(question, signal, { ...context, ...compact({ timeout }) })
    },
    answer: ({ id, value, by }) => waiting.get(String(id))?.resolve({ value, by: String(by) }),
    decline: (id, error) => waiting.get(id)?.reject(error),
    keepOpen: () => void (isLeft = true),
  }
}

/** Reports what happens to steps. */
type StepReporter = {
  event(event: WorkflowEvent, again: boolean): void
  /** Reports that some of it happened before. */
  resumed(records: readonly JournalRecord[]): void
}

/**
 * Reports the steps of a workflow to its run: the progress by the steps at the top, and for each
 * step when it began and how it ended. What happened before a restart is on record already.
 */
export function reportSteps(
  { steps }: Workflow,
  listener: Pick<RunTargetListener, 'onLine'>,
): StepReporter {
  const top = new Map(steps.map(({ name }, index) => [name, index]))
  const done = new Set<string>()
  const log = (level: string, msg: string, step: string, more: object): void =>
    listener.onLine({ type: 'log', level, msg, step, ...more })
  return {
    resumed(records) {
      const known = records.filter(({ t }) => t === 'done').length
      if (known > 0)
        listener.onLine({
          type: 'log',
          level: 'info',
          msg: `${known} ${known === 1 ? 'operation is' : 'operations are'} on record, and not done again`,
        })
    },
    event(event, again) {
      if ((event.type === 'step_done' || event.type === 'step_skipped') && top.has(event.step))
        done.add(event.step)
      if (again) return
      if (event.type === 'step_start') {
        const index = top.get(event.step)
        if (index !== undefined)
          listener.onLine({
            type: 'progress',
            step: event.step,
            pct: Math.round((done.size / steps.length) * 1000) / 10,
            msg: `step ${index + 1}/${steps.length}: ${event.step}`,
          })
        log('debug', `${event.step} begins`, event.step, {
          step_state: 'running',
          kind: event.kind,
        })
      } else if (event.type === 'step_skipped')
        log('info', `${event.step} is skipped: its condition is not true`, event.step, {
          step_state: 'skipped',
        })
      else if (event.type === 'step_retry')
        log(
          'warn',
          `${event.step} failed, and is tried again in ${event.in_s} s: ${event.error.code} ${event.error.message}`,
          event.step,
          { step_state: 'retry', try: event.attempt },
        )
      else if (event.type === 'step_done')
        log(
          event.status === 'ok' ? 'debug' : 'warn',
          event.error
            ? `${event.step} failed: ${event.error.code} ${event.error.message}`
            : `${event.step} is done`,
          event.step,
          { step_state: event.status },
        )
      else
        log(
          'warn',
          `what was done is taken back, because it failed: ${event.error.code} ${event.error.message}`,
          '',
          { step_state: 'compensating' },
        )
    },
  }
}

/** How the run of a workflow ended, as its runner wants it. */
export function toRunTargetEnd(
  { ok }: OperationOutcome,
  reason: RunTargetEnd['child']['reason'] = 'exited',
): RunTargetEnd {
  return {
    child: { reason, status: ok ? 0 : null, signal: null },
    speaksProtocol: true,
    stdout: Buffer.alloc(0),
    stderr: '',
  }
}

/** Why a run stops: a text for a cancellation or a deadline, an error for everything else. */
export function getStopCause(reason: StopReason): string | ToolError {
  if (reason.kind === 'cancelled') return reason.reason
  if (reason.kind === 'deadline') return `it took longer than ${reason.seconds} seconds`
  return reason.kind === 'failure' ? reason.error : new ToolError('INTERNAL', 'the run was ended')
}

/** The line with which the run of a workflow ends. */
export function toFinalLine(settled: OperationOutcome): ToolLine {
  return settled.ok
    ? { type: 'result', status: 'ok', result: settled.value ?? null }
    : toFailureLine(settled.error)
}

function toFailureLine({ code, message, retryable, hint, details, run_id }: StepError): ToolLine {
  if (code === 'CANCELLED')
    return { type: 'cancelled', reason: message, ...toContextField(details, run_id) }
  return {
    type: 'error',
    code: toProtocolCode(code, retryable),
    msg: message,
    ...compact({ hint }),
    retryable: false,
    ...toContextField(details, run_id),
  }
}

function toContextField(
  details: JsonObject | undefined,
  runId: string | undefined,
): { readonly context?: JsonObject } {
  return details || runId !== undefined
    ? { context: { ...details, ...compact({ child_run_id: runId }) } }
    : {}
}
