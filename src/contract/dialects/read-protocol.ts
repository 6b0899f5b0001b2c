import { isObject } from '../json.ts'
import type { FailureOutcome, Outcome, OutcomeMeta } from '../outcome.ts'
import { readContent } from './read-content.ts'
import { readError, readErrors } from './read-error.ts'
import type { ReadContext } from './read-error.ts'
import { readArtifacts, readMeta } from './read-meta.ts'
import { readSummary } from './read-summary.ts'

type Line = Readonly<Record<string, unknown>>

/** True for a line of the run protocol that ends a run. */
export function isProtocolEnd(document: Line): boolean {
  return (
    document.v === 1 &&
    (document.type === 'result' || document.type === 'error' || document.type === 'cancelled')
  )
}

/** The outcome that the last line of a run carries. A result without a `result` field means its own fields: artifacts, metrics. */
export function readProtocolEnd(document: Line, context: ReadContext): Outcome {
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
  const meta = metaOf(run_id, fields, context)
  if (type === 'cancelled')
    return fail(
      { code: 'CANCELLED', message: fields.reason ?? 'The run was cancelled' },
      meta,
      context,
    )
  const { status, ...own } = fields
  if (type === 'error' || status === 'error' || status === 'failed') return fail(own, meta, context)
  const more = isObject(own.context) ? own.context : {}
  const said = {
    result: Object.hasOwn(own, 'result') ? own.result : own,
    ...(typeof more.message === 'string' && { message: more.message }),
    ...readContent(more.content),
  }
  if (status !== 'partial') return { ok: true, status: 'success', ...said, meta }
  const errors = readErrors(more.errors, context)
  return {
    ok: true,
    status: 'partial',
    ...said,
    errors,
    summary: readSummary(more.summary, errors, said.result),
    meta,
  }
}

function fail(
  { context: more, ...fields }: Line,
  meta: OutcomeMeta,
  context: ReadContext,
): FailureOutcome {
  const { errors: list, summary, ...details } = isObject(more) ? more : {}
  const errors = readErrors(list, context)
  const error = readError(
    { ...fields, ...(Object.keys(details).length > 0 && { context: details }) },
    context,
  )
  if (errors.length === 0) return { ok: false, status: 'error', error, meta }
  return {
    ok: false,
    status: 'error',
    error,
    errors,
    summary: readSummary(summary, errors, undefined),
    meta,
  }
}

function metaOf(runId: unknown, { metrics, artifacts }: Line, context: ReadContext): OutcomeMeta {
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
