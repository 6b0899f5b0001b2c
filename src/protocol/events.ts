/**
 * What a running tool reports (events) and asks (interactions), as `--stream` prints it and
 * `onEvent` receives it, and the line format of the run protocol.
 */

import type { JsonSchema } from '../util/values.ts'
import type { TokenUsage } from './limits.ts'
import type { Outcome } from './outcome.ts'
import type { Plan } from './plan.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** What a tool tells while it works, as `--stream` prints it and `onEvent` receives it. */
export type ProgressEvent = {
  readonly type: 'progress'
  readonly message: string
  readonly percent?: number
  /** The plan that moved on, as it is now. */ readonly plan?: Plan
}
export type LogEvent = { readonly type: 'log'; readonly level: LogLevel; readonly message: string }
export type ArtifactEvent = {
  readonly type: 'artifact'
  readonly name: string
  readonly uri: string
}
export type ItemEvent = { readonly type: 'item'; readonly value: unknown }
export type SessionStartEvent = {
  readonly type: 'session_start'
  readonly message: string
  readonly prompt: string
}
export type AwaitingInputEvent = { readonly type: 'awaiting_input'; readonly prompt: string }
export type SessionEndEvent = { readonly type: 'session_end'; readonly status: string }
/** The last event of a stream: the whole outcome. */
export type ResultEvent = { readonly type: 'result' } & Outcome

/** Events that a running tool makes. */
export type ToolEvent =
  | ProgressEvent
  | LogEvent
  | ArtifactEvent
  | ItemEvent
  | SessionStartEvent
  | AwaitingInputEvent
  | SessionEndEvent

/** Events of one call as a consumer sees them: the tool's own, then exactly one result. */
export type CallEvent = ToolEvent | ResultEvent

/** Where a call belongs, as far as its host knows: all of it is for the record only. */
export type Invocation = {
  /** The name that the model gave its call. */
  readonly callId?: string
  /** The prompt that offered the tool. */
  readonly promptName?: string
  /** What speaks with the model. */
  readonly adapter?: string
  /** What the turn of the model cost that asked for the call. */
  readonly usage?: TokenUsage
  readonly run?: {
    readonly run_id?: string
    readonly request_id?: string
    readonly attempt?: number
    readonly worker_id?: string
    readonly trace_id?: string
    readonly span_id?: string
  }
}

/**
 * The record of one finished call, success or failure, for observers of a host. Absent values are
 * left out.
 */
export type ToolInvokedEvent = {
  readonly type: 'tool_invoked'
  readonly event_id: string
  readonly tool: string
  readonly input: unknown
  readonly outcome: Outcome
  /** What a model is told, at most 1,000 characters of it. */
  readonly rendered_output: string
  /** What was given where it was refused as an input. */
  readonly raw_arguments?: unknown
  readonly caller?: string
  /** The id of the state that the call worked on. */
  readonly session_id?: string
  readonly call_id?: string
  readonly prompt_name?: string
  readonly adapter?: string
  readonly usage?: TokenUsage
  readonly run_context?: Invocation['run']
  readonly ts: string
}

/** Event types of the run protocol v1 that a tool may write. */
export const PROTOCOL_EVENT_TYPES = [
  'start',
  'progress',
  'heartbeat',
  'action_required',
  'result',
  'error',
  'cancelled',
  'log',
  'artifact',
  'item',
] as const

/** Event types that only an orchestrator may write. */
export const TASK_EVENT_TYPES = [
  'task_submitted',
  'task_started',
  'task_progress',
  'task_action_required',
  'task_error',
  'task_done',
] as const

/** Event types that only the runner writes. */
export const RUNNER_EVENT_TYPES = [
  'runner_start',
  'runner_log',
  'diagnostic',
  'runner_warning',
  'runner_error',
  'runner_end',
] as const

/** The envelope of every line of the run protocol. */
export type ProtocolLine = {
  readonly v: 1
  readonly type: string
  readonly ts: string
  readonly run_id: string
  readonly trace_id?: string
  readonly span_id?: string
  readonly [field: string]: unknown
}

/** A choice of a decision. */
export type InteractionOption = {
  readonly value: string
  readonly label?: string
  readonly description?: string
}

/** A question that waits for somebody: a person, the calling agent, or a policy. */
export type Interaction = {
  readonly id: string
  readonly kind: 'decision' | 'input' | 'confirm' | 'sample'
  readonly prompt: string
  readonly schema?: JsonSchema
  readonly options?: readonly InteractionOption[]
  readonly default?: unknown
  /** Seconds to wait for an answer. */
  readonly timeout?: number
  /** Part of a session: any JSON object is an answer. */
  readonly dialogue?: true
  /** Why the last answer to this question was refused. */
  readonly problem?: string
  /** For `sample`: the parameters of the completion. */
  readonly sampling?: Omit<SampleRequest, 'id' | 'prompt' | 'key'>
  /** The name that the tool gave the question: the same in every run of the same call. */
  readonly key?: string
}

/** A request for a completion by the caller's model. */
export type SampleRequest = {
  readonly id: string
  readonly prompt: string
  readonly max_tokens: number
  readonly system?: string
  readonly temperature?: number
  readonly stop_sequences?: readonly string[]
  /** The name that the tool gave the request. */
  readonly key?: string
}

/** Answers a question; undefined means that nobody is there to answer. */
export type Answerer = (question: Interaction, signal: AbortSignal) => unknown | Promise<unknown>

/** Completes a prompt with the caller's model. */
export type Sampler = (request: SampleRequest, signal: AbortSignal) => string | Promise<string>

/** A folder or other place that the caller works in. */
export type Root = { readonly uri: string; readonly name?: string }

/** Tells the places that the caller works in. */
export type RootsProvider = (
  request: { readonly key?: string },
  signal: AbortSignal,
) => readonly Root[] | Promise<readonly Root[]>
