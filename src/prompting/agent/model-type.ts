import type { TokenUsage } from '../../contract/budget.ts'
import type { ContentBlock } from '../../contract/content.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ExportedTool } from '../../contract/providers/forms.ts'

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
      /** What the model wants to see again, in its own form: its thoughts, for example. */ readonly own?: JsonObject
    }
  | {
      readonly role: 'tool'
      /** Of the call that it answers. */ readonly id: string
      readonly name: string
      readonly text: string
      readonly content?: readonly ContentBlock[]
      readonly failed?: true
    }

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
  /** Why it stopped: it was done, its tokens were used up, or a filter stopped it. Default `stop`. */
  readonly finish?: 'stop' | 'length' | 'content_filter'
  /** What it cost; estimated where the model does not tell. */
  readonly usage?: TokenUsage
  readonly own?: JsonObject
}

/** Something that continues a conversation. An error that it throws is tried again where it is a ToolError that is retryable; `details.retry_after_s` says when. */
export type Model = {
  /** For records: `openai:gpt-5`. */
  readonly name: string
  generate(
    request: ModelRequest,
    options: {
      readonly signal: AbortSignal
      /** Called with each piece of the text as it comes. */ readonly onText?: (
        delta: string,
      ) => void
    },
  ): Promise<ModelReply>
}
