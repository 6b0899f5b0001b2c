import { ToolError } from '../../contract/tool-error.ts'
import type { StepError } from './engine-type.ts'

/** Anything that was thrown, in the form that a journal keeps. */
export function stepErrorOf(thrown: unknown): StepError {
  const error = ToolError.is(thrown)
    ? thrown
    : new ToolError('INTERNAL', thrown instanceof Error ? thrown.message : String(thrown))
  const { code, message, retryable, suggestion, details } = error
  return {
    code,
    message,
    retryable,
    ...(suggestion && { hint: suggestion.example ?? suggestion.fix }),
    ...(details !== undefined && { details }),
  }
}

/** The same the other way: for whoever is told by a signal, or throws. */
export function toolErrorOf({
  code,
  message,
  retryable,
  hint,
  details,
  run_id,
}: StepError): ToolError {
  return new ToolError(code, message, {
    retryable,
    ...(hint !== undefined && { suggestion: hint }),
    ...((details ?? run_id) !== undefined && {
      details: { ...details, ...(run_id !== undefined && { run_id }) },
    }),
  })
}
