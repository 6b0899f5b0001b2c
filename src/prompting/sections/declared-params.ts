import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'

const COMPOSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', '$dynamicRef']

/** The names that a schema of params declares; undefined where it takes any name, or says them in parts that nobody puts together here. */
export function declaredNames(schema: JsonSchema): readonly string[] | undefined {
  const { properties, additionalProperties = false, patternProperties } = schema
  const isOpen =
    additionalProperties !== false ||
    patternProperties !== undefined ||
    COMPOSED.some((keyword) => Object.hasOwn(schema, keyword))
  return isOpen ? undefined : Object.keys(isObject(properties) ? properties : {})
}

/** True where one of the schemas may have a value at the path. */
export function isDeclared(schemas: readonly JsonSchema[], path: readonly string[]): boolean {
  return schemas.some((schema) => mayHave(schema, path))
}

function mayHave(schema: JsonSchema, path: readonly string[]): boolean {
  const [key, ...rest] = path
  const names = declaredNames(schema)
  if (key === undefined || names === undefined) return true
  const inner = names.includes(key) ? (schema['properties'] as JsonSchema)[key] : undefined
  return inner !== undefined && (!isObject(inner) || takesAnything(inner) || mayHave(inner, rest))
}

// What a value without a described form holds is for its author to know.
function takesAnything({ type, properties }: JsonSchema): boolean {
  return properties === undefined && (type === undefined || [type].flat().includes('array'))
}
