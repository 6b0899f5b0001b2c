/**
 * The Restate services of a worker: executions, steps and questions, with their handlers.
 */

import { compileQuestionSchema, validateAnswer } from '../../core/questions.ts'
import { crashPoint } from '../../process/host.ts'
import { compact, isObject } from '../../util/values.ts'
import type { OperationOutcome, WorkflowQuestion } from '../engine.ts'
import { interpretWorkflow } from '../interpreter.ts'
import { hashWorkflow } from '../request.ts'
import type {
  RestateContext,
  RestateDuration,
  RestateHandler,
  RestateOptions,
  RestatePromise,
  RestateSdk,
} from './sdk.ts'
import {
  CANCEL_PROMISE,
  QUESTION_KEY_PREFIX,
  QUESTION_SERVICE,
  STATE_KEYS,
  STEP_SERVICE,
  WORKFLOW_SERVICE,
} from './wire.ts'
import type {
  AnswerRequest,
  AskRequest,
  CloseRequest,
  ExecutionInfo,
  RemoteExecutionStatus,
  RestateAnswer,
  RestateRunRequest,
  RestateRunResult,
  RestateStepRequest,
  StateRequest,
  StoredQuestion,
  TaskRecord,
} from './wire.ts'
import { createRestateContext, storeBegin, storeEnd } from './worker-context.ts'
import type { LiveSteps, StepUpdate } from './worker.ts'

type WorkerServiceOptions = {
  readonly steps: LiveSteps
  /** How long the server keeps executions that are over; default 30 days. */
  readonly retention?: RestateDuration
  /**
   * How long one try of a tool may take; default 7 days. Past it the server takes the worker for
   * dead.
   */
  readonly longestStep?: RestateDuration
}

// Past its last try the server would set an execution aside until somebody finds it: a worker may
// be away for a weekend.
const RETRY_POLICY: NonNullable<RestateOptions['retryPolicy']> = {
  maxAttempts: 1_000_000_000,
  initialInterval: 200,
  maxInterval: { seconds: 10 },
  exponentiationFactor: 2,
  onMaxAttempts: 'pause',
}

/** The services of a worker. */
export function createWorkerServices(
  sdk: RestateSdk,
  { steps, retention = { days: 30 }, longestStep = { days: 7 } }: WorkerServiceOptions,
): readonly unknown[] {
  const { workflow, shared } = sdk.handlers.workflow
  const { object } = sdk.handlers
  const passing: RestateOptions = { journalRetention: 0 }
  const own: RestateOptions = { ...passing, ingressPrivate: true }
  return [
    sdk.workflow({
      name: WORKFLOW_SERVICE,
      handlers: {
        // It holds nothing but its place, so the server may put it aside whenever it waits for
        // long.
        run: workflow({ enableLazyState: true }, createRunHandler(sdk)),
        answer: shared(passing, createAnswerHandler(sdk)),
        cancel: shared(passing, createCancelHandler(sdk)),
        state: shared(passing, createStateHandler(sdk)),
      },
      options: {
        workflowRetention: retention,
        journalRetention: retention,
        retryPolicy: RETRY_POLICY,
      },
    }),
    sdk.service({
      name: STEP_SERVICE,
      handlers: {
        // Its answer is in the journal of the workflow. The times are those of a tool that works
        // and says nothing.
        perform: sdk.handlers.handler(
          { ...own, inactivityTimeout: longestStep, abortTimeout: longestStep },
          createStepHandler(sdk, steps),
        ),
      },
      options: { retryPolicy: RETRY_POLICY },
    }),
    sdk.object({
      name: QUESTION_SERVICE,
      handlers: {
        ask: object.exclusive(own, createAskHandler()),
        close: object.exclusive(own, createCloseHandler()),
        answer: object.exclusive(own, createToolAnswerHandler(sdk)),
        open: object.shared(own, createOpenQuestionsHandler()),
      },
      options: { retryPolicy: RETRY_POLICY },
    }),
  ]
}

/**
 * The handler `run`: one execution from its beginning to its end, played again from its journal
 * whenever it moves.
 */
function createRunHandler(sdk: RestateSdk): RestateHandler<RestateRunRequest, RestateRunResult> {
  return async (context, request) => {
    const problem = findRequestProblem(request)
    // Only a request that never was one fails here: the engine must not try it again.
    if (problem !== undefined) throw new sdk.TerminalError(problem, { errorCode: 400 })
    const { definition, hash, input, created } = request
    const info = { name: definition.name, hash, created }
    storeBegin(context, info)
    const settled = await interpretOrFail(sdk, () =>
      interpretWorkflow(definition, input, createRestateContext(sdk, context)),
    )
    const answer: RestateRunResult = {
      state: settled.ok ? 'completed' : settled.error.code === 'CANCELLED' ? 'cancelled' : 'failed',
      settled,
      info,
    }
    storeEnd(context, answer)
    return answer
  }
}

