const text = (description: string) => ({ type: 'string', description }) as const
const texts = (description: string) =>
  ({ type: 'array', items: { type: 'string' }, description }) as const

/** The flags of every server: where to listen and who may ask. */
export const SERVING_PROPERTIES = {
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
  tokenFile: text(
    'A file with the bearer token that requests have to carry; only you may be able to read it',
  ),
  allowedHost: texts('A name that the Host header may carry besides loopback'),
  allowedOrigin: texts(
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
