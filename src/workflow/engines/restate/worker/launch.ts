import { ToolError } from '../../../../contract/tool-error.ts'
import type { Operation, Settled } from '../../engine-type.ts'
import type { RestateContext, RestateFailure, RestatePromise, RestateSdk } from '../sdk-type.ts'
import { STEPS } from '../wire.ts'
import type { GivenAnswer, StepRequest } from '../wire.ts'

/** An operation that the engine has taken. */
export type Launched = {
  readonly settled: RestatePromise<Settled>
  /** What is told to end, where there is something to tell. */
  readonly end?: RestatePromise<string>
}

type Engine = {
  readonly sdk: RestateSdk
  readonly context: RestateContext
  /** Waits through cancellations. */ readonly calmly: <Value>(
    wanted: RestatePromise<Value>,
  ) => Promise<Value>
}

/** Hands an operation to the engine. */
export async function launch(
  operation: Operation,
  { sdk, context, calmly }: Engine,
): Promise<Launched> {
  switch (operation.kind) {
    case 'tool': {
      // A tool is a call of its own: it goes to whichever worker is free, and nothing of the workflow stays in memory while it runs.
      const call = context.genericCall<StepRequest, Settled>({
        service: STEPS,
        method: 'perform',
        parameter: { ...operation.call, workflow: context.key },
        inputSerde: sdk.serde.json,
        outputSerde: sdk.serde.json,
        name: operation.key,
      })
      return {
        settled: call.map((settled, failure) => settled ?? lost(failure)),
        end: call.invocationId,
      }
    }
    case 'answer':
      return {
        settled: context
          .promise<GivenAnswer>(operation.question.id)
          .get()
          .map((answer) => ({ ok: true, value: answer?.value })),
      }
    case 'sleep': {
      const { until } = operation
      const milliseconds =
        'seconds' in until
          ? until.seconds * 1000
          : Date.parse(until.time) - (await calmly(context.date.now()))
      return {
        settled: context
          .sleep(Math.max(0, Math.round(milliseconds)), operation.key)
          .map(() => ({ ok: true, value: null })),
      }
    }
  }
}

// A step answers with a value whatever happens, so this is the word of the server: somebody cancelled or killed the call itself.
function lost(failure: RestateFailure | undefined): Settled {
  const isCancelled = failure?.code === 409
  const { code, message, retryable } = new ToolError(
    isCancelled ? 'CANCELLED' : 'DEPENDENCY',
    `the Restate server gave up the step: ${failure?.message ?? 'it says nothing more'}`,
    isCancelled ? {} : { retryable: false },
  )
  return { ok: false, error: { code, message, retryable } }
}
