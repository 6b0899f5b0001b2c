import type { Outcome } from '../../contract/outcome.ts'
import type { State } from '../../contract/state.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { CallOptions } from '../../call/options.ts'

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
  /** Throws E_VISIBILITY_EXPANSION where sections have to be opened, and E_PROMPT_EVALUATION where the run cannot go on. */
  evaluate(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
}
