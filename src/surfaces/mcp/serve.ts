import { toMilliseconds } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { BuiltinContext } from '../builtin/builtin.ts'
import { servingProcess } from '../cli/serving.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import type { HttpApp } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'
import { serveApp } from '../http/serve.ts'
import { servingOptions } from '../http/serving-input.ts'
import type { ServingInput } from '../http/serving-input.ts'
import { createMcpHttp } from './http.ts'
import { sourceOf } from './progressive/source-of.ts'
import { createServer } from './server.ts'
import { serveStdio } from './stdio.ts'

type Input = ServingInput & { readonly transport: 'stdio' | 'http'; readonly progressive?: boolean; readonly confirm: 'auto' | 'always'; readonly pageSize: number; readonly bodyLimit?: number }

const GRACE_MS = 5000
const PATH = '/mcp'

/** `mcp serve`: gives the exit status when the client or the operator has ended it. */
export async function serveMcp(given: unknown, context: BuiltinContext): Promise<number> {
  const { transport, progressive, confirm, pageSize, bodyLimit, ...serving } = given as Input
  const { set, io, host, globals: { timeout } } = context
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  const options = {
    confirm,
    pageSize,
    ...(progressive !== undefined && { progressive }),
    call: { cwd: io.cwd, env: io.env, ...(timeout !== undefined && { timeout }) },
  }
  const http = servingOptions(serving, context)
  if (transport === 'http') return serveApp(at(PATH, createMcpHttp(set, { ...options, signal: host.signal, ...(bodyLimit !== undefined && { bodyLimit }) })), { ...http, path: PATH })
  host.prepareForTools(redirectStrayOutput, servingProcess(io, http.json, GRACE_MS))
  await serveStdio(createServer(sourceOf(set, options), options), io, host.signal)
  await io.stderr.flush()
  return 0
}

function at(path: string, app: HttpApp): HttpApp {
  return async (request) => (request.path === path ? app(request) : refuse(new ToolError('NOT_FOUND', `nothing is served at ${request.path.slice(0, 100)}`, { suggestion: `The endpoint is ${path}` })))
}
