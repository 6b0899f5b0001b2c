/**
 * Reads an outcome from a document of another program, whichever dialect it uses.
 *
 * Nothing here throws: what is missing or malformed is left out, and what has no field of its own
 * is kept in the details of the error.
 */

import { compact, isObject } from '../../util/values.ts'
import type {
  Artifact,
  ErrorObject,
  FailureOutcome,
  Outcome,
  OutcomeMeta,
  PartialSummary,
  SuccessOutcome,
} from '../outcome.ts'
import type { ForeignCall } from './read-error.ts'
import { readContent, readError, readErrors } from './read-error.ts'

export type { ForeignCall } from './read-error.ts'

type OutcomeDocument = Readonly<Record<string, unknown>>

/**
 * The outcome that a foreign document carries, whatever dialect it speaks; undefined when it is no
 * envelope, so that the document itself is the result. Never throws.
 */
export function readOutcome(document: unknown, context: ForeignCall): Outcome | undefined {
  if (!isObject(document)) return undefined
  if (isProtocolEnd(document)) return readProtocolEnd(document, context)
  if (document.type === 'result') return readOutcome(omitKey(document, 'type'), context)
  if (isSuccessEnvelope(document))
    return {
      ok: true,
      status: 'success',
      ...readResultFields(document),
      meta: readMeta(document.meta, context),
    }
  if (isPartialEnvelope(document)) return readPartial(document, context)
  if (isFailureEnvelope(document)) return readFailure(document, context)
  return undefined
}

// A document with more keys than an envelope has, or with a `meta` that is about something else, is
// a result that happens to use the same words.
const SUCCESS_KEYS = new Set(['ok', 'status', 'result', 'message', 'hidden', 'summary'])

function isSuccessEnvelope({ meta, ...document }: OutcomeDocument): boolean {
  const claimed =
    document.status === 'success' || (document.ok === true && document.status === undefined)
  if (!claimed || document.ok === false) return false
  if (meta !== undefined)
    return document.ok === true && isObject(meta) && typeof meta.tool === 'string'
  const keys = Object.keys(document).filter(
    (key) => !(isEmptyValue(document[key]) && (key === 'error' || key === 'errors')),
  )
  return (
    Object.hasOwn(document, 'result') &&
    keys.every(
      (key) =>
        SUCCESS_KEYS.has(key) || (key === 'content' && readContent(document[key]) !== undefined),
    )
  )
}

function isPartialEnvelope(document: OutcomeDocument): boolean {
  return (
    document.status === 'partial' &&
    document.ok !== false &&
    Object.hasOwn(document, 'result') &&
    Array.isArray(document.errors)
  )
}

function isFailureEnvelope(document: OutcomeDocument): boolean {
  if (document.ok === false || document.success === false) return true
  if (hasError(document.error)) return true
  if (document.status !== 'error') return false
  return (
    typeof document.message === 'string' ||
    typeof document.msg === 'string' ||
    (Array.isArray(document.errors) && document.errors.length > 0)
  )
}

// A number, a list or an empty value under `error` is data: an error margin, a list of none.
function hasError(error: unknown): boolean {
  return (
    error === true ||
    (typeof error === 'string' && error !== '') ||
    (isObject(error) && Object.keys(error).length > 0)
  )
}

function isEmptyValue(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : !value && value !== 0
}

function readResultFields(
  document: OutcomeDocument,
): Pick<SuccessOutcome, 'result' | 'message' | 'hidden' | 'content'> {
  return {
    result: document.result ?? null,
    ...compact({
      message: typeof document.message === 'string' ? document.message : undefined,
      hidden: document.hidden === true ? (true as const) : undefined,
    }),
    ...readContent(document.content),
  }
}

function readPartial(document: OutcomeDocument, context: ForeignCall): Outcome {
  const errors = readErrors(document.errors, context)
  const summary = readSummary(document.summary, errors, document.result)
  const meta = readMeta(document.meta, context)
  return { ok: true, status: 'partial', ...readResultFields(document), errors, summary, meta }
}

function readFailure(document: OutcomeDocument, context: ForeignCall): FailureOutcome {
  const errors = readErrors(document.errors, context)
  const meta = readMeta(document.meta, context)
  const error = readFailureError(document, errors, context)
  return createFailure(error, errors, readSummary(document.summary, errors, document.result), meta)
}

function createFailure(
  error: ErrorObject,
  errors: readonly ErrorObject[],
  summary: PartialSummary,
  meta: OutcomeMeta,
): FailureOutcome {
  if (errors.length === 0) return { ok: false, status: 'error', error, meta }
  return { ok: false, status: 'error', error, errors, summary, meta }
}

function readFailureError(
  document: OutcomeDocument,
  errors: readonly ErrorObject[],
  context: ForeignCall,
): ErrorObject {
  if (isObject(document.error) && hasError(document.error))
    return readError(document.error, context)
  const [first] = errors
  const says =
    typeof document.error === 'string' ||
    typeof document.message === 'string' ||
    typeof document.msg === 'string'
  if (first && !says)
    return {
      ...first,
      message:
        errors.length === 1
          ? first.message
          : `${errors.length} failures, the first: ${first.message}`,
    }
  return readError(toErrorFields(document), context)
}

// An error without an object of its own: the document is the object, less the words of the
// envelope.
function toErrorFields(document: OutcomeDocument): OutcomeDocument {
  const {
    ok: _ok,
    success: _success,
    status: _status,
    error,
    errors: _errors,
    summary: _summary,
    meta: _meta,
    result: _result,
    hidden: _hidden,
    ...rest
  } = document
  if (typeof error !== 'string' || error === '') return rest
  const { message, ...others } = rest
  if (message === undefined) return { ...others, message: error }
  const context = isObject(others.context) ? others.context : {}
  return { ...others, message: error, context: { ...context, message } }
}

