import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'

// With any of these, a field may be there that `properties` does not name.
const OPENERS = [
  'additionalProperties',
  'patternProperties',
  'unevaluatedProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  '$ref',
  '$dynamicRef',
  'dependentSchemas',
]

/** The fields that a schema knows, where it can be told that it does not know this one; undefined where it may be there. */
export function findUnknownField(
  schema: JsonSchema | undefined,
  field: string | number | undefined,
): readonly string[] | undefined {
  const properties = schema?.['properties']
  if (
    schema === undefined ||
    field === undefined ||
    !isObject(properties) ||
    Object.hasOwn(properties, field)
  )
    return undefined
  const open = OPENERS.some(
    (keyword) => Object.hasOwn(schema, keyword) && schema[keyword] !== false,
  )
  return open ? undefined : Object.keys(properties)
}
