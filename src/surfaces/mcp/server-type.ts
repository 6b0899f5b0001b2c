import type { CallOptions } from '../../call/options.ts'
import type { ToolsetChange } from '../../call/servable.ts'
import type { LiveCalls } from './calls/live-calls.ts'
import type { Task } from './calls/task.ts'
import type { ToolCatalogue } from './catalogue/tools.ts'
import type { Exchange } from './exchange.ts'
import type { Artifacts } from './results/kept-artifacts.ts'
import type { McpSource } from './source.ts'
import type { Answered } from './wire/answered.ts'
import type { Params } from './wire/messages.ts'

export type McpServerOptions = {
  /** `always`: a destructive call needs an answer of the user, and fails with clients that cannot ask. Default `auto`: there the host's own approval counts. */
  readonly confirm?: 'auto' | 'always'
  /** Items on one page of a list; default 500. */
  readonly pageSize?: number
  /** Text for the model that clients may show it. */
  readonly instructions?: string
  /** How every call is made: working folder, environment, time limit. */
  readonly call?: Pick<CallOptions, 'cwd' | 'env' | 'timeout' | 'caller'>
  readonly now?: () => number
}

/** Something that long-lived subscriptions want to hear of. */
export type ServerChange = ToolsetChange | { readonly kind: 'task'; readonly task: Task }

/** One server over one source; transports bring it requests. */
export type McpServer = {
  readonly source: McpSource
  readonly options: Required<Pick<McpServerOptions, 'confirm' | 'pageSize'>> & McpServerOptions
  readonly calls: LiveCalls
  readonly catalogue: ToolCatalogue
  /** Files that tools left behind, readable by their address. */
  readonly artifacts: Artifacts
  onChange(listener: (change: ServerChange) => void): () => void
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
  /** Answers a request; never rejects. */
  answer(method: string, params: Params, exchange: Exchange): Promise<Answered>
  /** Ends subscriptions, and calls that no request waits for; the others go on to their end. */
  stop(): void
  /** Ends everything. */
  close(): void
}
