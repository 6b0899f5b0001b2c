/**
 * Service names, state keys and messages that toolable exchanges through Restate. All of it is a
 * wire format.
 */

import type { Workflow } from '../definition/model.ts'
import type {
  EndState,
  OperationOutcome,
  StepError,
  StepToolCall,
  WorkflowQuestion,
} from '../engine.ts'

/** The service that executes workflows: one key for each execution, its run id. */
export const WORKFLOW_SERVICE = 'toolable'
/** The service that performs the tools of steps, on any worker. */
export const STEP_SERVICE = 'toolable-steps'
/** Keeps what the tools of a workflow ask; the same keys. */
export const QUESTION_SERVICE = 'toolable-questions'
/** The durable promise that cancels an execution. No question can have its name. */
export const CANCEL_PROMISE = '~cancel'

/** What an execution is started with. The definition travels by value. */
export type RestateRunRequest = {
  readonly definition: Workflow
  readonly hash: string
  readonly input: unknown
  /** When it was asked for. */ readonly created: string
}

/** What an execution gives: it fails as a value, so that the engine never starts it again. */
export type RestateRunResult = {
  readonly state: EndState
  readonly settled: OperationOutcome
  /** Identifies the execution without another request. */
  readonly info: ExecutionInfo
}

/** A tool that some worker is asked to perform. */
export type RestateStepRequest = StepToolCall & { readonly workflow: string }

/** An answer to a question. */
export type AnswerRequest = {
  readonly question: string
  readonly value: unknown
  readonly by?: string
}
export type RestateAnswer = Omit<AnswerRequest, 'question'>

/** A question of a tool, with what its answer wakes. */
export type AskRequest = { readonly question: WorkflowQuestion; readonly awakeable: string }
export type StoredQuestion = AskRequest & {
  /** Kept until its step is over, so that a second answer is refused. */
  readonly isAnswered?: true
}
export type CloseRequest = { readonly questions: readonly string[] }
/** Before the id of a question, in the name under which it is kept. */
export const QUESTION_KEY_PREFIX = 'ask:'

/** What is asked of `state`: only tasks that changed after the `since`th change. */
export type StateRequest = { readonly since?: number }

/** A tool step that was begun. */
export type TaskRecord = {
  /** The number of the change that made it so. */
  readonly change: number
  /** The key of its operation. */
  readonly task: string
  readonly call: StepToolCall
  readonly status: 'running' | 'ok' | 'failed'
  readonly run_id?: string
  readonly error?: StepError
}

/** The state of an execution, for watchers. */
export type RemoteExecutionStatus = {
  readonly info?: ExecutionInfo
  readonly end?: RestateRunResult['state']
  readonly error?: StepError
  readonly questions: readonly WorkflowQuestion[]
  readonly tasks: readonly TaskRecord[]
}
export type ExecutionInfo = {
  readonly name: string
  readonly hash: string
  readonly created: string
}

/** The names under which an execution keeps how it stands. */
export const STATE_KEYS = {
  info: 'info',
  end: 'end',
  error: 'error',
  questions: 'questions',
  task: 'task:',
} as const
