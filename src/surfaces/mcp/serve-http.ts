import { ToolError } from '../../contract/tool-error.ts'
import type { BuiltinContext } from '../builtin/builtin.ts'
import { watched } from '../cli/serving.ts'
import type { HttpApp } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'
import { serveApp } from '../http/serve/serve.ts'
import { servingOptions } from '../http/serve/serving-input.ts'
import type { ServingInput } from '../http/serve/serving-input.ts'
import { createMcpHttp } from './http.ts'
import type { McpHttpOptions } from './http.ts'

const PATH = '/mcp'

/** Serves MCP over HTTP until the operator stops it; gives the exit status. */
export function serveMcpHttp(
  input: ServingInput,
  options: McpHttpOptions,
  context: BuiltinContext,
): Promise<number> {
  const { set, io, host } = context
  const serving = servingOptions(input, context)
  const app = createMcpHttp(watched(set, io, serving.json), { ...options, signal: host.signal })
  return serveApp(at(PATH, app), { ...serving, path: PATH })
}

function at(path: string, app: HttpApp): HttpApp {
  return async (request) =>
    request.path === path
      ? app(request)
      : refuse(
          new ToolError('NOT_FOUND', `nothing is served at ${request.path.slice(0, 100)}`, {
            suggestion: `The endpoint is ${path}`,
          }),
        )
}
