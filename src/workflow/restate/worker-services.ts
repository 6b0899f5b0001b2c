/**
 * The Restate services of a worker: executions, steps and questions, with their handlers.
 */

import { compileQuestionSchema, validateAnswer } from '../../core/questions.ts'
import { crashPoint } from '../../process/host.ts'
import { compact, isObject } from '../../util/values.ts'
import type { OperationOutcome, WorkflowQuestion } from '../engine.ts'
import { getEndState } from '../engine.ts'
import { interpretWorkflow } from '../interpreter.ts'
import { hashWorkflow } from '../request.ts'
import type {
  RestateContext,
  RestateHandler,
  RestateOptions,
  RestatePromise,
  RestateSdk,
} from './sdk.ts'
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
import {
  CANCEL_PROMISE,
  QUESTION_KEY_PREFIX,
  QUESTION_SERVICE,
  STATE_KEYS,
  STEP_SERVICE,
  WORKFLOW_SERVICE,
} from './wire.ts'
import { createRestateContext } from './worker-context.ts'
import type { LiveSteps, StepUpdate } from './worker.ts'
import { toDefectOutcome } from './worker.ts'

// After its last attempt the server would set an execution aside until someone finds it, and a
// worker may be away for a weekend.
const RETRY_POLICY: NonNullable<RestateOptions['retryPolicy']> = {
  maxAttempts: 1_000_000_000,
  initialInterval: 200,
  maxInterval: { seconds: 10 },
  exponentiationFactor: 2,
  onMaxAttempts: 'pause',
}
/** How long the server keeps executions that are over. */
const RETENTION = { days: 30 }
/** How long one attempt of a tool may take; after that the server assumes that the worker died. */
const MAX_STEP_DURATION = { days: 7 }
const BRIEF: RestateOptions = { journalRetention: 0 }
const PRIVATE: RestateOptions = { ...BRIEF, ingressPrivate: true }

/** The services of a worker. */
export function createWorkerServices(sdk: RestateSdk, steps: LiveSteps): readonly unknown[] {
  const handlers = new WorkerHandlers(sdk, steps)
  const { workflow, shared } = sdk.handlers.workflow
  const { object } = sdk.handlers
  return [
    sdk.workflow({
      name: WORKFLOW_SERVICE,
      handlers: {
        // It only keeps its place, so the server may suspend it whenever it waits for long.
        run: workflow({ enableLazyState: true }, handlers.run),
        answer: shared(BRIEF, handlers.answer),
        cancel: shared(BRIEF, handlers.cancel),
        state: shared(BRIEF, handlers.state),
      },
      options: {
        workflowRetention: RETENTION,
        journalRetention: RETENTION,
        retryPolicy: RETRY_POLICY,
      },
    }),
    sdk.service({
      name: STEP_SERVICE,
      handlers: {
        // Its result is in the journal of the workflow. A tool may work for long in silence.
        perform: sdk.handlers.handler(
          { ...PRIVATE, inactivityTimeout: MAX_STEP_DURATION, abortTimeout: MAX_STEP_DURATION },
          handlers.perform,
        ),
      },
      options: { retryPolicy: RETRY_POLICY },
    }),
    // What tools of a workflow ask: a step cannot write the state of its workflow, so questions
    // have a service of their own, under the same key.
    sdk.object({
      name: QUESTION_SERVICE,
      handlers: {
        ask: object.exclusive(PRIVATE, openQuestion),
        close: object.exclusive(PRIVATE, closeQuestions),
        answer: object.exclusive(PRIVATE, handlers.answerTool),
        open: object.shared(PRIVATE, listOpenQuestions),
      },
      options: { retryPolicy: RETRY_POLICY },
    }),
  ]
}

class WorkerHandlers {
  constructor(
    private readonly sdk: RestateSdk,
    private readonly steps: LiveSteps,
  ) {}

  /** One execution from its beginning to its end, replayed from its journal when it moves. */
  readonly run: RestateHandler<RestateRunRequest, RestateRunResult> = async (context, request) => {
    const problem = findRequestProblem(request)
    // Only a request that never was one fails here: the engine must not retry it.
    if (problem !== undefined) throw this.refuse(400, problem)
    const { definition, hash, input, created } = request
    const info = { name: definition.name, hash, created }
    context.set(STATE_KEYS.info, info)
    const settled = await this.interpret(() =>
      interpretWorkflow(definition, input, createRestateContext(this.sdk, context)),
    )
    const state = getEndState(settled)
    context.set(STATE_KEYS.end, state)
    if (!settled.ok) context.set(STATE_KEYS.error, settled.error)
    return { state, settled, info }
  }

