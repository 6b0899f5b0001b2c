import { tool } from '../../call/tool.ts'
import type { BuiltinModule } from '../builtin/builtin.ts'
import { serveMcp } from './serve.ts'
import { servingProperties } from './serving-properties.ts'

/** `mcp serve`, which `--serve-mcp` stands for. */
export const mcpCommands: BuiltinModule = (set) => [
  {
    path: ['mcp', 'serve'],
    tool: tool({
      name: 'mcp_serve',
      summary: 'Serve the tools over MCP',
      description:
        'With stdio the client is on stdin and stdout, and the server ends with it. With http the endpoint is /mcp; beyond loopback a token is needed. --timeout limits every call.',
      input: {
        type: 'object',
        properties: servingProperties(set.options.mcpTransport),
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
