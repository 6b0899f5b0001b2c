import type { JsonSchema } from '../../contract/json.ts'

/** The fields that the commands share. */
export const FIELDS = {
  scope: {
    type: 'string',
    enum: ['project', 'user'],
    default: 'project',
    description: 'For this folder, or for everything that you do',
  },
  bothScopes: {
    type: 'string',
    enum: ['project', 'user'],
    description: 'Only for this folder, or only for everything that you do',
  },
  agents: (names: readonly string[]): JsonSchema => ({
    type: 'array',
    items: { type: 'string', enum: names },
    minItems: 1,
    description: 'Only this agent, found or not; may be repeated',
  }),
  name: (program: string): JsonSchema => ({
    type: 'string',
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description: `The name of the server; default: ${program}`,
  }),
} as const

/** An object schema that knows only these fields. */
export function objectOf(properties: { readonly [field: string]: JsonSchema }): JsonSchema {
  return { type: 'object', properties, additionalProperties: false }
}
