import { ToolError } from '../../contract/tool-error.ts'
import type { StepError } from '../engines/engine-type.ts'
import { StepFailure, Stopped } from './flow.ts'

/** What was thrown in a flow, as a journal keeps it: failures of steps, and of expressions. */
export function errorOf(thrown: unknown): StepError {
  if (thrown instanceof StepFailure || thrown instanceof Stopped) return thrown.error
  if (ToolError.is(thrown))
    return {
      code: thrown.code,
      message: thrown.message,
      retryable: thrown.retryable,
      ...(thrown.suggestion && { hint: thrown.suggestion.fix }),
    }
  throw thrown
}
