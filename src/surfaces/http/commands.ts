import { tool } from '../../call/tool.ts'
import type { BuiltinModule } from '../builtin/builtin.ts'

const text = (description: string) => ({ type: 'string', description }) as const
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const

// Where to listen and who may ask.
const SERVING_PROPERTIES = {
  host: { type: 'string', default: '127.0.0.1', description: 'The address to bind; beyond loopback a token is needed' },
  port: { type: 'integer', minimum: 0, maximum: 65_535, default: 8080, description: 'The port; 0 takes a free one' },
  tokenFile: text('A file with the bearer token that requests have to carry; only you may be able to read it'),
  allowedHost: texts('A name that the Host header may carry besides loopback'),
  allowedOrigin: texts('The origin of pages that may call besides loopback: https://app.example.com'),
} as const

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
        basePath: text('The path in front of everything: /api'),
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
  start: async (input, context) => (await import('./serve-http.ts')).serveHttp(input, context),
}]
