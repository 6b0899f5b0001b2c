import type { JsonSchema } from '../contract/json.ts'

/** The flags of every command that works with a registry: which tools there are. */
export const COMMON_PROPERTIES = {
  config: {
    type: 'string',
    description:
      'The configuration file; default: the nearest toolable.yaml or toolable.json upwards',
  },
  folder: {
    type: 'array',
    items: { type: 'string' },
    description: 'A folder with tools, besides those of the configuration',
  },
  strict: { type: 'boolean', description: 'Two tools of one name and tier are an error' },
  probeUnsandboxed: {
    type: 'boolean',
    description: 'Ask scripts what they are even where no sandbox can hold them',
  },
  cache: { type: 'boolean', default: true, description: 'Remember what scripts answered' },
} as const satisfies { readonly [name: string]: JsonSchema }

/** The input of a command with the common flags behind its own. */
export function inputWith<const Own extends { readonly [name: string]: JsonSchema }>(
  properties: Own,
  required: readonly (keyof Own & string)[] = [],
) {
  return {
    type: 'object',
    properties: { ...properties, ...COMMON_PROPERTIES },
    required,
    additionalProperties: false,
  } as const
}
