import type { Budget, BudgetLimits, TokenUsage } from '../../contract/budget.ts'
import type { ToolEvent } from '../../contract/events.ts'
import type { Guard } from '../../contract/guard.ts'
import type { Answerer, Interaction } from '../../contract/interaction.ts'
import type { ErrorObject, Outcome } from '../../contract/outcome.ts'
import type { State } from '../../contract/state.ts'
import type { ToolTree } from '../../call/collect.ts'
import type { CallOptions } from '../../call/options.ts'
import type { Servable } from '../../call/servable.ts'
import type { Tool } from '../../call/tool.ts'
import type { FilterInput } from '../../registry/filter.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { AgentMessage, Model, ModelSettings } from './model-type.ts'
import type { AgentPrompt } from './prompt-type.ts'

/** A destructive call that waits for consent. */
export type ApprovalRequest = {
  /** The name under which the model knows the tool. */ readonly tool: string
  readonly input: unknown
  readonly question: Interaction
  readonly signal: AbortSignal
}

/** Consents to a call, or not; undefined where nobody is there to decide. */
export type Approve = (
  request: ApprovalRequest,
) => boolean | undefined | Promise<boolean | undefined>

/** What an agent works with: exactly one of `registry`, `tools` and `prompt` says which tools it has. */
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
  /** What the calls share; default: one for each run where there are guards or a prompt, else none. */
  readonly state?: State
  readonly guards?: readonly Guard[]
  /** Calls of one reply at the same time: those of read-only tools (`safe`, the default), `all`, or none. */
  readonly parallel?: 'safe' | 'all' | false
  /** Consent to destructive tools; without it `answer` is asked, and where nobody is there they fail with CONFIRMATION_REQUIRED. */
  readonly approve?: boolean | Approve
  /** Answers the questions of tools. */
  readonly answer?: Answerer
  /** How often a model is asked again after a failure that may pass; default 3. */
  readonly retries?: number
  /** Characters of one tool message; what is longer is cut in the middle, with a notice. Default 50,000. */
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
  /** Cancels the run, in the middle of what the model says or a tool does. */ readonly signal?: AbortSignal
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

type OfCall = { readonly turn: number; readonly id: string; readonly name: string }

/** What happens in a run, as it happens; the last one is `end`. */
export type AgentEvent =
  | { readonly type: 'turn_start'; readonly turn: number }
  | { readonly type: 'text'; readonly turn: number; readonly delta: string }
  | ({ readonly type: 'tool_call'; readonly input: unknown } & OfCall)
  | ({ readonly type: 'tool_progress'; readonly event: ToolEvent } & OfCall)
  | ({
      readonly type: 'approval'
      readonly prompt: string
      /** Absent while it is asked; null where nobody was there. */ readonly approved?:
        boolean | null
    } & OfCall)
  | ({
      readonly type: 'tool_result'
      readonly ok: boolean
      /** What the model is told. */ readonly text: string
      readonly outcome: Outcome
    } & OfCall)
  | { readonly type: 'sections_opened'; readonly turn: number; readonly keys: readonly string[] }
  | {
      readonly type: 'retry'
      readonly turn: number
      readonly attempt: number
      readonly wait_s: number
      /** Characters of text of this turn that do not count any more. */ readonly discarded: number
      readonly error: ErrorObject
    }
  | {
      readonly type: 'usage'
      readonly turn: number
      readonly usage: TokenUsage
      readonly total: Required<TokenUsage>
      /** The model did not tell. */ readonly estimated?: true
    }
  | { readonly type: 'end'; readonly result: AgentResult }

/** A model with tools. */
export type Agent = {
  readonly name: string
  /** Works on a task, or goes on with a conversation. Never throws for what a model or a tool does. */
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
