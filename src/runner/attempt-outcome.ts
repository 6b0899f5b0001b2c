/**
 * How an attempt ended: compares what the tool said with how its process exited, or with why the
 * runner stopped it, and
 * decides state, exit status, error code and whether a retry makes sense.
 */

import { toLimitError } from '../process/child.ts'
import { dialect as acorDialect } from '../protocol/dialects/acor.ts'
import { findErrorRow, getErrorInfo, toExitCode, toProtocolCode } from '../protocol/errors.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readAnswer } from '../registry/child/answer.ts'
import type { CallForm } from '../registry/child/child-call.ts'
import { readExitFailure } from '../registry/child/exit.ts'
import { asString, compact } from '../util/values.ts'
import type { RunTargetEnd, StopReason } from './run-target.ts'
import type { ToolLine } from './tool-output.ts'

/** What there is to conclude from when a subject is over. */
export type FinishedAttempt = {
  readonly end: RunTargetEnd
  readonly intervention: StopReason | undefined
  /** The line with which the tool ended its run. */
  readonly last: ToolLine | undefined
  readonly exitCodes: { readonly [meaning: string]: number } | undefined
  readonly form: CallForm | undefined
}

/**
 * How an attempt is over: its last lines, its state, and the exit status that the runner passes on.
 */
export type AttemptOutcome = {
  readonly state: 'completed' | 'failed' | 'cancelled'
  readonly rc: number
  /** The code of a failure, by its name in the protocol. */
  readonly code?: string
  /** Whether another attempt may be made without being asked for. */
  readonly again: boolean
  /** What is recorded before `runner_end`. */
  readonly lines: readonly ToolLine[]
}

/**
 * The ending that an error of the runner makes. `name` is its name in the protocol where that is
 * not the first one of its code.
 */
export function toFailedOutcome(error: Error, name?: string): AttemptOutcome {
  const known = (
    ToolError.is(error) ? error : new ToolError('INTERNAL', error.message, { cause: error })
  ).toObject()
  const { code, message: msg, retryable, suggestion } = known
  const written = name ?? toProtocolCode(code, retryable)
  const line: ToolLine = compact({
    type: 'runner_error',
    code: written,
    msg,
    hint: suggestion ? (suggestion.example ?? suggestion.fix) : undefined,
    retryable,
  })
  return {
    state: 'failed',
    rc: toExitCode(known),
    code: written,
    again: isRetryableFailure(code, retryable),
    lines: [line],
  }
}

/** The status that a tool gave itself; 0 also where a signal ended it. */
function getToolStatus({ child: { status } }: RunTargetEnd): number {
  return status ?? 0
}

/**
 * Only failures of the class `retryable` are tried again by themselves, and none that is said to
 * stay; for a code of the tool's own its word counts.
 */
export function isRetryableFailure(code: string, said: unknown): boolean {
  if (said === false) return false
  const known = findErrorRow(code)
  if (known) return known.row.class === 'retryable'
  return typeof said === 'boolean' ? said : getErrorInfo(code).retryable
}

/**
 * What an attempt came to. What a tool says and how it ends have to agree; where they do not, it
 * has failed. An exit status that its manifest does not know is told.
 */
export function determineOutcome(whole: FinishedAttempt): AttemptOutcome {
  const happened = isStopTooLate(whole) ? { ...whole, intervention: undefined } : whole
  const ending = keepOverruledLine(decideOutcome(happened), happened.last)
  const { end, exitCodes, intervention } = happened
  const { reason, status } = end.child
  if (
    !exitCodes ||
    intervention ||
    reason !== 'exited' ||
    status === null ||
    Object.values(exitCodes).includes(status)
  )
    return ending
  const warning: ToolLine = {
    type: 'runner_warning',
    msg: `the exit status ${status} does not stand in the manifest`,
    expected_codes: exitCodes,
    actual: status,
  }
  return { ...ending, lines: [warning, ...ending.lines] }
}

// The process had already exited while its output was still being read.
function isStopTooLate({ intervention, end }: FinishedAttempt): boolean {
  return (
    end.child.reason === 'exited' &&
    intervention !== undefined &&
    ['deadline', 'heartbeat', 'cancelled'].includes(intervention.kind)
  )
}

// What the tool said of its end and does not count is on record all the same.
function keepOverruledLine(ending: AttemptOutcome, last: ToolLine | undefined): AttemptOutcome {
  if (!last || ending.lines.some((line) => line === last || line['refused'] === last)) return ending
  const msg = `the tool told its ${last.type}, and did not end by itself; it does not count`
  return refuseLast(ending, last, 'overruled', msg)
}

function refuseLast(
  ending: AttemptOutcome,
  last: ToolLine,
  reason: string,
  msg: string,
): AttemptOutcome {
  const line = { type: 'diagnostic', stream: 'stdout', reason, msg, refused: last }
  return { ...ending, lines: [line, ...ending.lines] }
}

function decideOutcome(happened: FinishedAttempt): AttemptOutcome {
  const { end, intervention, last } = happened
  if (end.child.reason === 'not-started')
    return toFailedOutcome(
      end.child.problem ?? new ToolError('CONFIG', 'the tool could not be started'),
    )
  if (intervention) return toStoppedOutcome(intervention, end, last)
  if (end.child.limit) return toFailedOutcome(toLimitError(end.child.limit))
  if (!last) return end.speaksProtocol ? toMissingResultOutcome(happened) : toPlainOutcome(happened)
  if (last.type === 'cancelled')
    return { state: 'cancelled', rc: getToolStatus(end) || 130, again: false, lines: [last] }
  return last.type === 'error' ? toErrorOutcome(last, end) : toResultOutcome(last, happened)
}

