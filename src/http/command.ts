import type { BuiltinFactory } from '../cli/types.ts'
import { tool } from '../core/tool.ts'
import { HTTP_PROPERTIES } from './serving-flags.ts'

/** `serve http`: the tools as an HTTP API. */
export const httpCommands: BuiltinFactory = () => [
  {
    path: ['serve', 'http'],
    tool: tool({
      name: 'http',
      summary: 'Serve the tools over HTTP',
      description:
        'POST /tools/<name> calls a tool; GET / shows what is there, GET /openapi.json describes it, and /mcp speaks MCP. --timeout limits every call. Runs until it gets SIGINT or SIGTERM, lets running calls end, and exits 0.',
      input: { type: 'object', properties: HTTP_PROPERTIES, additionalProperties: false },
      examples: [
        { description: 'On this machine only', args: ['--port', '8080'] },
        {
          description: 'For other machines, with a token',
          args: ['--host', '0.0.0.0', '--token-file', 'token.txt'],
        },
      ],
    }),
    start: async (input, context) => (await import('./serve-http.ts')).serveHttp(input, context),
  },
]
