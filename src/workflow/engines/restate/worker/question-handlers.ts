import { checkAnswer } from '../../../../call/check-answer.ts'
import { compileAsked } from '../../../../call/compile-asked.ts'
import type { RestateHandler, RestateSdk } from '../sdk-type.ts'
import { ASKED } from '../wire.ts'
import type {
  AnswerRequest,
  AskedQuestion,
  AskRequest,
  CloseRequest,
  GivenAnswer,
} from '../wire.ts'
import type { WorkflowQuestion } from '../../engine-type.ts'

// What tools of one workflow ask: a step cannot write on the board of its workflow, so these have a board of their own, under the same key.

/** The handler `ask`: a question is open. */
export function askHandler(): RestateHandler<AskRequest, null> {
  return async (context, { question, awakeable }) => {
    context.set(`${ASKED}${question.id}`, { question, awakeable } satisfies AskedQuestion)
    return null
  }
}

/** The handler `close`: nobody waits for these any more. */
export function closeHandler(): RestateHandler<CloseRequest, null> {
  return async (context, { questions }) => {
    for (const id of questions) context.clear(`${ASKED}${id}`)
    return null
  }
}

/** The handler `answer`: the first answer wakes the step. */
export function answerAskedHandler(sdk: RestateSdk): RestateHandler<AnswerRequest, null> {
  return async (context, given) => {
    const asked = await context.get<AskedQuestion>(`${ASKED}${given.question}`)
    if (!asked)
      throw new sdk.TerminalError(
        `the workflow asks no question '${given.question.slice(0, 100)}' now`,
        { errorCode: 404 },
      )
    if (asked.isAnswered)
      throw new sdk.TerminalError(
        `the question '${given.question.slice(0, 100)}' has an answer already`,
        { errorCode: 409 },
      )
    const value = await fitting(sdk, asked.question, given.value)
    context.resolveAwakeable(asked.awakeable, {
      value,
      ...(given.by !== undefined && { by: given.by }),
    } satisfies GivenAnswer)
    context.set(`${ASKED}${given.question}`, { ...asked, isAnswered: true } satisfies AskedQuestion)
    return null
  }
}

/** The handler `open`: the questions that wait. */
export function openHandler(): RestateHandler<undefined, readonly WorkflowQuestion[]> {
  return async (context) => {
    const open: WorkflowQuestion[] = []
    for (const key of await context.stateKeys()) {
      const asked = key.startsWith(ASKED) ? await context.get<AskedQuestion>(key) : null
      if (asked && !asked.isAnswered) open.push(asked.question)
    }
    return open
  }
}

/** The value of an answer, as it counts; refuses one that is none. */
export async function fitting(
  sdk: RestateSdk,
  question: WorkflowQuestion,
  value: unknown,
): Promise<unknown> {
  const checked = await checkAnswer(question, await compileAsked(question), value)
  if (checked.ok) return checked.value
  throw new sdk.TerminalError(`the answer ${checked.problem}`, { errorCode: 400 })
}
