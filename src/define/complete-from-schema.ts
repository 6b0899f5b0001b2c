import type { JsonSchema } from '../contract/json.ts'
import { inputFields } from './flags/input-fields.ts'
import { alternatives } from './flags/unwrap-schema.ts'
import { inlineRefs } from './schema/inline-refs.ts'

/** The values that the schema of a field itself names and that begin like what was typed, whatever the case. */
export function completeField(schema: JsonSchema, field: string, value: string): readonly string[] {
  const property = inputFields(inlineRefs(schema)).properties.get(field)
  if (!property) return []
  const begin = value.toLowerCase()
  const texts = namedValues(property)
    .filter((named) => named !== null && typeof named !== 'object')
    .map(String)
  return [...new Set(texts)].filter((text) => text.toLowerCase().startsWith(begin))
}

function namedValues(schema: JsonSchema): readonly unknown[] {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  if (Array.isArray(schema['enum']))
    return (
      Array.isArray(schema['x-enum-varnames']) ? schema['x-enum-varnames'] : schema['enum']
    ) as readonly unknown[]
  const types = [schema['type']].flat()
  const examples = Array.isArray(schema['examples'])
    ? (schema['examples'] as readonly unknown[])
    : []
  return [
    ...(alternatives(schema)[1] ?? []).flatMap(namedValues),
    ...(types.includes('boolean') ? [true, false] : []),
    ...examples,
  ]
}
