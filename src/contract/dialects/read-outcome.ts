import { isObject } from '../json.ts'
import type { ErrorObject, FailureOutcome, Outcome, SuccessOutcome } from '../outcome.ts'
import { readContent } from './read-content.ts'
import { readError, readErrors } from './read-error.ts'
import type { ReadContext } from './read-error.ts'
import { readMeta } from './read-meta.ts'
import { isProtocolEnd, readProtocolEnd } from './read-protocol.ts'
import { readSummary } from './read-summary.ts'

export type { ReadContext } from './read-error.ts'

type Document = Readonly<Record<string, unknown>>

/** The outcome that a foreign document carries, whatever dialect it speaks; undefined when it is no envelope, so that the document itself is the result. Never throws. */
export function readOutcome(document: unknown, context: ReadContext): Outcome | undefined {
  if (!isObject(document)) return undefined
  if (isProtocolEnd(document)) return readProtocolEnd(document, context)
  if (document.type === 'result') return readOutcome(without(document, 'type'), context)
  if (isSuccess(document))
    return {
      ok: true,
      status: 'success',
      ...resultOf(document),
      meta: readMeta(document.meta, context),
    }
  if (isPartial(document)) return readPartial(document, context)
  if (isFailure(document)) return readFailure(document, context)
  return undefined
}

// A document with more keys than an envelope has, or with a `meta` that is about something else, is a result that happens to use the same words.
const SUCCESS_KEYS = new Set(['ok', 'status', 'result', 'message', 'hidden', 'summary'])

function isSuccess({ meta, ...document }: Document): boolean {
  const claimed =
    document.status === 'success' || (document.ok === true && document.status === undefined)
  if (!claimed || document.ok === false) return false
  if (meta !== undefined)
    return document.ok === true && isObject(meta) && typeof meta.tool === 'string'
  const keys = Object.keys(document).filter(
    (key) => !(isEmpty(document[key]) && (key === 'error' || key === 'errors')),
  )
  return (
    Object.hasOwn(document, 'result') &&
    keys.every(
      (key) =>
        SUCCESS_KEYS.has(key) || (key === 'content' && readContent(document[key]) !== undefined),
    )
  )
}

function isPartial(document: Document): boolean {
  return (
    document.status === 'partial' &&
    document.ok !== false &&
    Object.hasOwn(document, 'result') &&
    Array.isArray(document.errors)
  )
}

function isFailure(document: Document): boolean {
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

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    value === false ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  )
}

function resultOf(
  document: Document,
): Pick<SuccessOutcome, 'result' | 'message' | 'hidden' | 'content'> {
  return {
    result: document.result ?? null,
    ...(typeof document.message === 'string' && { message: document.message }),
    ...(document.hidden === true && { hidden: true as const }),
    ...readContent(document.content),
  }
}

function readPartial(document: Document, context: ReadContext): Outcome {
  const errors = readErrors(document.errors, context)
  const summary = readSummary(document.summary, errors, document.result)
  return {
    ok: true,
    status: 'partial',
    ...resultOf(document),
    errors,
    summary,
    meta: readMeta(document.meta, context),
  }
}

function readFailure(document: Document, context: ReadContext): FailureOutcome {
  const errors = readErrors(document.errors, context)
  const meta = readMeta(document.meta, context)
  const error = readFailureError(document, errors, context)
  if (errors.length === 0) return { ok: false, status: 'error', error, meta }
  return {
    ok: false,
    status: 'error',
    error,
    errors,
    summary: readSummary(document.summary, errors, document.result),
    meta,
  }
}

function readFailureError(
  document: Document,
  errors: readonly ErrorObject[],
  context: ReadContext,
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
  return readError(saidByDocument(document), context)
}

// An error without an object of its own: the document is the object, less the words of the envelope.
function saidByDocument(document: Document): Document {
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
  return {
    ...others,
    message: error,
    ...(message !== undefined && {
      context: { ...(isObject(others.context) && others.context), message },
    }),
  }
}

function without(document: Document, key: string): Document {
  const { [key]: _left, ...rest } = document
  return rest
}
