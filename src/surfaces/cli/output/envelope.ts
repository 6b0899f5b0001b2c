import type { ErrorObject, Outcome, OutcomeMeta, Suggestion } from '../../../contract/outcome.ts'

/** Writes a repaired input in the form of the surface, for instance as a command line. */
export type RenderInput = (input: { readonly [field: string]: unknown }) => string

/** The envelope of an outcome as it is printed: fixed key order, absent values left out, `hidden` never shown. */
export function toEnvelope(outcome: Outcome, renderInput?: RenderInput): Record<string, unknown> {
  const success = outcome.ok ? outcome : undefined
  const failure = outcome.ok ? undefined : outcome
  const errors = outcome.status === 'success' ? undefined : outcome.errors
  return withoutAbsent({
    ok: outcome.ok,
    status: outcome.status,
    result: success?.result,
    message: success?.message,
    content: success?.content,
    errors: errors?.map((error) => toErrorEnvelope(error, renderInput)),
    summary: outcome.status === 'success' ? undefined : outcome.summary,
    error: failure && toErrorEnvelope(failure.error, renderInput),
    meta: orderMeta(outcome.meta),
  })
}

/** One error object in fixed key order, a repaired input also as `suggestion.example`. */
export function toErrorEnvelope(
  error: ErrorObject,
  renderInput?: RenderInput,
): Record<string, unknown> {
  return withoutAbsent({
    code: error.code,
    category: error.category,
    message: error.message,
    recoverable: error.recoverable,
    retryable: error.retryable,
    suggestion: error.suggestion && orderSuggestion(error.suggestion, renderInput),
    field: error.field,
    details: error.details,
  })
}

/** The example of a suggestion: as given, else the repaired input in the form of the surface. */
export function exampleOf(suggestion: Suggestion, renderInput?: RenderInput): string | undefined {
  if (suggestion.example !== undefined) return suggestion.example
  return suggestion.input === undefined ? undefined : renderInput?.(suggestion.input)
}

function orderSuggestion(
  suggestion: Suggestion,
  renderInput?: RenderInput,
): Record<string, unknown> {
  return withoutAbsent({
    action: suggestion.action,
    fix: suggestion.fix,
    example: exampleOf(suggestion, renderInput),
    input: suggestion.input,
    applicability: suggestion.applicability,
  })
}

function orderMeta(meta: OutcomeMeta): Record<string, unknown> {
  return withoutAbsent({
    tool: meta.tool,
    version: meta.version,
    duration_ms: meta.duration_ms,
    dry_run: meta.dry_run,
    warnings: meta.warnings,
    truncated: meta.truncated,
    next_cursor: meta.next_cursor,
    caller: meta.caller,
    run_id: meta.run_id,
    artifacts: meta.artifacts,
  })
}

function withoutAbsent(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
