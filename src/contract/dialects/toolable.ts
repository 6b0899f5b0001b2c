import { findRow } from '../errors.ts'
import type { ErrorCategory, ErrorCode } from '../errors.ts'
import { isObject } from '../json.ts'
import type { ErrorObject, Outcome } from '../outcome.ts'
import type { DialectWriter } from './dialect.ts'
import { keepFacts } from './kept-code.ts'
import { writeQuestion } from './native.ts'

/** The form of the library's specification: `{status, result}` and its ten codes. */
export const toolable: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [writeEnvelope(outcome)],
  streamEnd: (outcome) => [{ type: 'result', ...writeEnvelope(outcome) }],
  start: () => undefined,
  event: (event) => event,
  heartbeat: () => undefined,
  question: (question) => writeQuestion(question, 'awaiting_input'),
  errorLine: (error) => ({ error: writeError(error) }),
}

/** The nearest of the ten codes that readers of this dialect know. */
export function toolableCode(error: {
  readonly code: string
  readonly category: ErrorCategory
  readonly retryable: boolean
}): string {
  const known = findRow(error.code)
  if (known) return NEAREST[known.code] ?? known.code
  if (error.category === 'runtime') return error.retryable ? 'DEPENDENCY' : 'INTERNAL'
  return {
    input: 'INVALID_INPUT',
    auth: 'PERMISSION',
    state: 'PRECONDITION',
    internal: 'INTERNAL',
  }[error.category]
}

const NEAREST: { readonly [Code in ErrorCode]?: string } = {
  USAGE: 'INVALID_INPUT',
  CONFIRMATION_REQUIRED: 'PRECONDITION',
  SANDBOX_UNAVAILABLE: 'PERMISSION',
  ANSWER_REQUIRED: 'PRECONDITION',
  RATE_LIMIT: 'DEPENDENCY',
  HEARTBEAT_MISSED: 'TIMEOUT',
  INTERRUPTED: 'INTERNAL',
  OUTPUT_LIMIT: 'INTERNAL',
  DISK_FULL: 'INTERNAL',
  CANCELLED: 'INTERNAL',
  CONFIG: 'PRECONDITION',
}

function writeEnvelope(outcome: Outcome): object {
  if (!outcome.ok) {
    return {
      status: 'error',
      error: writeError(outcome.error),
      ...(outcome.summary && { summary: outcome.summary }),
      ...(outcome.errors && { errors: outcome.errors.map(writeError) }),
    }
  }
  const result = wrapResult(outcome.result)
  if (outcome.status === 'success') return { status: 'success', ...result }
  return {
    status: 'partial',
    ...result,
    summary: outcome.summary,
    errors: outcome.errors.map(writeError),
  }
}

// A dialogue ends without a value, and then its envelope has no result either.
function wrapResult(value: unknown): { readonly result?: object } {
  if (value === undefined) return {}
  return { result: isObject(value) ? value : { result: value } }
}

function writeError(error: ErrorObject): object {
  const code = toolableCode(error)
  const context = keepFacts(error, code)
  return {
    code,
    message: error.message,
    recoverable: error.recoverable,
    ...(error.suggestion && { suggestion: error.suggestion.fix }),
    ...(context && { context }),
  }
}
