import { tool } from '../../call/tool.ts'
import type { BuiltinModule } from '../builtin/builtin.ts'
import { SERVING_PROPERTIES } from '../http/serve/serving-properties.ts'

/** `mcp serve`, which `--serve-mcp` stands for. */
export const mcpCommands: BuiltinModule = (set) => [{
  path: ['mcp', 'serve'],
  tool: tool({
    name: 'mcp_serve',
    summary: 'Serve the tools over MCP',
    description: 'With stdio the client is on stdin and stdout, and the server ends with it. With http the endpoint is /mcp; beyond loopback a token is needed. --timeout limits every call.',
    input: {
      type: 'object',
      properties: {
        transport: { type: 'string', enum: ['stdio', 'http'], default: set.options.mcpTransport ?? 'stdio', description: 'How clients reach it' },
        ...SERVING_PROPERTIES,
        progressive: { type: 'boolean', description: 'List three tools for finding and running the others; default: above 30 tools' },
        confirm: { type: 'string', enum: ['auto', 'always'], default: 'auto', description: 'Consent to destructive tools. auto: the client asks its user if it can, otherwise its own approval counts; always: only its user' },
        pageSize: { type: 'integer', minimum: 1, default: 500, description: 'Items on one page of a list' },
        bodyLimit: { type: 'integer', minimum: 1, description: 'Bytes that a message over HTTP may have; default 16 MiB' },
      },
      additionalProperties: false,
    },
    examples: [
      { description: 'For a client that starts the program', args: ['--transport', 'stdio'] },
      { description: 'For clients on this machine', args: ['--transport', 'http', '--port', '8080'] },
    ],
  }),
  start: async (input, context) => (await import('./serve.ts')).serveMcp(input, context),
}]
