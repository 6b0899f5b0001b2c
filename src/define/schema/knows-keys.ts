import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { isPlain } from './rewrite.ts'

// Schemas that decide by more than their own properties need the whole search.
const SEARCHED = [
  '$ref',
  'anyOf',
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  '$dynamicRef',
  '$recursiveRef',
  'patternProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'prefixItems',
  'contains',
  'additionalItems',
  'propertyNames',
]
const DEEPEST = 20

/** True when a value certainly has no key that its schema does not know; false means that it has to be searched. */
export type KnowsKeys = (value: unknown, depth?: number) => boolean

const isNoObject: KnowsKeys = (value) => !isPlain(value)

/** Prepares, once for a schema, the quick look that is enough for most values. */
export function knowsKeys(schema: unknown): KnowsKeys {
  if (!isObject(schema) || SEARCHED.some((keyword) => Object.hasOwn(schema, keyword)))
    return isNoObject
  const ofFields = knowsFields(schema)
  const ofItems = Object.hasOwn(schema, 'items') ? knowsKeys(schema['items']) : isNoObject
  return (value, depth = 0) => {
    if (!isPlain(value)) return true
    if (depth > DEEPEST) return false
    if (!Array.isArray(value)) return ofFields(value, depth + 1)
    // What is no object holds no keys: most need no further look.
    for (const item of value)
      if (typeof item === 'object' && !ofItems(item, depth + 1)) return false
    return true
  }
}

function knowsFields(
  schema: JsonSchema,
): (fields: { readonly [key: string]: unknown }, depth: number) => boolean {
  const { properties, additionalProperties } = schema
  if (
    !isObject(properties) ||
    (additionalProperties !== undefined && additionalProperties !== false)
  )
    return () => false
  const known = new Map(
    Object.entries(properties).map(([key, property]) => [key, knowsKeys(property)]),
  )
  return (fields, depth) => {
    // Also keys that a prototype gives, which no schema knows: then it is searched, as it should be.
    for (const key in fields) {
      const value = fields[key]
      const knows = known.get(key)
      if (knows === undefined || (typeof value === 'object' && !knows(value, depth))) return false
    }
    return true
  }
}
