import type { JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { ConfigShape } from './config-shape.ts'

/**
 * The JSON Schema of a shape, for editors: what the reader of a configuration accepts, from the
 * same description.
 */
export function toConfigSchema(shape: ConfigShape): JsonSchema {
  return { ...SCHEMA_WRITERS[shape.is](shape as never), ...shape.schema }
}

type ConfigSchemaWriter<Kind extends ConfigShape['is']> = (
  shape: Extract<ConfigShape, { readonly is: Kind }>,
) => JsonSchema

const SCHEMA_WRITERS: { readonly [Kind in ConfigShape['is']]: ConfigSchemaWriter<Kind> } = {
  anything: () => ({}),
  text: () => ({ type: 'string', minLength: 1 }),
  switch: () => ({ type: 'boolean' }),
  count: () => ({ type: 'integer', minimum: 1 }),
  list: ({ of }) => ({ type: 'array', items: toConfigSchema(of) }),
  map: ({ of }) => ({ type: 'object', additionalProperties: toConfigSchema(of) }),
  either: ({ short, long }) => ({ anyOf: [toConfigSchema(short), toConfigSchema(long)] }),
  object: ({ keys, required, open }) =>
    compact({
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(keys).map(([key, of]) => [key, toConfigSchema(of)]),
      ),
      required,
      additionalProperties: !open ? false : undefined,
    }),
}
