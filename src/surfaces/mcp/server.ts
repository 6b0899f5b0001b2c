import { ToolError } from '../../contract/tool-error.ts'
import type { ToolsetChange } from '../toolset-type.ts'
import { LiveCalls } from './calls/live-calls.ts'
import type { Task } from './calls/task.ts'
import { listTools } from './catalogue/tools.ts'
import type { ToolCatalogue } from './catalogue/tools.ts'
import type { Exchange } from './exchange.ts'
import { findMethod } from './methods/table.ts'
import type { McpSource } from './source.ts'
import { errorMessage, resultMessage, RPC, RpcError } from './wire/messages.ts'
import type { Id, Params, RpcErrorObject } from './wire/messages.ts'
import { META } from './wire/versions.ts'

export type McpServerOptions = {
  /** `always`: a destructive call needs an answer of the user, and fails with clients that cannot ask. Default `auto`: there the host's own approval counts. */
  readonly confirm?: 'auto' | 'always'
  /** Items on one page of a list; default 500. */
  readonly pageSize?: number
  /** Text for the model that clients may show it. */
  readonly instructions?: string
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
  readonly artifacts: Map<string, number>
  onChange(listener: (change: ServerChange) => void): () => void
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
  /** Answers a request; never rejects. */
  answer(method: string, params: Params, exchange: Exchange): Promise<Answered>
  /** Ends all calls and subscriptions. */
  close(): void
}

/** An answer, written; the code of its error decides the status of HTTP. */
export type Answered = { readonly text: string; readonly error?: number }

/** Makes a server. */
export function createServer(source: McpSource, options: McpServerOptions = {}): McpServer {
  const listeners = new Set<(change: ServerChange) => void>()
  const tell = (change: ServerChange): void => {
    for (const listener of [...listeners]) listener(change)
  }
  const stopping = new AbortController()
  const serverInfo = { [META.server]: { name: source.name, version: source.version } }
  const stopListening = source.onChange(tell)
  const server: McpServer = {
    source,
    options: { confirm: 'auto', pageSize: 500, ...options },
    calls: new LiveCalls(options.now ?? Date.now, (task) => tell({ kind: 'task', task })),
    catalogue: listTools(source),
    artifacts: new Map(),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stopping: stopping.signal,
    async answer(method, params, exchange) {
      const { id, caller } = exchange
      try {
        const result = await findMethod(method, caller.era)(server, params, exchange)
        return { text: resultMessage(id, caller.era === 'legacy' ? result : stamp(result, serverInfo)) }
      } catch (error) {
        return refuse(id, toRpcError(error))
      }
    },
    close() {
      stopListening()
      stopping.abort()
      server.calls.close()
    },
  }
  return server
}

/** The refusal of a request. */
export function refuse(id: Id | undefined, error: RpcErrorObject): Answered {
  return { text: errorMessage(id, error), error: error.code }
}

// Modern results say what they are and who made them.
function stamp(result: object, serverInfo: object): object {
  const { _meta: meta, ...rest } = result as { readonly _meta?: object }
  return { resultType: 'complete', ...rest, _meta: { ...serverInfo, ...meta } }
}

function toRpcError(error: unknown): RpcErrorObject {
  if (error instanceof RpcError) return error.toObject()
  if (ToolError.is(error)) return { code: RPC.internal, message: error.message, data: error.toObject() }
  return { code: RPC.internal, message: `the server failed: ${error instanceof Error ? error.message : String(error)}` }
}
