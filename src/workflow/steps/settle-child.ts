import { mayTryAgain } from '../../runner/attempt/ending/ending.ts'
import type { Settled, StepError } from '../engines/engine-type.ts'
import type { EndedChild } from './look-at-child.ts'
import { plainCode, reasonOf } from './step-error.ts'

function aborted(signal: AbortSignal, runId: string): StepError {
  return { ...reasonOf(signal), run_id: runId }
}

function ended(
  { summary: { state, result, error, run_id }, retryable }: EndedChild,
  runId: string,
  signal: AbortSignal,
): Settled {
  if (state === 'completed') return { ok: true, value: result ?? null, run_id: runId }
  if (state === 'cancelled')
    return {
      ok: false,
      error: signal.aborted
        ? aborted(signal, runId)
        : {
            code: 'CANCELLED',
            message: error?.message ?? `${run_id} was cancelled`,
            retryable: false,
            run_id: runId,
          },
    }
  const code = error?.code ?? 'INTERNAL'
  return {
    ok: false,
    error: {
      code: plainCode(code),
      message: error?.message ?? `${run_id} failed`,
      retryable: mayTryAgain(code, retryable),
      ...(error?.hint !== undefined && { hint: error.hint }),
      run_id: runId,
    },
  }
}

/** What the run of a step means for the step. */
export const settleChild = { aborted, ended }
