import type { RestateDuration, RestateOptions, RestateSdk } from '../sdk-type.ts'
import { QUESTIONS, STEPS, WORKFLOWS } from '../wire.ts'
import type { LiveSteps } from './live-steps.ts'
import { answerAskedHandler, askHandler, closeHandler, openHandler } from './question-handlers.ts'
import { runHandler } from './run-handler.ts'
import { answerHandler, cancelHandler, stateHandler } from './shared-handlers.ts'
import { stepHandler } from './step-handler.ts'

export type ServiceOptions = {
  readonly steps: LiveSteps
  /** How long the server keeps executions that are over; default 30 days. */
  readonly retention?: RestateDuration
  /** How long one try of a tool may take; default 7 days. Past it the server takes the worker for dead. */
  readonly longestStep?: RestateDuration
}

// Past its last try the server would set an execution aside until somebody finds it: a worker may be away for a weekend.
const RETRY: NonNullable<RestateOptions['retryPolicy']> = {
  maxAttempts: 1_000_000_000,
  initialInterval: 200,
  maxInterval: { seconds: 10 },
  exponentiationFactor: 2,
  onMaxAttempts: 'pause',
}

/** The services of a worker. */
export function makeServices(
  sdk: RestateSdk,
  { steps, retention = { days: 30 }, longestStep = { days: 7 } }: ServiceOptions,
): readonly unknown[] {
  const { workflow, shared } = sdk.handlers.workflow
  const { object } = sdk.handlers
  const passing: RestateOptions = { journalRetention: 0 }
  const own: RestateOptions = { ...passing, ingressPrivate: true }
  return [
    sdk.workflow({
      name: WORKFLOWS,
      handlers: {
        // It holds nothing but its place, so the server may put it aside whenever it waits for long.
        run: workflow({ enableLazyState: true }, runHandler(sdk)),
        answer: shared(passing, answerHandler(sdk)),
        cancel: shared(passing, cancelHandler(sdk)),
        state: shared(passing, stateHandler(sdk)),
      },
      options: { workflowRetention: retention, journalRetention: retention, retryPolicy: RETRY },
    }),
    sdk.service({
      name: STEPS,
      handlers: {
        // Its answer is in the journal of the workflow. The times are those of a tool that works and says nothing.
        perform: sdk.handlers.handler(
          { ...own, inactivityTimeout: longestStep, abortTimeout: longestStep },
          stepHandler(sdk, steps),
        ),
      },
      options: { retryPolicy: RETRY },
    }),
    sdk.object({
      name: QUESTIONS,
      handlers: {
        ask: object.exclusive(own, askHandler()),
        close: object.exclusive(own, closeHandler()),
        answer: object.exclusive(own, answerAskedHandler(sdk)),
        open: object.shared(own, openHandler()),
      },
      options: { retryPolicy: RETRY },
    }),
  ]
}