  /**
   * The first answer wins. 404 for a question that is not open, 409 when it has an answer, 400 for
   * an invalid answer.
   */
  readonly answer: RestateHandler<AnswerRequest, null> = async (context, given) => {
    const id = String(given?.question)
    const promise = context.promise<RestateAnswer>(id)
    // An answer counts when it is recorded, and its question is removed a little later.
    if ((await promise.peek()) !== undefined) throw this.refuseSecondAnswer(id)
    const question = (await readOwnQuestions(context)).find((open) => open.id === id)
    // A question that the workflow itself does not ask may be one of its tools'.
    if (!question) return this.callQuestions(context, 'answer', { ...given, question: id })
    const value = await this.requireValidAnswer(question, given.value)
    try {
      await promise.resolve({ value, ...compact({ by: given.by }) })
    } catch (error) {
      throw this.isTerminal(error) ? this.refuseSecondAnswer(id) : error
    }
    return null
  }

  /** The first reason is kept. */
  readonly cancel: RestateHandler<{ readonly reason?: string } | undefined, null> = async (
    context,
    given,
  ) => {
    try {
      await context.promise<string>(CANCEL_PROMISE).resolve(given?.reason ?? 'cancelled')
    } catch (error) {
      if (!this.isTerminal(error)) throw error
    }
    return null
  }

  /** What the execution asks and does. */
  readonly state: RestateHandler<StateRequest | undefined, RemoteExecutionStatus> = async (
    context,
    { since = 0 } = {},
  ) => {
    const info = await context.get<ExecutionInfo>(STATE_KEYS.info)
    const end = await context.get<RestateRunResult['state']>(STATE_KEYS.end)
    const error = await context.get<NonNullable<RemoteExecutionStatus['error']>>(STATE_KEYS.error)
    const tasks = await readState<TaskRecord>(context, STATE_KEYS.task)
    const own = await readOwnQuestions(context)
    const asked = end
      ? []
      : await this.callQuestions<readonly WorkflowQuestion[]>(context, 'open', undefined)
    return compact({
      info: info ?? undefined,
      end: end ?? undefined,
      error: error ?? undefined,
      questions: [...own, ...asked],
      tasks: tasks
        .filter(({ change }) => change > since)
        .sort((left, right) => left.change - right.change),
    })
  }

  /** A tool of a step. Its failure is a value, because the workflow decides about retries. */
  readonly perform: RestateHandler<RestateStepRequest, OperationOutcome> = async (
    context,
    step,
  ) => {
    const known: string[] = []
    const send = (method: string, parameter: AskRequest | CloseRequest): void =>
      void context.genericSend({
        service: QUESTION_SERVICE,
        key: step.workflow,
        method,
        parameter,
        inputSerde: this.sdk.serde.json,
      })
    let settled: OperationOutcome
    try {
      settled = await this.performUntilDone(context, step, known, send)
    } catch (error) {
      if (!(error instanceof this.sdk.CancelledError)) throw error
      // A tool that ended before the cancellation reached it keeps its result.
      settled = (await this.steps.stop(step)) ?? {
        ok: false,
        error: {
          code: 'CANCELLED',
          message: 'the step was cancelled before it began',
          retryable: false,
        },
      }
    }
    if (known.length > 0) send('close', { questions: known })
    this.steps.forget(step)
    crashPoint('worker.recorded')
    return settled
  }

  /** The first answer wakes the step. */
  readonly answerTool: RestateHandler<AnswerRequest, null> = async (context, given) => {
    const key = `${QUESTION_KEY_PREFIX}${given.question}`
    const asked = await context.get<StoredQuestion>(key)
    if (!asked)
      throw this.refuse(404, `the workflow asks no question '${given.question.slice(0, 100)}' now`)
    if (asked.isAnswered) throw this.refuseSecondAnswer(given.question)
    const value = await this.requireValidAnswer(asked.question, given.value)
    const answer: RestateAnswer = { value, ...compact({ by: given.by }) }
    context.resolveAwakeable(asked.awakeable, answer)
    context.set(key, { ...asked, isAnswered: true } satisfies StoredQuestion)
    return null
  }

