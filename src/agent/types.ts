/**
 * The public types of agents and models, the secrets that belong to a model, and what counts as a
 * language model of the `ai` package.
 */

import type { CallOptions } from '../core/call.ts'
import type { Servable, ToolEntry, ToolTree } from '../core/provider.ts'
import type { Tool } from '../core/tool.ts'
import type { Guard } from '../protocol/context.ts'
import type { Answerer, Interaction, ToolEvent } from '../protocol/events.ts'
import type { Budget, BudgetLimits, TokenUsage } from '../protocol/limits.ts'
import type { ContentBlock, ErrorObject, Outcome } from '../protocol/outcome.ts'
import type { ExportedTool } from '../protocol/providers/export-tools.ts'
import type { State } from '../protocol/state.ts'
import type { FilterInput } from '../registry/filter.ts'
import type { Registry } from '../registry/types.ts'
import type { JsonObject } from '../util/values.ts'

/** A destructive call that waits for consent. */
export type ApprovalRequest = {
  /** The name under which the model knows the tool. */
  readonly tool: string
  readonly input: unknown
  readonly question: Interaction
  readonly signal: AbortSignal
}

/** Consents to a call, or not; undefined where nobody is there to decide. */
export type Approve = (
  request: ApprovalRequest,
) => boolean | undefined | Promise<boolean | undefined>

/**
 * What an agent works with: exactly one of `registry`, `tools` and `prompt` says which tools it
 * has.
 */
export type AgentOptions = {
  /** For records; default `agent`. */
  readonly name?: string
  readonly model: Model
  readonly registry?: Registry
  /** Which tools of the registry; default: all. */
  readonly filter?: FilterInput
  /** A toolset, or tools as a toolset takes them. */
  readonly tools?: Servable | ToolTree
  /** Sections that bring instructions and tools; they are rendered anew for each turn. */
  readonly prompt?: AgentPrompt
  /** For the prompt. */
  readonly params?: { readonly [name: string]: unknown }
  /** Instructions; with a prompt, they stand before it. */
  readonly system?: string
  /** Replies of the model; default 20. */
  readonly maxTurns?: number
  /** What a run may spend, or a budget that is shared with others. */
  readonly budget?: Budget | BudgetLimits
  /**
   * What the calls share; default: one for each run where there are guards or a prompt, else none.
   */
  readonly state?: State
  readonly guards?: readonly Guard[]
  /**
   * Calls of one reply at the same time: those of read-only tools (`safe`, the default), `all`, or
   * none.
   */
  readonly parallel?: 'safe' | 'all' | false
  /**
   * Consent to destructive tools; without it `answer` is asked, and where nobody is there they fail
   * with CONFIRMATION_REQUIRED.
   */
  readonly approve?: boolean | Approve
  /** Answers the questions of tools. */
  readonly answer?: Answerer
  /** How often a model is asked again after a failure that may pass; default 3. */
  readonly retries?: number
  /**
   * Characters of one tool message; what is longer is cut in the middle, with a notice. Default
   * 50,000.
   */
  readonly outputLimit?: number
  /** How the model should write. */
  readonly settings?: ModelSettings
  /** Goes with every call of a tool: `timeout`, `cwd`, `env`, `secrets`, `caller`. */
  readonly call?: Omit<
    CallOptions,
    'signal' | 'state' | 'guards' | 'budget' | 'confirm' | 'answer' | 'idempotencyKey'
  >
  /** Told of everything; one that throws ends the run as failed. */
  readonly onEvent?: (event: AgentEvent) => void
  /** A file that gets the conversation and the events as JSON lines, as they happen. */
  readonly transcript?: string
}

/** What one run is given besides. */
export type AgentRunOptions = Pick<
  AgentOptions,
  'budget' | 'state' | 'approve' | 'answer' | 'onEvent' | 'transcript' | 'call'
> & {
  /** Cancels the run, in the middle of what the model says or a tool does. */
  readonly signal?: AbortSignal
}

/** How a run ended. */
export type AgentStatus = 'completed' | 'max_turns' | 'budget' | 'cancelled' | 'failed'

export type AgentResult = {
  readonly status: AgentStatus
  /** The last thing that the model said: the answer, where the run completed. */
  readonly text: string
  /** Replies of the model. */
  readonly turns: number
  readonly usage: Required<TokenUsage>
  /** The whole conversation; given to `run` again with another message, it goes on. */
  readonly messages: readonly AgentMessage[]
  /** Why it did not complete. */
  readonly error?: ErrorObject
}

/** Identifies a tool call of a run. */
export type ToolCallRef = { readonly turn: number; readonly id: string; readonly name: string }

/** What happens in a run, as it happens; the last one is `end`. */
export type AgentEvent =
  | { readonly type: 'turn_start'; readonly turn: number }
  | { readonly type: 'text'; readonly turn: number; readonly delta: string }
  | ({ readonly type: 'tool_call'; readonly input: unknown } & ToolCallRef)
  | ({ readonly type: 'tool_progress'; readonly event: ToolEvent } & ToolCallRef)
  | ({
      readonly type: 'approval'
      readonly prompt: string
      /** Absent while it is asked; null where nobody was there. */
      readonly approved?: boolean | null
    } & ToolCallRef)
  | ({
      readonly type: 'tool_result'
      readonly ok: boolean
      /** What the model is told. */
      readonly text: string
      readonly outcome: Outcome
    } & ToolCallRef)
  | { readonly type: 'sections_opened'; readonly turn: number; readonly keys: readonly string[] }
  | {
      readonly type: 'retry'
      readonly turn: number
      readonly attempt: number
      readonly wait_s: number
      /** Characters of text of this turn that do not count any more. */
      readonly discarded: number
      readonly error: ErrorObject
    }
  | {
      readonly type: 'usage'
      readonly turn: number
      readonly usage: TokenUsage
      readonly total: Required<TokenUsage>
      /** The model did not tell. */
      readonly estimated?: true
    }
  | { readonly type: 'end'; readonly result: AgentResult }

