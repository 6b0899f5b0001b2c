import { compact, isObject } from '../../util/values.ts'
import type { ErrorCategory, ErrorCode } from '../errors.ts'
import { findErrorRow } from '../errors.ts'
import type { ErrorObject, Outcome } from '../outcome.ts'
import type { DialectWriter } from '../output-protocols.ts'
import { toLosslessDetails } from './acor.ts'
import { dialect as nativeDialect, writeQuestionLine } from './native.ts'

/** The form of the library's specification: `{status, result}` and its ten codes. */
export const dialect: DialectWriter = {
  ...nativeDialect,
  outcome: (outcome) => [writeToolableEnvelope(outcome)],
  streamEnd: (outcome) => [{ type: 'result', ...writeToolableEnvelope(outcome) }],
  question: (question) => writeQuestionLine(question, 'awaiting_input'),
  errorLine: (error) => ({ error: writeToolableError(error) }),
}

/** The nearest of the ten codes that readers of this dialect know. */
export function toToolableCode(error: {
  readonly code: string
  readonly category: ErrorCategory
  readonly retryable: boolean
}): string {
  const known = findErrorRow(error.code)
  if (known) return NEAREST_TOOLABLE_CODE[known.code] ?? known.code
  if (error.category === 'runtime') return error.retryable ? 'DEPENDENCY' : 'INTERNAL'
  return {
    input: 'INVALID_INPUT',
    auth: 'PERMISSION',
    state: 'PRECONDITION',
    internal: 'INTERNAL',
  }[error.category]
}

const NEAREST_TOOLABLE_CODE: { readonly [Code in ErrorCode]?: string } = {
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

function writeToolableEnvelope(outcome: Outcome): object {
  if (!outcome.ok) {
    return compact({
      status: 'error',
      error: writeToolableError(outcome.error),
      summary: outcome.summary,
      errors: outcome.errors ? outcome.errors.map(writeToolableError) : undefined,
    })
  }
  const result = wrapResult(outcome.result)
  if (outcome.status === 'success') return { status: 'success', ...result }
  return {
    status: 'partial',
    ...result,
    summary: outcome.summary,
    errors: outcome.errors.map(writeToolableError),
  }
}

// A dialogue ends without a value, and then its envelope has no result either.
function wrapResult(value: unknown): { readonly result?: object } {
  if (value === undefined) return {}
  return { result: isObject(value) ? value : { result: value } }
}

function writeToolableError(error: ErrorObject): object {
  const code = toToolableCode(error)
  const context = toLosslessDetails(error, code)
  return compact({
    code,
    message: error.message,
    recoverable: error.recoverable,
    suggestion: error.suggestion ? error.suggestion.fix : undefined,
    context,
  })
}
