import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'

/** A schema where JSON Schema also allows `true` and `false`. */
export type AnySchema = JsonSchema | boolean

const SINGLE = new Set([
  'items',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
  'additionalItems',
])
const LISTS = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf', 'items'])
const MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** True for what may stand where a schema is expected. */
export function isSchema(value: unknown): value is AnySchema {
  return typeof value === 'boolean' || isObject(value)
}

/** A copy of the schema in which every direct subschema is replaced by what `change` gives for it; other keywords stay as they are. */
export function mapSubschemas(
  schema: JsonSchema,
  change: (subschema: AnySchema, keyword: string) => unknown,
): JsonSchema {
  const changed = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (LISTS.has(keyword) && Array.isArray(value))
      return [
        keyword,
        value.map((member: unknown) => (isSchema(member) ? change(member, keyword) : member)),
      ]
    if (SINGLE.has(keyword) && isSchema(value)) return [keyword, change(value, keyword)]
    if (MAPS.has(keyword) && isObject(value)) {
      return [
        keyword,
        Object.fromEntries(
          Object.entries(value).map(([key, member]) => [
            key,
            isSchema(member) ? change(member, keyword) : member,
          ]),
        ),
      ]
    }
    return [keyword, value]
  })
  return Object.fromEntries(changed)
}

/** Calls `visit` with every direct subschema. */
export function eachSubschema(
  schema: JsonSchema,
  visit: (subschema: AnySchema, keyword: string) => void,
): void {
  mapSubschemas(schema, (subschema, keyword) => {
    visit(subschema, keyword)
    return subschema
  })
}

/** The schemas of a list keyword (`allOf`, `anyOf`, …); empty when the keyword is absent. */
export function listOf(schema: JsonSchema, keyword: string): readonly AnySchema[] {
  const value = ownKeyword(schema, keyword)
  return Array.isArray(value) ? value.filter(isSchema) : []
}

/** The schemas of a map keyword (`properties`, `patternProperties`, …); empty when the keyword is absent. */
export function mapOf(
  schema: JsonSchema,
  keyword: string,
): readonly (readonly [string, AnySchema])[] {
  const value = ownKeyword(schema, keyword)
  return isObject(value)
    ? Object.entries(value).filter((entry): entry is [string, AnySchema] => isSchema(entry[1]))
    : []
}

/** One member of a map keyword, own members only. */
export function memberOf(schema: JsonSchema, keyword: string, key: string): AnySchema | undefined {
  const value = ownKeyword(schema, keyword)
  if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
  const member = value[key]
  return isSchema(member) ? member : undefined
}

/** A keyword of a schema, own members only. */
export function ownKeyword(schema: JsonSchema, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
}

/** The type names of a schema; undefined where it does not name any. */
export function typesOf(schema: JsonSchema): readonly string[] | undefined {
  const type = ownKeyword(schema, 'type')
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? type.filter((name) => typeof name === 'string') : undefined
}
