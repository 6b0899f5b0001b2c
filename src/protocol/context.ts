/**
 * What a caller may set for a call (`CallOptions`), what a handler gets besides its input
 * (`Context`), the questions it may ask, and what a guard sees of a call.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TypedJsonSchema } from '../util/values.ts'
import type {
  Answerer,
  Interaction,
  InteractionOption,
  Invocation,
  LogLevel,
  Root,
  RootsProvider,
  Sampler,
  ToolEvent,
  ToolInvokedEvent,
} from './events.ts'
import type { Budget, Duration } from './limits.ts'
import type { Annotations } from './manifest.ts'
import type { Outcome } from './outcome.ts'
import type { Plan } from './plan.ts'
import type { Filesystem, Resources, State } from './state.ts'

/** Parameters of a completion that a tool asks of its caller's model. */
export type SampleOptions = {
  /** Default 1000. */
  readonly maxTokens?: number
  readonly system?: string
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  /** Seconds to wait; default 120. */
  readonly timeout?: number
  /**
   * Names the request, so that an answer finds it again when the call is repeated: 1 to 64
   * characters of `A-Z a-z 0-9 _ . -`.
   */
  readonly key?: string
}

type QuestionBase = {
  readonly prompt: string
  readonly timeout?: number
  /**
   * Names the question, so that an answer finds it again when the call is repeated: 1 to 64
   * characters of `A-Z a-z 0-9 _ . -`.
   */
  readonly key?: string
}
export type ConfirmQuestion = QuestionBase & {
  readonly kind: 'confirm'
  readonly default?: boolean
}
export type DecisionQuestion<Value extends string = string> = QuestionBase & {
  readonly kind: 'decision'
  readonly options: readonly (Value | (InteractionOption & { readonly value: Value }))[]
  readonly default?: NoInfer<Value>
}
export type InputQuestion<Schema = unknown> = QuestionBase & {
  readonly kind: 'input'
  /** A schema of a library, or plain JSON Schema. */ readonly schema?: Schema
  readonly default?: unknown
}

/** The type of an answer by the schema of its question. */
export type AnswerOf<Schema> =
  Schema extends StandardSchemaV1<unknown, infer Value>
    ? Value
    : Schema extends TypedJsonSchema<infer Value>
      ? Value
      : unknown

/**
 * Asks somebody and waits: a boolean for `confirm`, the chosen value for `decision`, the
 * (validated) value for `input`.
 */
export type Ask = {
  (question: ConfirmQuestion): Promise<boolean>
  <const Value extends string>(question: DecisionQuestion<Value>): Promise<Value>
  <Schema = unknown>(question: InputQuestion<Schema>): Promise<AnswerOf<Schema>>
}

/** A place that survives the process, for one stage of a long job. */
export type Checkpoint = {
  load<Data = unknown>(): Promise<Data | undefined>
  /** Replaces the saved data atomically. */
  save(data: unknown): Promise<void>
}

/** One recorded action of a dry run. */
export type PlannedAction = {
  readonly action: string
  readonly target: string
  readonly details?: unknown
}

/** When the call has to be over. */
export type Deadline = {
  readonly at: Date
  /** Seconds left, never below 0. */ remaining(): number
}

/** A rendered prompt as a handler may see it. */
export type PromptView = {
  readonly name: string
  readonly text: string
  /** In order. */ readonly tools: readonly string[]
}

/** What a handler gets besides its input. */
export type Context = {
  /** Reports progress. `percent` only when it is truly known. */
  progress(message: string, percent?: number, more?: { readonly plan?: Plan }): void
  log(message: string, level?: LogLevel): void
  /** Tells that the call left something behind. */
  artifact(name: string, uri: string): void
  /** Hands out one item of a long list before the call is over. */
  item(value: unknown): void
  /** Asks the caller's model for a completion. */
  sample(prompt: string, options?: SampleOptions): Promise<string>
  readonly ask: Ask
  /** The places that the caller works in; the working folder where nobody says otherwise. */
  roots(options?: { readonly key?: string }): Promise<readonly Root[]>
  checkpoint(stage: string): Checkpoint
  /** Aborted when the call is cancelled or its deadline passes. */
  readonly signal: AbortSignal
  readonly deadline: Deadline | undefined
  readonly dryRun: boolean
  /** Records an action of a dry run; does nothing otherwise. */
  plan(action: string, target: string, details?: unknown): void
  /** Who calls, where known: `claude-code`, `ci`, a name given by a host. */
  readonly caller: string | undefined
  readonly state: State
  /** What calls share besides slices; `ctx.state` brings it. */
  readonly resources: Resources
  /** Files that roll back when the call fails; throws CONFIG where the state has none. */
  readonly filesystem: Filesystem
  /** What the call and others may spend together, where there is a limit. */
  readonly budget: Budget | undefined
  /** The prompt that offered the tool. */
  readonly prompt: PromptView | undefined
  readonly env: { readonly [name: string]: string | undefined }
  /** The directory that relative paths of the caller mean. */
  readonly cwd: string
  /** A secret given by the caller; throws CONFIG when it was not given. */
  secret(name: string): string
  /** 0 unless the caller asked for more detail. */
  readonly verbose: number
  /** What the tool's `context` hook returned. */
  readonly context: { readonly [key: string]: unknown }
}

