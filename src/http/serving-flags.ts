/**
 * The flags of servers as input properties: `serve http` and `mcp serve`. Small on purpose:
 * `toolable` loads it at every start.
 */

const textProperty = (description: string) => ({ type: 'string', description }) as const
const textListProperty = (description: string) =>
  ({ type: 'array', items: { type: 'string' }, description }) as const

/** The flags of every server: where to listen and who may ask. */
const SERVING_PROPERTIES = {
  host: {
    type: 'string',
    default: '127.0.0.1',
    description: 'The address to bind; beyond loopback a token is needed',
  },
  port: {
    type: 'integer',
    minimum: 0,
    maximum: 65_535,
    default: 8080,
    description: 'The port; 0 takes a free one',
  },
  tokenFile: textProperty(
    'A file with the bearer token that requests have to carry; only you may be able to read it',
  ),
  allowedHost: textListProperty('A name that the Host header may carry besides loopback'),
  allowedOrigin: textListProperty(
    'The origin of pages that may call besides loopback: https://app.example.com',
  ),
} as const

/** The flags of a server of the HTTP API. */
export const HTTP_PROPERTIES = {
  ...SERVING_PROPERTIES,
  basePath: { type: 'string', description: 'The path in front of everything: /api' },
  bodyLimit: {
    type: 'integer',
    minimum: 1,
    description: 'Bytes that a body may have; default 4 MiB',
  },
  confirm: {
    type: 'string',
    enum: ['auto', 'always', 'never'],
    default: 'auto',
    description:
      'Consent to destructive tools. auto: by the header Toolable-Confirm: yes, over MCP by the host; always: over MCP only by its user; never: none is needed',
  },
} as const

/** The flags of a server that speaks MCP. */
export function createMcpServingProperties(transport: 'stdio' | 'http' = 'stdio') {
  return {
    transport: {
      type: 'string',
      enum: ['stdio', 'http'],
      default: transport,
      description: 'How clients reach it',
    },
    ...SERVING_PROPERTIES,
    progressive: {
      type: 'boolean',
      description: 'List three tools for finding and running the others; default: above 30 tools',
    },
    confirm: {
      type: 'string',
      enum: ['auto', 'always'],
      default: 'auto',
      description:
        'Consent to destructive tools. auto: the client asks its user if it can, otherwise its own approval counts; always: only its user',
    },
    pageSize: {
      type: 'integer',
      minimum: 1,
      default: 500,
      description: 'Items on one page of a list',
    },
    bodyLimit: {
      type: 'integer',
      minimum: 1,
      description: 'Bytes that a message over HTTP may have; default 16 MiB',
    },
  } as const
}
