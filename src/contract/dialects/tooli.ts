import { findRow } from '../errors.ts'
import type { ErrorCategory } from '../errors.ts'
import type { ErrorObject, Outcome, OutcomeMeta, Suggestion } from '../outcome.ts'
import type { DialectWriter } from './dialect.ts'
import { keepFacts } from './kept-code.ts'
import { writeQuestion } from './native.ts'

/** The form of the command line's specification: `{ok, result|error, meta}` and numbered codes. */
export const tooli: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [writeEnvelope(outcome)],
  streamEnd: (outcome) => [{ type: 'result', ...writeEnvelope(outcome) }],
  start: () => undefined,
  event: (event) => event,
  heartbeat: () => undefined,
  question: (question) => writeQuestion(question, 'action_required'),
  errorLine: (error) => ({ error: writeError(error) }),
}

/** The numbered name of a code (`E3001`); codes without a number take the general one of their category, tools' own stay as they are. */
export function numberOf(code: string): string {
  const known = findRow(code)
  if (!known) return code
  return known.row.numbers[0] ?? GENERAL[known.row.category]
}

const GENERAL: { readonly [Category in ErrorCategory]: string } = {
  input: 'E1000',
  auth: 'E2000',
  state: 'E3000',
  runtime: 'E4000',
  internal: 'E5000',
}

function writeEnvelope(outcome: Outcome): object {
  const meta = writeMeta(outcome)
  if (!outcome.ok) return { ok: false, error: writeError(outcome.error), meta }
  return { ok: true, result: outcome.result ?? null, meta }
}

// This form knows no partial success: what failed on the way is said in the warnings.
function writeMeta(outcome: Outcome): OutcomeMeta {
  const failed =
    outcome.status === 'success'
      ? []
      : (outcome.errors ?? []).map(({ code, message }) => `${numberOf(code)}: ${message}`)
  if (failed.length === 0) return outcome.meta
  return { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), ...failed] }
}

function writeError(error: ErrorObject): object {
  const code = numberOf(error.code)
  const { field, ...details } = keepFacts(error, code) ?? {}
  return {
    code,
    category: error.category,
    message: error.message,
    ...(error.suggestion && { suggestion: writeSuggestion(error.suggestion) }),
    is_retryable: error.recoverable || error.retryable,
    ...(field !== undefined && { field }),
    ...(Object.keys(details).length > 0 && { details }),
  }
}

function writeSuggestion({ action, fix, example, input, applicability }: Suggestion): object {
  const shown = example ?? (input && JSON.stringify(input))
  return { action, fix, ...(shown !== undefined && { example: shown }), applicability }
}
