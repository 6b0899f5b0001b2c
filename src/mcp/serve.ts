/**
 * `mcp serve`: the command that serves a toolset over MCP.
 *
 * The `mcp` folder is the server side of the protocol. A request goes from a transport
 * (`connection.ts` for stdio, `http.ts` for HTTP) to `server.ts`, which finds its method;
 * `tools.ts`, `resources.ts`, `prompts.ts` and `subscriptions.ts` implement the methods.
 * `method.ts` runs the work of a request; `call.ts` and `call-registry.ts` keep calls that outlive
 * it. `protocol.ts` has the messages.
 */

import { isEnvelopeMode } from '../cli/output.ts'
import { choosePresentation } from '../cli/presentation.ts'
import { createFaultLogger, createServerLifecycle } from '../cli/server.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import type { BuiltinContext, BuiltinFactory } from '../cli/types.ts'
import { tool } from '../core/tool.ts'
import type { ServingInput } from '../http/serve.ts'
import { createMcpServingProperties } from '../http/serving-flags.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import { compact } from '../util/values.ts'
import { serveStdio } from './connection.ts'
import { createMcpSource } from './progressive.ts'
import { createMcpServer } from './server.ts'

type McpServeInput = ServingInput & {
  readonly transport: 'stdio' | 'http'
  readonly progressive?: boolean
  readonly confirm: 'auto' | 'always'
  readonly pageSize: number
  readonly bodyLimit?: number
}

const SHUTDOWN_GRACE_MS = 5000

/** `mcp serve`: gives the exit status when the client or the operator has ended it. */
export async function serveMcp(given: unknown, context: BuiltinContext): Promise<number> {
  const { transport, progressive, confirm, pageSize, bodyLimit, ...serving } =
    given as McpServeInput
  const { set, io, host, globals } = context
  const { timeout } = globals
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  const options = compact({
    confirm,
    pageSize,
    progressive,
    call: compact({ cwd: io.cwd, env: io.env, timeout }),
  })
  if (transport === 'http')
    return (await import('./serve-http.ts')).serveMcpHttp(
      serving,
      { ...options, ...compact({ bodyLimit }) },
      context,
    )
  const { mode } = choosePresentation(globals, io, set.options.defaultOutput)
  const json = isEnvelopeMode(mode)
  host.prepareForTools(redirectStrayOutput, createServerLifecycle(io, json, SHUTDOWN_GRACE_MS))
  await serveStdio(
    createMcpServer(createMcpSource(set, options), {
      ...options,
      onFailure: createFaultLogger(io, json),
    }),
    io,
    host.signal,
  )
  await io.stderr.flush()
  return 0
}

/** `mcp serve`, which `--serve-mcp` stands for. */
export const mcpCommands: BuiltinFactory = (set) => [
  {
    path: ['mcp', 'serve'],
    tool: tool({
      name: 'mcp_serve',
      summary: 'Serve the tools over MCP',
      description:
        'With stdio the client is on stdin and stdout, and the server ends with it. With http the endpoint is /mcp; beyond loopback a token is needed. --timeout limits every call.',
      input: {
        type: 'object',
        properties: createMcpServingProperties(set.options.mcpTransport),
        additionalProperties: false,
      },
      examples: [
        { description: 'For a client that starts the program', args: ['--transport', 'stdio'] },
        {
          description: 'For clients on this machine',
          args: ['--transport', 'http', '--port', '8080'],
        },
      ],
    }),
    start: serveMcp,
  },
]