  private async performUntilDone(
    context: RestateContext,
    step: RestateStepRequest,
    known: string[],
    send: (method: string, parameter: AskRequest) => void,
  ): Promise<OperationOutcome> {
    const questions = new Map<string, RestatePromise<RestateAnswer>>()
    let update = awaitStepUpdate(context, this.steps, step, known)
    for (;;) {
      const answered = [...questions].map(([id, answer]) =>
        answer.map((given) => ({ id, value: given?.value })),
      )
      const next = await this.sdk.RestatePromise.race<
        StepUpdate | { readonly id: string; readonly value: unknown }
      >([update, ...answered])
      if ('settled' in next) return next.settled
      if ('asks' in next) {
        const { id: awakeable, promise } = context.awakeable<RestateAnswer>()
        known.push(next.asks.id)
        questions.set(next.asks.id, promise)
        send('ask', { question: next.asks, awakeable })
        update = awaitStepUpdate(context, this.steps, step, known)
      } else {
        questions.delete(next.id)
        // Not recorded by itself: a replay gives it again.
        this.steps.give(step, next.id, next.value)
      }
    }
  }

  // A defect of ours would be retried without end, and fail in the same way each time.
  private async interpret(work: () => Promise<OperationOutcome>): Promise<OperationOutcome> {
    try {
      return await work()
    } catch (error) {
      const isSuspension = (error as Error | undefined)?.name?.includes('Suspen') === true
      if (isSuspension || error instanceof this.sdk.RestateError) throw error
      return toDefectOutcome('the interpreter failed', error)
    }
  }

  private async requireValidAnswer(question: WorkflowQuestion, value: unknown): Promise<unknown> {
    const checked = await validateAnswer(question, await compileQuestionSchema(question), value)
    if (checked.ok) return checked.value
    throw this.refuse(400, `the answer ${checked.problem}`)
  }

  private callQuestions<Output extends readonly WorkflowQuestion[] | null>(
    context: RestateContext,
    method: string,
    parameter: unknown,
  ): Promise<Output> {
    const { json } = this.sdk.serde
    return context.genericCall<unknown, Output>({
      service: QUESTION_SERVICE,
      key: context.key,
      method,
      parameter,
      inputSerde: json,
      outputSerde: json,
    })
  }

  private refuse(errorCode: number, message: string): Error {
    return new this.sdk.TerminalError(message, { errorCode })
  }

  private refuseSecondAnswer(id: string): Error {
    return this.refuse(409, `the question '${id.slice(0, 100)}' has an answer already`)
  }

  private isTerminal(error: unknown): boolean {
    return error instanceof this.sdk.TerminalError && !(error instanceof this.sdk.CancelledError)
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

async function readOwnQuestions(context: RestateContext): Promise<readonly WorkflowQuestion[]> {
  return (await context.get<readonly WorkflowQuestion[]>(STATE_KEYS.questions)) ?? []
}

// The values of all keys with a prefix.
async function readState<Value>(context: RestateContext, prefix: string): Promise<Value[]> {
  const values: Value[] = []
  for (const key of await context.stateKeys()) {
    const value = key.startsWith(prefix) ? await context.get<Value>(key) : null
    if (value !== null) values.push(value)
  }
  return values
}

function awaitStepUpdate(
  context: RestateContext,
  steps: LiveSteps,
  step: RestateStepRequest,
  known: readonly string[],
): RestatePromise<StepUpdate> {
  const seen = [...known]
  const name = seen.length === 0 ? step.step : `${step.step}~after-${seen.length}`
  return context.run(name, async () => {
    crashPoint('worker.asked')
    const update = await steps.join(step, seen)
    crashPoint('worker.performed')
    return update
  })
}

const openQuestion: RestateHandler<AskRequest, null> = async (context, { question, awakeable }) => {
  const stored: StoredQuestion = { question, awakeable }
  context.set(`${QUESTION_KEY_PREFIX}${question.id}`, stored)
  return null
}

const closeQuestions: RestateHandler<CloseRequest, null> = async (context, { questions }) => {
  for (const id of questions) context.clear(`${QUESTION_KEY_PREFIX}${id}`)
  return null
}

const listOpenQuestions: RestateHandler<undefined, readonly WorkflowQuestion[]> = async (
  context,
) => {
  const stored = await readState<StoredQuestion>(context, QUESTION_KEY_PREFIX)
  return stored.filter(({ isAnswered }) => !isAnswered).map(({ question }) => question)
}