function findRequestProblem(request: unknown): string | undefined {
  if (
    !isObject(request) ||
    !isObject(request['definition']) ||
    typeof request['definition']['name'] !== 'string' ||
    !Array.isArray(request['definition']['steps'])
  )
    return 'the request holds no workflow: send {definition, hash, input, created}'
  const { definition, hash } = request as unknown as RestateRunRequest
  const found = hashWorkflow(definition)
  return found === hash
    ? undefined
    : `the definition of '${definition.name.slice(0, 100)}' was changed on its way: its hash is ${found}, and ${String(hash).slice(0, 100)} was promised`
}

// A mistake of ours would be tried again for ever, and fail in the same way each time.
async function interpretOrFail(
  sdk: RestateSdk,
  work: () => Promise<OperationOutcome>,
): Promise<OperationOutcome> {
  try {
    return await work()
  } catch (error) {
    if (
      error instanceof sdk.RestateError ||
      (error as Error | undefined)?.name?.includes('Suspen') === true
    )
      throw error
    return {
      ok: false,
      error: {
        code: 'INTERNAL',
        message: `the interpreter failed: ${error instanceof Error ? error.message : String(error)}`,
        retryable: false,
      },
    }
  }
}

/**
 * The handler `answer`: the first answer wins. 404 for a question that is not open, 409 where it
 * has an answer, 400 for an answer that is none.
 */
function createAnswerHandler(sdk: RestateSdk): RestateHandler<AnswerRequest, null> {
  const isOver = (id: string): Error =>
    new sdk.TerminalError(`the question '${id.slice(0, 100)}' has an answer already`, {
      errorCode: 409,
    })
  return async (context, given) => {
    const id = String(given?.question)
    const promise = context.promise<RestateAnswer>(id)
    // An answer counts from the moment it is recorded, and the question leaves the board a little
    // later.
    if ((await promise.peek()) !== undefined) throw isOver(id)
    const question = (await readOwnQuestions(context)).find((open) => open.id === id)
    // Where the workflow itself does not ask it, one of its tools may.
    if (!question)
      return context.genericCall<AnswerRequest, null>({
        service: QUESTION_SERVICE,
        key: context.key,
        method: 'answer',
        parameter: { ...given, question: id },
        ...getJsonSerdes(sdk),
      })
    const value = await requireValidAnswer(sdk, question, given.value)
    try {
      await promise.resolve({ value, ...compact({ by: given.by }) })
    } catch (error) {
      throw isTerminalError(sdk, error) ? isOver(id) : error
    }
    return null
  }
}

/** The handler `cancel`: the first reason is kept. */
function createCancelHandler(
  sdk: RestateSdk,
): RestateHandler<{ readonly reason?: string } | undefined, null> {
  return async (context, given) => {
    try {
      await context.promise<string>(CANCEL_PROMISE).resolve(given?.reason ?? 'cancelled')
    } catch (error) {
      if (!isTerminalError(sdk, error)) throw error
    }
    return null
  }
}

/** The handler `state`: what the execution asks and does. */
function createStateHandler(
  sdk: RestateSdk,
): RestateHandler<StateRequest | undefined, RemoteExecutionStatus> {
  return async (context, given) => {
    const since = given?.since ?? 0
    const info = await context.get<ExecutionInfo>(STATE_KEYS.info)
    const end = await context.get<RestateRunResult['state']>(STATE_KEYS.end)
    const error = await context.get<NonNullable<RemoteExecutionStatus['error']>>(STATE_KEYS.error)
    const tasks: TaskRecord[] = []
    for (const key of await context.stateKeys()) {
      const task = key.startsWith(STATE_KEYS.task) ? await context.get<TaskRecord>(key) : null
      if (task && task.change > since) tasks.push(task)
    }
    const own = await readOwnQuestions(context)
    const asked = end
      ? []
      : await context.genericCall<undefined, readonly WorkflowQuestion[]>({
          service: QUESTION_SERVICE,
          key: context.key,
          method: 'open',
          parameter: undefined,
          ...getJsonSerdes(sdk),
        })
    return compact({
      info: info || undefined,
      end: end || undefined,
      error: error || undefined,
      questions: [...own, ...asked],
      tasks: tasks.sort((left, right) => left.change - right.change),
    })
  }
}

async function readOwnQuestions(context: RestateContext): Promise<readonly WorkflowQuestion[]> {
  return (await context.get<readonly WorkflowQuestion[]>(STATE_KEYS.questions)) ?? []
}

