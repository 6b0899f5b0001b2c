import type { DeclaredError } from '../../contract/errors.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** A failure of a tool, completed by what is declared about its code: whoever says that something helps is believed. */
export function withCodes(
  error: unknown,
  declared: { readonly [code: string]: DeclaredError },
): unknown {
  if (!ToolError.is(error) || !Object.hasOwn(declared, error.code)) return error
  const { category, recoverable = false, retryable = false } = declared[error.code]!
  const { code, message, suggestion, details, field, cause } = error
  return new ToolError(code, message, {
    category: category ?? error.category,
    recoverable: error.recoverable || recoverable,
    retryable: error.retryable || retryable,
    ...(suggestion && { suggestion }),
    ...(details && { details }),
    ...(field !== undefined && { field }),
    ...(cause !== undefined && { cause }),
  })
}
