import type { JsonSchema } from '../util/values.ts'
import { getUnionBranches, readInputFields } from './flag-specs.ts'
import { inlineRefs } from './schema/publish.ts'

/**
 * The values that the schema of a field itself names and that begin like what was typed, whatever
 * the case.
 */
export function completeFromSchema(
  schema: JsonSchema,
  field: string,
  value: string,
): readonly string[] {
  const property = readInputFields(inlineRefs(schema)).properties.get(field)
  if (!property) return []
  const begin = value.toLowerCase()
  const texts = listNamedValues(property)
    .filter((named) => named !== null && typeof named !== 'object')
    .map(String)
  return [...new Set(texts)].filter((text) => text.toLowerCase().startsWith(begin))
}

function listNamedValues(schema: JsonSchema): readonly unknown[] {
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
    ...(getUnionBranches(schema)[1] ?? []).flatMap(listNamedValues),
    ...(types.includes('boolean') ? [true, false] : []),
    ...examples,
  ]
}
