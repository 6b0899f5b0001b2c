import { tool } from '../../call/tool.ts'
import type { BuiltinModule } from '../builtin/builtin.ts'
import { SERVING_PROPERTIES } from './serve/serving-properties.ts'

/** `serve http`: the tools as an HTTP API. */
export const httpCommands: BuiltinModule = () => [{
  path: ['serve', 'http'],
  tool: tool({
    name: 'http',
    summary: 'Serve the tools over HTTP',
    description: 'POST /tools/<name> calls a tool; GET / shows what is there, GET /openapi.json describes it, and /mcp speaks MCP. --timeout limits every call. Runs until it gets SIGINT or SIGTERM, lets running calls end, and exits 0.',
    input: {
      type: 'object',
      properties: {
        ...SERVING_PROPERTIES,
        basePath: { type: 'string', description: 'The path in front of everything: /api' },
        bodyLimit: { type: 'integer', minimum: 1, description: 'Bytes that a body may have; default 4 MiB' },
        confirm: { type: 'string', enum: ['auto', 'always', 'never'], default: 'auto', description: 'Consent to destructive tools. auto: by the header Toolable-Confirm: yes, over MCP by the host; always: over MCP only by its user; never: none is needed' },
      },
      additionalProperties: false,
    },
    examples: [
      { description: 'On this machine only', args: ['--port', '8080'] },
      { description: 'For other machines, with a token', args: ['--host', '0.0.0.0', '--token-file', 'token.txt'] },
    ],
  }),
  start: async (input, context) => (await import('./serve/serve-http.ts')).serveHttp(input, context),
}]
