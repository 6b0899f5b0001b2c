import { compact } from '../../util/values.ts'
import type { ErrorCategory } from '../errors.ts'
import { findErrorRow } from '../errors.ts'
import type { ErrorObject, Outcome, OutcomeMeta, Suggestion } from '../outcome.ts'
import type { DialectWriter } from '../output-protocols.ts'
import { toLosslessDetails } from './acor.ts'
import { dialect as nativeDialect } from './native.ts'

/** The form of the command line's specification: `{ok, result|error, meta}` and numbered codes. */
export const dialect: DialectWriter = {
  ...nativeDialect,
  outcome: (outcome) => [writeTooliEnvelope(outcome)],
  streamEnd: (outcome) => [{ type: 'result', ...writeTooliEnvelope(outcome) }],
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
