import { checkAnswer } from '../../../../call/check-answer.ts'
import { compileAsked } from '../../../../runner/interactions/compile-asked.ts'
import type { WorkflowQuestion } from '../../engine-type.ts'
import type { RestateContext, RestateHandler, RestateSdk } from '../sdk-type.ts'
import { CANCEL, STATE } from '../wire.ts'
import type { AnswerRequest, ExecutionInfo, GivenAnswer, RunAnswer, Standing, StateRequest, TaskRecord } from '../wire.ts'

/** The handler `answer`: the first answer wins. 404 for a question that is not open, 409 where it has an answer, 400 for an answer that is none. */
export function answerHandler(sdk: RestateSdk): RestateHandler<AnswerRequest, null> {
  const refuse = (errorCode: number, message: string): never => {
    throw new sdk.TerminalError(message, { errorCode })
  }
  return async (context, given) => {
    const id = String(given?.question)
    const promise = context.promise<GivenAnswer>(id)
    // An answer counts from the moment it is recorded, and the question leaves the board a little later.
    if ((await promise.peek()) !== undefined) return refuse(409, `the question '${id.slice(0, 100)}' has an answer already`)
    const question = (await openQuestions(context)).find((open) => open.id === id)
    if (!question) return refuse(404, `the workflow asks no question '${id.slice(0, 100)}' now`)
    const checked = await checkAnswer(question, await compileAsked(question), given.value)
    if (!checked.ok) return refuse(400, `the answer ${checked.problem}`)
    try {
      await promise.resolve({ value: checked.value, ...(given.by !== undefined && { by: given.by }) })
    } catch (error) {
      if (!(error instanceof sdk.TerminalError) || error instanceof sdk.CancelledError) throw error
      return refuse(409, `the question '${id.slice(0, 100)}' has an answer already`)
    }
    return null
  }
}

/** The handler `cancel`: the first reason is kept. */
export function cancelHandler(sdk: RestateSdk): RestateHandler<{ readonly reason?: string }, null> {
  return async (context, given) => {
    try {
      await context.promise<string>(CANCEL).resolve(given?.reason ?? 'cancelled')
    } catch (error) {
      if (!(error instanceof sdk.TerminalError) || error instanceof sdk.CancelledError) throw error
    }
    return null
  }
}

/** The handler `state`: what the execution asks and does. */
export function stateHandler(): RestateHandler<StateRequest | undefined, Standing> {
  return async (context, given) => {
    const since = given?.since ?? 0
    const info = await context.get<ExecutionInfo>(STATE.info)
    const end = await context.get<RunAnswer['state']>(STATE.end)
    const error = await context.get<NonNullable<Standing['error']>>(STATE.error)
    const questions = await openQuestions(context)
    const tasks: TaskRecord[] = []
    for (const key of await context.stateKeys()) {
      const task = key.startsWith(STATE.task) ? await context.get<TaskRecord>(key) : null
      if (task && task.change > since) tasks.push(task)
    }
    return { ...(info && { info }), ...(end && { end }), ...(error && { error }), questions, tasks: tasks.sort((left, right) => left.change - right.change) }
  }
}

async function openQuestions(context: RestateContext): Promise<readonly WorkflowQuestion[]> {
  return (await context.get<readonly WorkflowQuestion[]>(STATE.questions)) ?? []
}
