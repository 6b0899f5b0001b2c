import { crashPoint } from '../../../../process/crash-point.ts'
import type { Settled } from '../../engine-type.ts'
import type { RestateContext, RestateHandler, RestatePromise, RestateSdk } from '../sdk-type.ts'
import { QUESTIONS } from '../wire.ts'
import type { AskRequest, CloseRequest, GivenAnswer, StepRequest } from '../wire.ts'
import type { LiveSteps, StepNews } from './live-steps.ts'

/** The handler `perform`: a tool of a step. Its failure is a value, so that the engine does not try again what the workflow decides about. */
export function stepHandler(
  sdk: RestateSdk,
  steps: LiveSteps,
): RestateHandler<StepRequest, Settled> {
  return async (context, step) => {
    const questions = new Map<string, RestatePromise<GivenAnswer>>()
    const known: string[] = []
    const send = (method: string, parameter: AskRequest | CloseRequest): void =>
      void context.genericSend({
        service: QUESTIONS,
        key: step.workflow,
        method,
        parameter,
        inputSerde: sdk.serde.json,
      })

    const ask = (news: Extract<StepNews, { asks: unknown }>): void => {
      const { id, promise } = context.awakeable<GivenAnswer>()
      known.push(news.asks.id)
      questions.set(news.asks.id, promise)
      send('ask', { question: news.asks, awakeable: id })
    }

    let settled: Settled
    try {
      settled = await perform()
    } catch (error) {
      if (!(error instanceof sdk.CancelledError)) throw error
      // A tool that ended before the word reached it keeps what it has.
      settled = (await steps.stop(step)) ?? {
        ok: false,
        error: {
          code: 'CANCELLED',
          message: 'the step was cancelled before it began',
          retryable: false,
        },
      }
    }
    if (known.length > 0) send('close', { questions: known })
    steps.forget(step)
    crashPoint('worker.recorded')
    return settled

    async function perform(): Promise<Settled> {
      let news = listen(context, steps, step, known)
      for (;;) {
        const answered = [...questions].map(([id, answer]) =>
          answer.map((given) => ({ id, value: given?.value })),
        )
        const next = await sdk.RestatePromise.race<
          StepNews | { readonly id: string; readonly value: unknown }
        >([news, ...answered])
        if ('settled' in next) return next.settled
        if ('asks' in next) {
          ask(next)
          news = listen(context, steps, step, known)
        } else {
          questions.delete(next.id)
          // Not recorded by itself: whoever plays this again gives it again.
          steps.give(step, next.id, next.value)
        }
      }
    }
  }
}

function listen(
  context: RestateContext,
  steps: LiveSteps,
  step: StepRequest,
  known: readonly string[],
): RestatePromise<StepNews> {
  const heard = [...known]
  return context.run(
    heard.length === 0 ? step.step : `${step.step}~after-${heard.length}`,
    async () => {
      crashPoint('worker.asked')
      const news = await steps.join(step, heard)
      crashPoint('worker.performed')
      return news
    },
  )
}
