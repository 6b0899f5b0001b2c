import type { JsonSchema } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import type { FlagSpec } from './flag-spec.ts'
import { alternatives, unwrapNullable } from './unwrap-schema.ts'

/** What the command line needs to know of a value: how it is written, what may stand for it. */
export type FieldReading = Pick<
  FlagSpec,
  'kind' | 'choices' | 'description' | 'default' | 'valueName'
>

const ALL_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const
export type JsonType = (typeof ALL_TYPES)[number]

// More than this and the choices are listed below the flag instead of in its name.
const SHORT_CHOICES = 24

/** Reads the schema of one field; it must be free of references. */
export function readField(given: JsonSchema): FieldReading {
  const schema = unwrapNullable(given)
  const kind = kindOf(schema)
  const item = kind === 'list' ? itemSchema(schema) : schema
  const choices = kind === 'boolean' || kind === 'object' ? undefined : choicesOf(item)
  const description = descriptionOf(schema)
  return {
    kind,
    ...(choices && { choices }),
    ...(description !== undefined && { description }),
    ...(Object.hasOwn(schema, 'default') && { default: schema.default }),
    valueName: choices ? nameChoices(choices) : nameValue(item, kind),
  }
}

/** The JSON types that a schema allows; all of them where it does not say. Integers count as numbers. */
export function typesOf(given: JsonSchema): ReadonlySet<JsonType> {
  const schema = unwrapNullable(given)
  if (Object.hasOwn(schema, 'const')) return new Set([typeOfValue(schema.const)])
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(typeOfValue))
  const named =
    typeof schema.type === 'string'
      ? [schema.type]
      : Array.isArray(schema.type)
        ? schema.type
        : undefined
  if (named) return new Set(named.map((type) => (type === 'integer' ? 'number' : type) as JsonType))
  const branches = alternatives(schema)[1]
  if (branches) return new Set(branches.flatMap((branch) => [...typesOf(branch)]))
  const part = Array.isArray(schema.allOf)
    ? schema.allOf
        .filter(isObject)
        .map(typesOf)
        .find((types) => types.size < ALL_TYPES.length)
    : undefined
  if (part) return part
  if (isObject(schema.properties) || isObject(schema.additionalProperties))
    return new Set(['object'])
  if (isObject(schema.items) || Array.isArray(schema.prefixItems)) return new Set(['array'])
  return new Set(ALL_TYPES)
}

/** The schema of the items of a list; the union of them for tuples. */
export function itemSchema(given: JsonSchema): JsonSchema {
  const schema = unwrapNullable(given)
  if (Array.isArray(schema.prefixItems))
    return { anyOf: [...schema.prefixItems, ...(isObject(schema.items) ? [schema.items] : [])] }
  if (isObject(schema.items)) return schema.items
  const branches = alternatives(schema)[1]
  return branches ? { anyOf: branches.map(itemSchema) } : {}
}

/** Whether a value names a file, a directory or neither. */
export function pathKindOf(given: JsonSchema): 'files' | 'directories' | undefined {
  const schema = unwrapNullable(given)
  const rules = schema['x-toolable-path']
  if (schema.format === 'directory-path' || (isObject(rules) && rules.kind === 'directory'))
    return 'directories'
  return schema.format === 'path' || schema.format === 'file-path' || isObject(rules)
    ? 'files'
    : undefined
}

function kindOf(schema: JsonSchema): FlagSpec['kind'] {
  const types = typesOf(schema)
  const [only] = types.size === 1 ? types : []
  if (only === 'boolean') return 'boolean'
  if (only === 'array') return 'list'
  return only === 'object' ? 'object' : 'value'
}

function choicesOf(given: JsonSchema): readonly string[] | undefined {
  const schema = unwrapNullable(given)
  const values = constantsOf(schema)
  if (!values || values.length === 0 || values.some((value) => typeof value === 'object'))
    return undefined
  return [...new Set(values.map(String))]
}

function constantsOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema.const]
  // Numbers that have names are chosen by them.
  if (Array.isArray(schema.enum))
    return Array.isArray(schema['x-enum-varnames']) ? schema['x-enum-varnames'] : schema.enum
  const branches = alternatives(schema)[1]?.map(constantsOf)
  return branches?.every((values) => values !== undefined) ? branches.flat() : undefined
}

function descriptionOf(schema: JsonSchema): string | undefined {
  if (typeof schema.description === 'string') return schema.description
  const inner = alternatives(schema)[1]?.find((branch) => typeof branch.description === 'string')
  return inner?.description as string | undefined
}

function nameChoices(choices: readonly string[]): string {
  const joined = choices.join('|')
  return joined.length <= SHORT_CHOICES ? joined : 'choice'
}

function nameValue(given: JsonSchema, kind: FlagSpec['kind']): string {
  const schema = unwrapNullable(given)
  if (kind === 'object') return 'json'
  if (pathKindOf(schema)) return 'path'
  if (schema.format === 'date' || schema.format === 'date-time') return schema.format
  if (alternatives(schema)[1]?.every(({ format }) => format === 'date' || format === 'date-time'))
    return 'date'
  const types = typesOf(schema)
  if (types.has('object') || types.has('array')) return 'json'
  if (types.size === 1 && types.has('number')) return isInteger(schema) ? 'integer' : 'number'
  return types.size === 1 && types.has('boolean') ? 'true|false' : 'text'
}

function isInteger(schema: JsonSchema): boolean {
  return schema.type === 'integer' || (alternatives(schema)[1]?.every(isInteger) ?? false)
}

function typeOfValue(value: unknown): JsonType {
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonType
}
