import type { WorkflowQuestion } from '../../engine-type.ts'
import type { RestateContext, RestateHandler, RestateSdk } from '../sdk-type.ts'
import { CANCEL, QUESTIONS, STATE } from '../wire.ts'
import type {
  AnswerRequest,
  ExecutionInfo,
  GivenAnswer,
  RunAnswer,
  Standing,
  StateRequest,
  TaskRecord,
} from '../wire.ts'
import { fitting } from './question-handlers.ts'

/** The handler `answer`: the first answer wins. 404 for a question that is not open, 409 where it has an answer, 400 for an answer that is none. */
export function answerHandler(sdk: RestateSdk): RestateHandler<AnswerRequest, null> {
  const isOver = (id: string): Error =>
    new sdk.TerminalError(`the question '${id.slice(0, 100)}' has an answer already`, {
      errorCode: 409,
    })
  return async (context, given) => {
    const id = String(given?.question)
    const promise = context.promise<GivenAnswer>(id)
    // An answer counts from the moment it is recorded, and the question leaves the board a little later.
    if ((await promise.peek()) !== undefined) throw isOver(id)
    const question = (await ownQuestions(context)).find((open) => open.id === id)
    // Where the workflow itself does not ask it, one of its tools may.
    if (!question)
      return context.genericCall<AnswerRequest, null>({
        service: QUESTIONS,
        key: context.key,
        method: 'answer',
        parameter: { ...given, question: id },
        ...json(sdk),
      })
    const value = await fitting(sdk, question, given.value)
    try {
      await promise.resolve({ value, ...(given.by !== undefined && { by: given.by }) })
    } catch (error) {
      throw isTerminal(sdk, error) ? isOver(id) : error
    }
    return null
  }
}

/** The handler `cancel`: the first reason is kept. */
export function cancelHandler(
  sdk: RestateSdk,
): RestateHandler<{ readonly reason?: string } | undefined, null> {
  return async (context, given) => {
    try {
      await context.promise<string>(CANCEL).resolve(given?.reason ?? 'cancelled')
    } catch (error) {
      if (!isTerminal(sdk, error)) throw error
    }
    return null
  }
}

/** The handler `state`: what the execution asks and does. */
export function stateHandler(sdk: RestateSdk): RestateHandler<StateRequest | undefined, Standing> {
  return async (context, given) => {
    const since = given?.since ?? 0
    const info = await context.get<ExecutionInfo>(STATE.info)
    const end = await context.get<RunAnswer['state']>(STATE.end)
    const error = await context.get<NonNullable<Standing['error']>>(STATE.error)
    const tasks: TaskRecord[] = []
    for (const key of await context.stateKeys()) {
      const task = key.startsWith(STATE.task) ? await context.get<TaskRecord>(key) : null
      if (task && task.change > since) tasks.push(task)
    }
    const own = await ownQuestions(context)
    const asked = end
      ? []
      : await context.genericCall<undefined, readonly WorkflowQuestion[]>({
          service: QUESTIONS,
          key: context.key,
          method: 'open',
          parameter: undefined,
          ...json(sdk),
        })
    return {
      ...(info && { info }),
      ...(end && { end }),
      ...(error && { error }),
      questions: [...own, ...asked],
      tasks: tasks.sort((left, right) => left.change - right.change),
    }
  }
}

async function ownQuestions(context: RestateContext): Promise<readonly WorkflowQuestion[]> {
  return (await context.get<readonly WorkflowQuestion[]>(STATE.questions)) ?? []
}

function json({ serde }: RestateSdk): {
  readonly inputSerde: unknown
  readonly outputSerde: unknown
} {
  return { inputSerde: serde.json, outputSerde: serde.json }
}

function isTerminal(sdk: RestateSdk, error: unknown): boolean {
  return error instanceof sdk.TerminalError && !(error instanceof sdk.CancelledError)
}
