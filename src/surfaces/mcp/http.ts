import { onAbort } from '../../call/on-abort.ts'
import type { CallOptions } from '../../call/options.ts'
import type { HttpApp } from '../http/exchange.ts'
import type { Servable } from '../../call/servable.ts'
import { mcpEndpoint } from './http/app.ts'
import { sourceOf } from './progressive/source-of.ts'
import type { ServeOptions } from './progressive/source-of.ts'
import { createServer } from './server.ts'

export type McpHttpOptions = ServeOptions & {
  readonly confirm?: 'auto' | 'always'
  readonly pageSize?: number
  readonly bodyLimit?: number
  /** What the server decides about every call. */
  readonly call?: Pick<CallOptions, 'cwd' | 'env' | 'timeout' | 'caller'>
  /** Ends subscriptions and what no request waits for; whoever gave it closes the connections. */
  readonly signal?: AbortSignal
}

/** The MCP endpoint of a toolset, for a router that has guarded it. */
export function createMcpHttp(
  set: Servable,
  { bodyLimit, signal, ...options }: McpHttpOptions = {},
): HttpApp {
  const server = createServer(sourceOf(set, options), options)
  if (signal?.aborted) server.stop()
  else if (signal) onAbort(signal, () => server.stop())
  return mcpEndpoint(server, bodyLimit === undefined ? {} : { bodyLimit })
}
