import type { Settled } from '../../engine-type.ts'
import type { RestateHandler, RestateSdk } from '../sdk-type.ts'
import type { StepRequest } from '../wire.ts'
import type { LiveSteps } from './live-steps.ts'

/** The handler `perform`: a tool of a step. Its failure is a value, so that the engine does not try again what the workflow decides about. */
export function stepHandler(sdk: RestateSdk, steps: LiveSteps): RestateHandler<StepRequest, Settled> {
  return async (context, step) => {
    let settled: Settled
    try {
      settled = await context.run(step.step, () => steps.join(step))
    } catch (error) {
      if (!(error instanceof sdk.CancelledError)) throw error
      // A tool that ended before the word reached it keeps what it has.
      settled = (await steps.stop(step)) ?? { ok: false, error: { code: 'CANCELLED', message: 'the step was cancelled before it began', retryable: false } }
    }
    steps.forget(step)
    return settled
  }
}
