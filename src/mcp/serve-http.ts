import { createFaultLogger } from '../cli/server.ts'
import type { BuiltinContext } from '../cli/types.ts'
import type { HttpApp } from '../http/exchange.ts'
import { toRefusalResponse } from '../http/exchange.ts'
import type { ServingInput } from '../http/serve.ts'
import { createServeOptions, serveHttpApp } from '../http/serve.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { McpHttpOptions } from './http.ts'
import { createMcpHttpApp } from './http.ts'

const MCP_PATH = '/mcp'

/** Serves MCP over HTTP until the operator stops it; gives the exit status. */
export function serveMcpHttp(
  input: ServingInput,
  options: McpHttpOptions,
  context: BuiltinContext,
): Promise<number> {
  const { set, io, host } = context
  const serving = createServeOptions(input, context)
  const app = createMcpHttpApp(set, {
    ...options,
    signal: host.signal,
    onFailure: createFaultLogger(io, serving.json),
  })
  return serveHttpApp(mountAt(MCP_PATH, app), { ...serving, path: MCP_PATH })
}

function mountAt(path: string, app: HttpApp): HttpApp {
  return async (request) =>
    request.path === path
      ? app(request)
      : toRefusalResponse(
          new ToolError('NOT_FOUND', `nothing is served at ${request.path.slice(0, 100)}`, {
            suggestion: `The endpoint is ${path}`,
          }),
        )
}
