import type { JsonSchema } from '../json.ts'
import type { Shape } from './shape.ts'

/** The JSON Schema of a shape, for editors: what the reader of a configuration accepts, from the same description. */
export function schemaOfShape(shape: Shape): JsonSchema {
  return { ...WRITERS[shape.is](shape as never), ...shape.schema }
}

type Writer<Kind extends Shape['is']> = (shape: Extract<Shape, { readonly is: Kind }>) => JsonSchema

const WRITERS: { readonly [Kind in Shape['is']]: Writer<Kind> } = {
  anything: () => ({}),
  text: () => ({ type: 'string', minLength: 1 }),
  switch: () => ({ type: 'boolean' }),
  count: () => ({ type: 'integer', minimum: 1 }),
  list: ({ of }) => ({ type: 'array', items: schemaOfShape(of) }),
  map: ({ of }) => ({ type: 'object', additionalProperties: schemaOfShape(of) }),
  either: ({ short, long }) => ({ anyOf: [schemaOfShape(short), schemaOfShape(long)] }),
  object: ({ keys, required, open }) => ({
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(keys).map(([key, of]) => [key, schemaOfShape(of)]),
    ),
    ...(required && { required }),
    ...(!open && { additionalProperties: false }),
  }),
}