function getJsonSerdes({ serde }: RestateSdk): {
  readonly inputSerde: unknown
  readonly outputSerde: unknown
} {
  return { inputSerde: serde.json, outputSerde: serde.json }
}

function isTerminalError(sdk: RestateSdk, error: unknown): boolean {
  return error instanceof sdk.TerminalError && !(error instanceof sdk.CancelledError)
}

/**
 * The handler `perform`: a tool of a step. Its failure is a value, so that the engine does not try
 * again what the workflow decides about.
 */
function createStepHandler(
  sdk: RestateSdk,
  steps: LiveSteps,
): RestateHandler<RestateStepRequest, OperationOutcome> {
  return async (context, step) => {
    const questions = new Map<string, RestatePromise<RestateAnswer>>()
    const known: string[] = []
    const send = (method: string, parameter: AskRequest | CloseRequest): void =>
      void context.genericSend({
        service: QUESTION_SERVICE,
        key: step.workflow,
        method,
        parameter,
        inputSerde: sdk.serde.json,
      })

    const ask = (news: Extract<StepUpdate, { asks: unknown }>): void => {
      const { id, promise } = context.awakeable<RestateAnswer>()
      known.push(news.asks.id)
      questions.set(news.asks.id, promise)
      send('ask', { question: news.asks, awakeable: id })
    }

    let settled: OperationOutcome
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

    async function perform(): Promise<OperationOutcome> {
      let news = awaitStepUpdate(context, steps, step, known)
      for (;;) {
        const answered = [...questions].map(([id, answer]) =>
          answer.map((given) => ({ id, value: given?.value })),
        )
        const next = await sdk.RestatePromise.race<
          StepUpdate | { readonly id: string; readonly value: unknown }
        >([news, ...answered])
        if ('settled' in next) return next.settled
        if ('asks' in next) {
          ask(next)
          news = awaitStepUpdate(context, steps, step, known)
        } else {
          questions.delete(next.id)
          // Not recorded by itself: whoever plays this again gives it again.
          steps.give(step, next.id, next.value)
        }
      }
    }
  }
}

function awaitStepUpdate(
  context: RestateContext,
  steps: LiveSteps,
  step: RestateStepRequest,
  known: readonly string[],
): RestatePromise<StepUpdate> {
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

// What tools of one workflow ask: a step cannot write on the board of its workflow, so these have a
// board of their own, under the same key.

/** The handler `ask`: a question is open. */
function createAskHandler(): RestateHandler<AskRequest, null> {
  return async (context, { question, awakeable }) => {
    context.set(`${QUESTION_KEY_PREFIX}${question.id}`, {
      question,
      awakeable,
    } satisfies StoredQuestion)
    return null
  }
}

/** The handler `close`: nobody waits for these any more. */
function createCloseHandler(): RestateHandler<CloseRequest, null> {
  return async (context, { questions }) => {
    for (const id of questions) context.clear(`${QUESTION_KEY_PREFIX}${id}`)
    return null
  }
}

/** The handler `answer`: the first answer wakes the step. */
function createToolAnswerHandler(sdk: RestateSdk): RestateHandler<AnswerRequest, null> {
  return async (context, given) => {
    const asked = await context.get<StoredQuestion>(`${QUESTION_KEY_PREFIX}${given.question}`)
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
    const value = await requireValidAnswer(sdk, asked.question, given.value)
    context.resolveAwakeable(asked.awakeable, {
      value,
      ...compact({ by: given.by }),
    } satisfies RestateAnswer)
    context.set(`${QUESTION_KEY_PREFIX}${given.question}`, {
      ...asked,
      isAnswered: true,
    } satisfies StoredQuestion)
    return null
  }
}

/** The handler `open`: the questions that wait. */
function createOpenQuestionsHandler(): RestateHandler<undefined, readonly WorkflowQuestion[]> {
  return async (context) => {
    const open: WorkflowQuestion[] = []
    for (const key of await context.stateKeys()) {
      const asked = key.startsWith(QUESTION_KEY_PREFIX)
        ? await context.get<StoredQuestion>(key)
        : null
      if (asked && !asked.isAnswered) open.push(asked.question)
    }
    return open
  }
}

/** The value of an answer, as it counts; refuses one that is none. */
async function requireValidAnswer(
  sdk: RestateSdk,
  question: WorkflowQuestion,
  value: unknown,
): Promise<unknown> {
  const checked = await validateAnswer(question, await compileQuestionSchema(question), value)
  if (checked.ok) return checked.value
  throw new sdk.TerminalError(`the answer ${checked.problem}`, { errorCode: 400 })
}