/** What a resource or a prompt gets besides its parameters. */
export type ReadingContext = Pick<
  Context,
  'signal' | 'cwd' | 'env' | 'caller' | 'ask' | 'sample' | 'roots' | 'log'
>

/** A call that a guard looks at: its input is valid, its handler has not run. */
export type GuardedCall = {
  readonly tool: string
  readonly input: unknown
  /** The input as people and logs may see it: without what the tool's `redact` takes out. */
  readonly shown: unknown
  readonly annotations: Annotations
  readonly caller: string | undefined
  /** Nothing will be done, whatever the guard says. */
  readonly dryRun: boolean
  /**
   * Where a guard keeps what it has to remember: it rolls back with the call. Throws CONFIG where
   * the caller gave no state, so that the guard refuses.
   */
  readonly state: State
  readonly ask: Ask
  readonly signal: AbortSignal
}

/** Why a call may not happen, and what to do instead. */
export type Refusal = {
  readonly message: string
  /** Default PRECONDITION. */ readonly code?: string
  /** What to do first, or instead. */ readonly advice: string
  readonly details?: { readonly [key: string]: unknown }
}

/**
 * Decides whether a call may happen. A guard that throws, or gives anything but a refusal or
 * undefined, refuses.
 */
export type Guard = {
  readonly name: string
  /** Undefined: the call may happen. */
  check(call: GuardedCall): Refusal | undefined | Promise<Refusal | undefined>
  /** After a success, before anybody sees it; what it writes to the state belongs to the call. */
  passed?(call: GuardedCall, outcome: Outcome): void | Promise<void>
}

/** What a set of tools asks of every call of one of them, on every surface. */
export type CallRules = {
  readonly guards: readonly Guard[]
  /** Where the calls work that bring no state of their own. */ readonly state?: State
}

/** How a call is made; the same options on every surface. */
export type CallOptions = {
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** Longest time the call may take; the shortest of all limits wins. */
  readonly timeout?: Duration
  /** Plan instead of act. */
  readonly dryRun?: boolean
  /**
   * Consent to a destructive tool; a function is asked, and gives undefined when nobody is there to
   * decide. Default true: a direct call is consent.
   */
  readonly confirm?:
    boolean | ((question: Interaction) => boolean | undefined | Promise<boolean | undefined>)
  /** Answers the tool's questions. Undefined answers mean that nobody is there. */
  readonly answer?: Answerer
  /** Completes the tool's prompts. */
  readonly sample?: Sampler
  /** Tells the places that the caller works in; default: `cwd`. */
  readonly roots?: RootsProvider
  /** The store that rolls back when the call fails; a fresh one by default. */
  readonly state?: State
  /** Decide, in order, whether the call may happen; the first refusal counts. */
  readonly guards?: readonly Guard[]
  /** Limits that several calls share. */
  readonly budget?: Budget
  /** What the record says about the call besides. */
  readonly invocation?: Invocation
  /** The prompt that offered the tool, for `ctx.prompt`. */
  readonly prompt?: PromptView
  /**
   * Receives the tool's events while it runs, then one `tool_invoked`. A promise holds a generator
   * tool back. With a state, throwing at a success takes everything back, and the failure is told
   * as well; so does taking longer than a minute.
   */
  readonly onEvent?: (event: ToolEvent | ToolInvokedEvent) => void | Promise<void>
  readonly caller?: string
  /**
   * Repeats with the same key and input get the first answer for 24 hours; another input is a
   * CONFLICT.
   */
  readonly idempotencyKey?: string
  /** What relative paths mean; default: the directory of the process. */
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string | undefined }
  readonly secrets?: { readonly [name: string]: string }
  readonly verbose?: number
}
