import type { Servable } from '../../call/servable.ts'
import type { CallDefaults } from './call-options.ts'
import type { HttpApp } from './exchange.ts'

export type LazyMcpOptions = {
  readonly confirm?: 'auto' | 'always'
  readonly bodyLimit?: number
  readonly signal?: AbortSignal
  readonly call?: Omit<CallDefaults, 'confirm'>
}

/** The MCP endpoint of a toolset, loaded when somebody first asks for it. */
export function lazyMcp(set: Servable, options: LazyMcpOptions = {}): HttpApp {
  let app: Promise<HttpApp> | undefined
  const load = async (): Promise<HttpApp> =>
    (await import('../mcp/http.ts')).createMcpHttp(set, options)
  return async (request) => (await (app ??= load()))(request)
}
