import type { PromptView } from '../../contract/context.ts'
import type { Guard } from '../../contract/guard.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type {
  AnthropicTool,
  ExportOptions,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from '../../contract/providers/forms.ts'
import type { ToolMessage } from '../../contract/providers/render-message.ts'
import type { State } from '../../contract/state.ts'
import type { ToolError } from '../../contract/tool-error.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { CallOptions } from '../../call/options.ts'
import type { Section } from './section-type.ts'

/** Everything an author may say about a prompt of sections. */
export type SectionsOptions<
  Schema extends LazySchema | undefined = LazySchema | undefined,
  Parts extends readonly Section[] = readonly Section[],
> = {
  readonly name: string
  readonly sections: Parts
  /** Params that every section may use. */
  readonly params?: Schema
  /** Look at every call of a tool of the prompt, before those of the sections. */
  readonly guards?: readonly Guard[]
}

/** How a prompt is rendered. */
export type RenderOptions = {
  /** Remembers which sections are open, and is the state of the calls unless they bring one. */
  readonly state?: State
  /** Sections that are shown whole this time, besides those that the state has as open. */
  readonly open?: readonly string[]
}

type RenderArguments<Given> = unknown extends Given
  ? [params?: Readonly<Record<string, unknown>>, options?: RenderOptions]
  : {} extends Given
    ? [params?: Given, options?: RenderOptions]
    : [params: Given, options?: RenderOptions]

/** A prompt made of sections: text and tools that belong together. */
export type SectionedPrompt<Given = unknown> = {
  readonly name: string
  /** Compiles all that is compiled late (params, tools) and checks the examples of the tools; throws CONFIG with the place. */
  validate(): Promise<void>
  /** Text and tools for these params; the same params and state give the same. Throws INVALID_INPUT or MISSING_PARAM, naming the section, and NOT_FOUND for unknown keys in `open`. */
  render(...given: RenderArguments<Given>): Promise<RenderedPrompt>
  /** Remembers sections as open, so that the next `render` shows them whole; gives the keys that were not open before. Takes keys, or the E_VISIBILITY_EXPANSION that names them. Throws NOT_FOUND for unknown keys. */
  open(wanted: readonly string[] | ToolError, state: State): readonly string[]
  /** Forgets that sections were opened: all, or those of the keys. */
  close(state: State, keys?: readonly string[]): void
}

/** A tool of a rendered prompt. */
export type RenderedTool = ToolEntry & {
  /** The key of its section; absent for the tools of the prompt itself (`open_sections`, `read_section`, `read_skill_file`). */
  readonly section?: string
  /** Those of the prompt, of the sections around it and of its own section. */
  readonly guards: readonly Guard[]
}

type OpenAiOptions = Pick<ExportOptions, 'strict' | 'onNote'>

/** A prompt as a model gets it. */
export type RenderedPrompt = Omit<PromptView, 'tools'> & {
  /** Of the enabled and open sections, depth first; `open_sections` is the last where something can be opened. */
  readonly tools: readonly RenderedTool[]
  /** The sections of which only the summary is shown. */
  readonly summarised: readonly string[]
  /** The tool of a name; '-' and '_' are equal. */
  find(name: string): RenderedTool | undefined
  /** Calls a tool of the prompt under the guards of its sections; never throws. */
  call(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
  /** As `call`, but throws E_VISIBILITY_EXPANSION (`details.keys`: open these and render again) and E_PROMPT_EVALUATION (also where the time that it was given is over; that of a tool is a failed outcome). */
  evaluate(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
  toOpenAI(options?: OpenAiOptions & { readonly api?: 'chat' }): Promise<OpenAiTool[]>
  toOpenAI(options: OpenAiOptions & { readonly api: 'responses' }): Promise<OpenAiResponsesTool[]>
  toAnthropic(): Promise<AnthropicTool[]>
  toGemini(options?: Pick<ExportOptions, 'schema'>): Promise<GeminiTool>
  toMcp(): Promise<McpTool[]>
  /** Runs what a model asked for, in the form of any provider, and gives the message that answers it; several calls give several messages. With a state, sections that the model wants are opened in it, for the next `render`. Never throws. */
  handleToolCall(
    call: unknown,
    options?: CallOptions,
  ): Promise<ToolMessage | readonly ToolMessage[]>
}
