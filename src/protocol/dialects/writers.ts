/**
 * The table of dialect writers, and those that answer with one envelope: `toolable`, `tooli` and
 * `simple`. A larger dialect has a file of its own, as `acor` does.
 */

import { compact, isObject } from '../../util/values.ts'
import { findErrorRow } from '../errors.ts'
import type { ErrorCategory, ErrorCode } from '../errors.ts'
import type { ErrorObject, Outcome, OutcomeMeta, Suggestion } from '../outcome.ts'
import type { DialectName, DialectWriter } from '../output-protocols.ts'
import { acorDialect, toLosslessDetails } from './acor.ts'
import { nativeDialect, writeQuestionLine } from './native.ts'

/** The form of the library's specification: `{status, result}` and its ten codes. */
const toolableDialect: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [writeToolableEnvelope(outcome)],
  streamEnd: (outcome) => [{ type: 'result', ...writeToolableEnvelope(outcome) }],
  start: () => undefined,
  event: (event) => event,
  heartbeat: () => undefined,
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

/** The form of the command line's specification: `{ok, result|error, meta}` and numbered codes. */
const tooliDialect: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [writeTooliEnvelope(outcome)],
  streamEnd: (outcome) => [{ type: 'result', ...writeTooliEnvelope(outcome) }],
  start: () => undefined,
  event: (event) => event,
  heartbeat: () => undefined,
  question: (question) => writeQuestionLine(question, 'action_required'),
  errorLine: (error) => ({ error: writeTooliError(error) }),
}

/**
 * The numbered name of a code (`E3001`); codes without a number take the general one of their
 * category, tools' own stay as they are.
 */
export function toNumberedCode(code: string): string {
  const known = findErrorRow(code)
  if (!known) return code
  return known.row.numbers[0] ?? GENERAL_CODE_BY_CATEGORY[known.row.category]
}

const GENERAL_CODE_BY_CATEGORY: { readonly [Category in ErrorCategory]: string } = {
  input: 'E1000',
  auth: 'E2000',
  state: 'E3000',
  runtime: 'E4000',
  internal: 'E5000',
}

function writeTooliEnvelope(outcome: Outcome): object {
  const meta = writeTooliMeta(outcome)
  if (!outcome.ok) return { ok: false, error: writeTooliError(outcome.error), meta }
  return { ok: true, result: outcome.result ?? null, meta }
}

// This form knows no partial success: what failed on the way is said in the warnings.
function writeTooliMeta(outcome: Outcome): OutcomeMeta {
  const failed =
    outcome.status === 'success'
      ? []
      : (outcome.errors ?? []).map(({ code, message }) => `${toNumberedCode(code)}: ${message}`)
  if (failed.length === 0) return outcome.meta
  return { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), ...failed] }
}

function writeTooliError(error: ErrorObject): object {
  const code = toNumberedCode(error.code)
  const { field, ...details } = toLosslessDetails(error, code) ?? {}
  return compact({
    code,
    category: error.category,
    message: error.message,
    suggestion: error.suggestion ? writeTooliSuggestion(error.suggestion) : undefined,
    is_retryable: error.recoverable || error.retryable,
    field,
    details: Object.keys(details).length > 0 ? details : undefined,
  })
}

function writeTooliSuggestion({ action, fix, example, input, applicability }: Suggestion): object {
  const shown = example ?? (input && JSON.stringify(input))
  return compact({ action, fix, example: shown, applicability })
}

/**
 * The form of Simple JSON tools: the bare result, or `{error, code}`; one document and nothing
 * before it.
 */
const simpleDialect: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [writeSimpleDocument(outcome)],
  streamEnd: (outcome) => [writeSimpleDocument(outcome)],
  start: () => undefined,
  event: () => undefined,
  heartbeat: () => undefined,
  question: () => undefined,
  errorLine: () => undefined,
}

function writeSimpleDocument(outcome: Outcome): unknown {
  if (outcome.ok) return outcome.result ?? null
  return { error: outcome.error.message, code: outcome.error.code }
}

const DIALECT_WRITERS: { readonly [Name in DialectName]: DialectWriter } = {
  native: nativeDialect,
  toolable: toolableDialect,
  tooli: tooliDialect,
  acor: acorDialect,
  simple: simpleDialect,
}

/** The writer of a dialect. */
export function getDialectWriter(name: DialectName): DialectWriter {
  return DIALECT_WRITERS[name]
}