/** A model with tools. */
export type Agent = {
  readonly name: string
  /**
   * Works on a task, or goes on with a conversation. Never throws for what a model or a tool does.
   */
  run(task: string | readonly AgentMessage[], options?: AgentRunOptions): Promise<AgentResult>
  /** The same as events; leaving the loop cancels the run. */
  stream(
    task: string | readonly AgentMessage[],
    options?: AgentRunOptions,
  ): AsyncIterable<AgentEvent>
  /** The agent as a tool of another one: it takes a `task` and answers with the text. */
  asTool(options: {
    readonly name: string
    readonly summary: string
    readonly description?: string
  }): Tool<
    { readonly task: string },
    { readonly text: string; readonly turns: number; readonly usage: Required<TokenUsage> }
  >
}

/** A prompt that brings instructions and tools: what `sections` gives. */
export type AgentPrompt = {
  readonly name: string
  render(params: never, options: { readonly state?: State }): Promise<RenderedAgentPrompt>
  /** Remembers sections as open, so that the next `render` shows them whole. */
  open(keys: readonly string[], state: State): readonly string[]
}

/** A prompt as a model sees it in one turn. */
export type RenderedAgentPrompt = {
  readonly name: string
  readonly text: string
  readonly tools: readonly ToolEntry[]
  /**
   * Throws E_VISIBILITY_EXPANSION where sections have to be opened, and E_PROMPT_EVALUATION where
   * the run cannot go on.
   */
  evaluate(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
}

/** A call that a model asks for. */
export type ModelCall = {
  readonly id: string
  readonly name: string
  /** As the model wrote them: a text that should be JSON, or the object itself. */
  readonly arguments: unknown
  /** What the model wants to see again beside the call, in its own form. */
  readonly own?: JsonObject
}

/** One message of a conversation; plain JSON. */
export type AgentMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string; readonly content?: readonly ContentBlock[] }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly ModelCall[]
      /** What the model wants to see again, in its own form: its thoughts, for example. */
      readonly own?: JsonObject
    }
  | {
      readonly role: 'tool'
      /** Of the call that it answers. */
      readonly id: string
      readonly name: string
      readonly text: string
      readonly content?: readonly ContentBlock[]
      readonly failed?: true
    }

/** The message that answers a tool call. */
export type ToolResultMessage = Extract<AgentMessage, { role: 'tool' }>

/** How a model should write. */
export type ModelSettings = {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
}

/** What a model is asked: the conversation so far, and the tools that it may call. */
export type ModelRequest = ModelSettings & {
  readonly messages: readonly AgentMessage[]
  readonly tools: readonly ExportedTool[]
}

/** What a model says. */
export type ModelReply = {
  readonly text: string
  readonly calls: readonly ModelCall[]
  /**
   * Why it stopped: it was done, its tokens were used up, or a filter stopped it. Default `stop`.
   */
  readonly finish?: 'stop' | 'length' | 'content_filter'
  /** What it cost; estimated where the model does not tell. */
  readonly usage?: TokenUsage
  readonly own?: JsonObject
}

/**
 * Something that continues a conversation. An error that it throws is tried again where it is a
 * ToolError that is retryable; `details.retry_after_s` says when.
 */
export type Model = {
  /** For records: `openai:gpt-5`. */
  readonly name: string
  generate(
    request: ModelRequest,
    options: {
      readonly signal: AbortSignal
      /** Called with each piece of the text as it comes. */
      readonly onText?: (delta: string) => void
    },
  ): Promise<ModelReply>
}

/**
 * Makes a model for `toolable agent --model <provider>:<model>`. `baseUrl` and `apiKey` come from
 * flags; `env` has the variables that the provider reads by itself.
 */
export type ModelProvider = (options: {
  readonly model: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly baseUrl?: string
  readonly apiKey?: string
}) => Model | Promise<Model>

const secretsByModel = new WeakMap<Model, readonly string[]>()

/** Remembers what a model may not tell: its key. Not on the model itself, which people print. */
export function rememberModelSecrets<Kept extends Model>(
  model: Kept,
  secrets: readonly string[],
): Kept {
  secretsByModel.set(model, secrets)
  return model
}

/** What a model may not tell. */
export function getModelSecrets(model: Model): readonly string[] {
  return secretsByModel.get(model) ?? []
}

/**
 * A language model of the `ai` package's provider interface: what `anthropic('...')` or
 * `google('...')` of its providers gives. Specification v3 (ai@6), and v2 (ai@5).
 */
export type AiSdkLanguageModel = {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(
    options: never,
  ): PromiseLike<{
    readonly stream: {
      getReader(): {
        read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
        cancel(reason?: unknown): Promise<void>
      }
    }
  }>
}

/** The versions of the interface that are known. */
export const AI_SDK_VERSIONS = ['v2', 'v3']

/** True for a language model of a version that is known. */
export function isAiSdkLanguageModel(value: unknown): value is AiSdkLanguageModel {
  const { specificationVersion, doGenerate, doStream } = (value ??
    {}) as Partial<AiSdkLanguageModel>
  return (
    typeof doGenerate === 'function' &&
    typeof doStream === 'function' &&
    AI_SDK_VERSIONS.includes(String(specificationVersion))
  )
}