function toResultOutcome(last: ToolLine, happened: FinishedAttempt): AttemptOutcome {
  const { status, signal } = happened.end.child
  if (isSuccessStatus(happened))
    return { state: 'completed', rc: status!, again: false, lines: [last] }
  const words = signal === null ? `ended with exit status ${status}` : `was ended by ${signal}`
  const msg = `the tool gave a result and then ${words}; the result does not count`
  return refuseLast(toMissingResultOutcome(happened), last, 'contradiction', msg)
}

function toErrorOutcome(last: ToolLine, end: RunTargetEnd): AttemptOutcome {
  const code = asString(last['code']) ?? 'INTERNAL'
  const rc = getToolStatus(end) || toExitCode(new ToolError(code).toObject())
  return {
    state: 'failed',
    rc,
    code: toProtocolCode(code),
    again: isRetryableFailure(code, last['retryable']),
    lines: [last],
  }
}

// A tool of the protocol owes a result, whatever its exit status says.
function toMissingResultOutcome(happened: FinishedAttempt): AttemptOutcome {
  const { end, exitCodes } = happened
  const { status, signal } = end.child
  const { error } = readExitFailure(
    compact({ stdout: Buffer.alloc(0), stderr: end.stderr, status, signal, exitCodes }),
    undefined,
    undefined,
  )
  const code = toProtocolCode(error.code, error.retryable)
  const hint = isSuccessStatus(happened)
    ? 'The author of the tool should end with a line of the type result or error'
    : error.suggestion?.fix
  const line: ToolLine = compact({
    type: 'runner_error',
    code,
    msg: isSuccessStatus(happened) ? 'the tool ended without a result' : error.message,
    hint,
    retryable: error.retryable,
    exit_status: status ?? undefined,
    signal: signal ?? undefined,
  })
  return {
    state: 'failed',
    rc: getToolStatus(end) || toExitCode(error),
    code,
    again: isRetryableFailure(error.code, error.retryable),
    lines: [line],
  }
}

const EXPECTED_OUTPUT_BY_FORM: { readonly [form in CallForm]: 'json' | 'text' | 'verbatim' } = {
  json: 'json',
  stdin: 'json',
  toolable: 'json',
  flags: 'text',
  protocol: 'text',
  program: 'verbatim',
}

// What a plain program printed is its answer, read as every call of it is read.
function toPlainOutcome({ end, exitCodes, form }: FinishedAttempt): AttemptOutcome {
  const { status, signal } = end.child
  const { outcome } = readAnswer(
    compact({ stdout: end.stdout, stderr: end.stderr, status, signal, exitCodes }),
    { expects: form ? EXPECTED_OUTPUT_BY_FORM[form] : 'verbatim' },
  )
  const [written] = acorDialect.outcome(outcome, {
    tool: '',
    runId: '',
    now: () => '',
  }) as readonly [ToolLine]
  const { v: _v, ts: _ts, run_id: _id, metrics: _metrics, ...said } = written
  const lines = [{ ...said, exit_status: status } as unknown as ToolLine]
  if (outcome.ok) return { state: 'completed', rc: getToolStatus(end), again: false, lines }
  const { code, retryable } = outcome.error
  return {
    state: 'failed',
    rc: getToolStatus(end) || toExitCode(outcome.error),
    code: toProtocolCode(code, retryable),
    again: isRetryableFailure(code, retryable),
    lines,
  }
}

function isSuccessStatus({ end, exitCodes }: FinishedAttempt): boolean {
  return end.child.status !== null && end.child.status === (exitCodes?.['ok'] ?? 0)
}

/**
 * The ending of an attempt that the runner has stopped. What the tool said afterwards does not
 * count, except that it was cancelled.
 */
function toStoppedOutcome(
  intervention: StopReason,
  end: RunTargetEnd,
  last: ToolLine | undefined,
): AttemptOutcome {
  switch (intervention.kind) {
    case 'deadline':
      return toFailedOutcome(
        new ToolError(
          'TIMEOUT',
          `the tool was not done after ${intervention.seconds} seconds, and was ended`,
          { suggestion: 'Give it more time with --timeout, or less to do' },
        ),
        'E_DEADLINE',
      )
    case 'heartbeat':
      return toFailedOutcome(
        new ToolError(
          'HEARTBEAT_MISSED',
          `the tool gave no sign of life for ${intervention.seconds} seconds, and was ended`,
          { suggestion: 'Let it emit heartbeats, or allow longer silence with HEARTBEAT_GRACE_S' },
        ),
      )
    case 'output':
      return toFailedOutcome(
        new ToolError(
          'OUTPUT_LIMIT',
          `the tool wrote more than ${intervention.bytes} bytes, and was ended`,
          { suggestion: 'Let it write to a file in its workspace, or raise resources.output_mb' },
        ),
      )
    case 'failure':
      return { ...toFailedOutcome(intervention.error), ...getSignalStatus(intervention.error) }
    case 'cancelled':
      return {
        state: 'cancelled',
        rc: getToolStatus(end) || 130,
        again: false,
        lines: [
          last?.type === 'cancelled' ? last : { type: 'cancelled', reason: intervention.reason },
        ],
      }
  }
}

// Whose process was told to go by a signal passes that on by its status.
function getSignalStatus({ code, details }: ToolError): { readonly rc?: number } {
  const status = code === 'INTERRUPTED' ? details?.['exit_status'] : undefined
  return typeof status === 'number' ? { rc: status } : {}
}
