import { findRow } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { toToolError } from '../../call/failure.ts'
import { mayTryAgain } from '../../runner/attempt/ending/ending.ts'
import type { Settled, StepError } from '../engines/engine-type.ts'

/** What a call came to, as a journal keeps it. A part of a result counts as one. */
export function settleOutcome(outcome: Outcome): Settled {
  if (outcome.ok) return { ok: true, value: outcome.result ?? null }
  const { code, message, retryable, suggestion, details } = outcome.error
  return {
    ok: false,
    error: {
      code,
      message,
      retryable: mayTryAgain(code, retryable),
      ...(suggestion && { hint: suggestion.example ?? suggestion.fix }),
      ...(isObject(details) && { details }),
    },
  }
}

/** What went wrong before anything was begun. */
export function settleThrown(thrown: unknown): Settled & { readonly ok: false } {
  const { code, message, retryable, suggestion, details } = toToolError(thrown).toObject()
  return {
    ok: false,
    error: {
      code,
      message,
      retryable: mayTryAgain(code, retryable),
      ...(suggestion && { hint: suggestion.example ?? suggestion.fix }),
      ...(isObject(details) && { details }),
    },
  }
}

/** The name of a code as a journal keeps it, whatever a protocol calls it. */
export function plainCode(code: string): string {
  return findRow(code)?.code ?? code
}

/** Why somebody had an operation ended: what he says where it is an error of a step, else that it was cancelled. */
export function reasonOf(signal: AbortSignal): StepError {
  const reason: unknown = signal.reason
  if (
    isObject(reason) &&
    typeof reason['code'] === 'string' &&
    typeof reason['message'] === 'string'
  )
    return {
      code: reason['code'],
      message: reason['message'],
      retryable: reason['retryable'] === true,
      ...(typeof reason['hint'] === 'string' && { hint: reason['hint'] }),
    }
  return {
    code: 'CANCELLED',
    message: typeof reason === 'string' ? reason : 'the step was cancelled',
    retryable: false,
  }
}
