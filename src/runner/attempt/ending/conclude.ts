import { acor } from '../../../contract/dialects/acor.ts'
import { exitCodeOf, protocolName } from '../../../contract/errors.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { failureOfLimit } from '../../../process/limits/limit-failure.ts'
import { readExit } from '../../../registry/child/answer/read-exit.ts'
import type { CallForm } from '../../../registry/child/child-call.ts'
import { readAnswer } from '../../../registry/child/read-answer.ts'
import type { ToolLine } from '../../output/judge-line.ts'
import type { SubjectEnd } from '../subject.ts'
import type { Ending, Happened } from './ending.ts'
import { failWith, mayTryAgain, ownStatus } from './ending.ts'
import { endByUs } from './ended-by-us.ts'

/** What an attempt came to. What a tool says and how it ends have to agree; where they do not, it has failed. An exit status that its manifest does not know is told. */
export function conclude(whole: Happened): Ending {
  const happened = cameTooLate(whole) ? { ...whole, intervention: undefined } : whole
  const ending = keepRefused(judge(happened), happened.last)
  const {
    end: {
      child: { reason, status },
    },
    exitCodes,
    intervention,
  } = happened
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

// Who has ended by himself, while what he wrote was still read, cannot be ended any more.
function cameTooLate({ intervention, end }: Happened): boolean {
  return (
    end.child.reason === 'exited' &&
    (intervention?.why === 'deadline' ||
      intervention?.why === 'heartbeat' ||
      intervention?.why === 'cancelled')
  )
}

// What the tool said of its end and does not count is on record all the same.
function keepRefused(ending: Ending, last: ToolLine | undefined): Ending {
  if (!last || ending.lines.some((line) => line === last || line['refused'] === last)) return ending
  return {
    ...ending,
    lines: [
      {
        type: 'diagnostic',
        stream: 'stdout',
        reason: 'overruled',
        msg: `the tool told its ${last.type}, and did not end by itself; it does not count`,
        refused: last,
      },
      ...ending.lines,
    ],
  }
}

function judge(happened: Happened): Ending {
  const { end, intervention, last } = happened
  if (end.child.reason === 'not-started')
    return failWith(end.child.problem ?? new ToolError('CONFIG', 'the tool could not be started'))
  if (intervention) return endByUs(intervention, end, last)
  if (end.child.limit) return failWith(failureOfLimit(end.child.limit))
  if (!last) return end.speaksProtocol ? withoutResult(happened) : plainAnswer(happened)
  if (last.type === 'cancelled')
    return { state: 'cancelled', rc: ownStatus(end) || 130, again: false, lines: [last] }
  return last.type === 'error' ? saidError(last, end) : saidResult(last, happened)
}

function saidResult(last: ToolLine, happened: Happened): Ending {
  const { status, signal } = happened.end.child
  if (isOk(happened)) return { state: 'completed', rc: status!, again: false, lines: [last] }
  const words = signal === null ? `ended with exit status ${status}` : `was ended by ${signal}`
  const ending = withoutResult(happened)
  return {
    ...ending,
    lines: [
      {
        type: 'diagnostic',
        stream: 'stdout',
        reason: 'contradiction',
        msg: `the tool gave a result and then ${words}; the result does not count`,
        refused: last,
      },
      ...ending.lines,
    ],
  }
}

function saidError(last: ToolLine, end: SubjectEnd): Ending {
  const code = typeof last['code'] === 'string' ? last['code'] : 'INTERNAL'
  const rc = ownStatus(end) || exitCodeOf(new ToolError(code).toObject())
  return {
    state: 'failed',
    rc,
    code: protocolName(code),
    again: mayTryAgain(code, last['retryable']),
    lines: [last],
  }
}

// A tool of the protocol owes a result, whatever its exit status says.
function withoutResult(happened: Happened): Ending {
  const { end, exitCodes } = happened
  const { status, signal } = end.child
  const { error } = readExit(
    {
      stdout: Buffer.alloc(0),
      stderr: end.stderr,
      status,
      signal,
      ...(exitCodes && { exitCodes }),
    },
    undefined,
    undefined,
  )
  const code = protocolName(error.code, error.retryable)
  const hint = isOk(happened)
    ? 'The author of the tool should end with a line of the type result or error'
    : error.suggestion?.fix
  const line: ToolLine = {
    type: 'runner_error',
    code,
    msg: isOk(happened) ? 'the tool ended without a result' : error.message,
    ...(hint !== undefined && { hint }),
    retryable: error.retryable,
    ...(status !== null && { exit_status: status }),
    ...(signal !== null && { signal }),
  }
  return {
    state: 'failed',
    rc: ownStatus(end) || exitCodeOf(error),
    code,
    again: mayTryAgain(error.code, error.retryable),
    lines: [line],
  }
}

const EXPECTED: { readonly [form in CallForm]: 'json' | 'text' | 'verbatim' } = {
  json: 'json',
  stdin: 'json',
  toolable: 'json',
  flags: 'text',
  protocol: 'text',
  program: 'verbatim',
}

// What a plain program printed is its answer, read as every call of it is read.
function plainAnswer({ end, exitCodes, form }: Happened): Ending {
  const { status, signal } = end.child
  const { outcome } = readAnswer(
    { stdout: end.stdout, stderr: end.stderr, status, signal, ...(exitCodes && { exitCodes }) },
    { expects: form ? EXPECTED[form] : 'verbatim' },
  )
  const [written] = acor.outcome(outcome, { tool: '', runId: '', now: () => '' }) as readonly [
    ToolLine,
  ]
  const { v: _v, ts: _ts, run_id: _id, metrics: _metrics, ...said } = written
  const lines = [{ ...said, exit_status: status } as unknown as ToolLine]
  if (outcome.ok) return { state: 'completed', rc: ownStatus(end), again: false, lines }
  const { code, retryable } = outcome.error
  return {
    state: 'failed',
    rc: ownStatus(end) || exitCodeOf(outcome.error),
    code: protocolName(code, retryable),
    again: mayTryAgain(code, retryable),
    lines,
  }
}

function isOk({
  end: {
    child: { status },
  },
  exitCodes,
}: Happened): boolean {
  return status !== null && status === (exitCodes?.['ok'] ?? 0)
}
