import { tool } from '../../call/tool.ts'
import type { Builtin, BuiltinContext, BuiltinModule } from '../builtin/builtin.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import { sourceOf } from './progressive/source-of.ts'
import { createServer } from './server.ts'

type ServeInput = {
  readonly transport?: 'stdio' | 'http'
  readonly host: string
  readonly port: number
  readonly token_file?: string
  readonly allowed_host?: readonly string[]
  readonly allowed_origin?: readonly string[]
  readonly progressive?: boolean
  readonly confirm: 'auto' | 'always'
  readonly page_size: number
}

/** `mcp serve`, which `--serve-mcp` stands for. */
export const mcpCommands: BuiltinModule = (set): readonly Builtin[] => [
  {
    path: ['mcp', 'serve'],
    tool: tool({
      name: 'mcp_serve',
      summary: 'Serve the tools over MCP',
      description: 'With stdio the client is on stdin and stdout, and the server ends with it. With http the endpoint is /mcp; beyond loopback a token is needed.',
      input: {
        type: 'object',
        properties: {
          transport: { type: 'string', enum: ['stdio', 'http'], default: set.options.mcpTransport ?? 'stdio', description: 'How clients reach it' },
          host: { type: 'string', default: '127.0.0.1', description: 'Address to bind, with http' },
          port: { type: 'integer', minimum: 0, maximum: 65535, default: 8080, description: 'Port, with http; 0 takes a free one' },
          token_file: { type: 'string', description: 'File with the bearer token that clients must send' },
          allowed_host: { type: 'array', items: { type: 'string' }, description: 'Names besides loopback that the Host header may have' },
          allowed_origin: { type: 'array', items: { type: 'string' }, description: 'Origins of web pages that may ask' },
          progressive: { type: 'boolean', description: 'List three tools for finding and running the others; default: above 30 tools' },
          confirm: { type: 'string', enum: ['auto', 'always'], default: 'auto', description: 'always: a destructive tool runs only after the user said yes over MCP' },
          page_size: { type: 'integer', minimum: 1, default: 500, description: 'Items on one page of a list' },
        },
        additionalProperties: false,
      },
      examples: [{ description: 'For a client that starts the program', args: ['--transport', 'stdio'] }, { description: 'For clients on this machine', args: ['--transport', 'http', '--port', '8080'] }],
    }),
    start: (input, context) => serve(input as ServeInput, context),
  },
]

async function serve(input: ServeInput, context: BuiltinContext): Promise<number> {
  const { set, io, host } = context
  host.prepareForTools(redirectStrayOutput)
  const options = { confirm: input.confirm, pageSize: input.page_size, ...(input.progressive !== undefined && { progressive: input.progressive }) }
  if (input.transport === 'http') return (await import('./serve-http.ts')).serveMcpHttp(input, options, context)
  const { serveStdio } = await import('./stdio.ts')
  await serveStdio(createServer(sourceOf(set, options), options), io, host.signal)
  return 0
}
