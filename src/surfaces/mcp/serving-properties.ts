import { SERVING_PROPERTIES } from '../http/serve/serving-properties.ts'

/** The flags of a server that speaks MCP. */
export function servingProperties(transport: 'stdio' | 'http' = 'stdio') {
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