function omitKey(document: OutcomeDocument, key: string): OutcomeDocument {
  const { [key]: _left, ...rest } = document
  return rest
}

type ProtocolFields = Readonly<Record<string, unknown>>

/** True for a line of the run protocol that ends a run. */
function isProtocolEnd(document: ProtocolFields): boolean {
  return (
    document.v === 1 &&
    (document.type === 'result' || document.type === 'error' || document.type === 'cancelled')
  )
}

/**
 * The outcome that the last line of a run carries. A result without a `result` field means its own
 * fields: artifacts, metrics.
 */
export function readProtocolEnd(document: ProtocolFields, context: ForeignCall): Outcome {
  const {
    v: _v,
    type,
    ts: _ts,
    run_id,
    trace_id: _trace,
    span_id: _span,
    seq: _seq,
    attempt: _attempt,
    ...fields
  } = document
  const meta = readProtocolMeta(run_id, fields, context)
  if (type === 'cancelled')
    return toProtocolFailure(
      { code: 'CANCELLED', message: fields.reason ?? 'The run was cancelled' },
      meta,
      context,
    )
  const { status, ...own } = fields
  if (type === 'error' || status === 'error' || status === 'failed')
    return toProtocolFailure(own, meta, context)
  const more = isObject(own.context) ? own.context : {}
  const said = {
    result: Object.hasOwn(own, 'result') ? own.result : own,
    ...compact({ message: typeof more.message === 'string' ? more.message : undefined }),
    ...readContent(more.content),
  }
  if (status !== 'partial') return { ok: true, status: 'success', ...said, meta }
  const errors = readErrors(more.errors, context)
  const summary = readSummary(more.summary, errors, said.result)
  return { ok: true, status: 'partial', ...said, errors, summary, meta }
}

function toProtocolFailure(
  { context: more, ...fields }: ProtocolFields,
  meta: OutcomeMeta,
  context: ForeignCall,
): FailureOutcome {
  const { errors: list, summary, ...details } = isObject(more) ? more : {}
  const errors = readErrors(list, context)
  const hasDetails = Object.keys(details).length > 0
  const error = readError(hasDetails ? { ...fields, context: details } : fields, context)
  return createFailure(error, errors, readSummary(summary, errors, undefined), meta)
}

function readProtocolMeta(
  runId: unknown,
  { metrics, artifacts }: ProtocolFields,
  context: ForeignCall,
): OutcomeMeta {
  const seconds = isObject(metrics) ? metrics.duration_s : undefined
  return readMeta(
    {
      run_id: runId,
      duration_ms: typeof seconds === 'number' ? Math.round(seconds * 1000) : undefined,
      artifacts: readArtifacts(artifacts),
    },
    context,
  )
}

/**
 * The facts about a call that a foreign document gives; what is missing or malformed is left out.
 */
function readMeta(meta: unknown, context: ForeignCall): OutcomeMeta {
  const given = isObject(meta) ? meta : {}
  const { version, duration_ms: duration, warnings, next_cursor, caller, run_id, artifacts } = given
  const listed = readArtifacts(artifacts)
  return compact({
    tool: typeof given.tool === 'string' ? given.tool : context.tool,
    version: typeof version === 'string' ? version : undefined,
    duration_ms: typeof duration === 'number' && duration >= 0 ? duration : 0,
    dry_run: given.dry_run === true ? (true as const) : undefined,
    warnings: isStringList(warnings) ? warnings : undefined,
    truncated: given.truncated === true ? (true as const) : undefined,
    next_cursor: typeof next_cursor === 'string' ? next_cursor : undefined,
    caller: typeof caller === 'string' ? caller : undefined,
    run_id: typeof run_id === 'string' ? run_id : undefined,
    artifacts: listed.length > 0 ? listed : undefined,
  })
}

/**
 * The artifacts of a list, in our form or in the run protocol's `{path, sha256}`; entries without
 * an address are left out.
 */
export function readArtifacts(list: unknown): readonly Artifact[] {
  if (!Array.isArray(list)) return []
  return list.filter(isObject).flatMap(({ name, uri, path, sha256 }) => {
    const address = typeof uri === 'string' ? uri : path
    if (typeof address !== 'string') return []
    return [
      compact({
        name: typeof name === 'string' ? name : getLastSegment(address),
        uri: address,
        sha256: typeof sha256 === 'string' ? sha256 : undefined,
      }),
    ]
  })
}

function getLastSegment(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? path
}

function isStringList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'string')
  )
}

/**
 * The counts of a partly successful call: as given, else counted as the specification does, by the
 * first list of the result.
 */
function readSummary(
  summary: unknown,
  errors: readonly ErrorObject[],
  result: unknown,
): PartialSummary {
  const given = isObject(summary) ? summary : {}
  const failed = readCount(given.failed) ?? errors.length
  const succeeded = readCount(given.succeeded) ?? findFirstList(result)?.length ?? 0
  return {
    total: readCount(given.total) ?? succeeded + failed,
    succeeded,
    failed,
    recoverable_failures:
      readCount(given.recoverable_failures) ??
      errors.filter(({ recoverable }) => recoverable).length,
  }
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function findFirstList(result: unknown): readonly unknown[] | undefined {
  if (Array.isArray(result)) return result
  return isObject(result)
    ? (Object.values(result).find(Array.isArray) as readonly unknown[] | undefined)
    : undefined
}
