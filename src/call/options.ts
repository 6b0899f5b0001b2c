import type { Budget } from '../contract/budget.ts'
import type { PromptView } from '../contract/context.ts'
import type { Duration } from '../contract/duration.ts'
import type { Invocation, ToolEvent, ToolInvokedEvent } from '../contract/events.ts'
import type { Guard } from '../contract/guard.ts'
import type { Answerer, Interaction, RootsProvider, Sampler } from '../contract/interaction.ts'
import type { Stopping } from './cancellation.ts'
import type { State } from '../contract/state.ts'

/** How a server makes a call: it may cancel without the cost of an AbortSignal. */
export type ServedCallOptions = CallOptions & {
  readonly cancellation?: Stopping
  /** Its events are heard, its record is not: no `tool_invoked`. */ readonly unrecorded?: true
}

/** How a call is made; the same options on every surface. */
export type CallOptions = {
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** Longest time the call may take; the shortest of all limits wins. */
  readonly timeout?: Duration
  /** Plan instead of act. */
  readonly dryRun?: boolean
  /** Consent to a destructive tool; a function is asked, and gives undefined when nobody is there to decide. Default true: a direct call is consent. */
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
  /** Receives the tool's events while it runs, then one `tool_invoked`. A promise holds a generator tool back. With a state, throwing at a success takes everything back, and the failure is told as well; so does taking longer than a minute. */
  readonly onEvent?: (event: ToolEvent | ToolInvokedEvent) => void | Promise<void>
  readonly caller?: string
  /** Repeats with the same key and input get the first answer for 24 hours; another input is a CONFLICT. */
  readonly idempotencyKey?: string
  /** What relative paths mean; default: the directory of the process. */
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string | undefined }
  readonly secrets?: { readonly [name: string]: string }
  readonly verbose?: number
}
