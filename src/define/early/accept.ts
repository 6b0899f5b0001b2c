import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { isPrepared, readPrepared } from '../../contract/prepared.ts'
import { readSource } from '../schema/source.ts'

type Fields = Record<string, unknown>
type Accept = (value: unknown) => { readonly value: unknown } | undefined

/** What accepts values that plainly fit a schema, without its library and without a validator; undefined where only those can tell. `early` is its JSON Schema where it has been read. */
export function acceptEarly(source: unknown, early?: JsonSchema): Accept | undefined {
  if (isPrepared(source)) {
    const prepared = readPrepared(source)
    return prepared?.exact
      ? (value) => orderly(prepared.json, acceptPlainly(prepared.json, value))
      : undefined
  }
  const read = readSource(source)
  if (!('plain' in read)) return undefined
  const schema = early ?? read.plain
  return (value) => acceptPlainly(schema, value)
}

/** The value with defaults filled in, when it plainly fits a simple schema; undefined means that only the full check can tell. Saves most calls from loading a validator. */
export function acceptPlainly(
  schema: JsonSchema,
  value: unknown,
): { readonly value: unknown } | undefined {
  const filled = fillDefaults(schema, value)
  return fits(schema, filled) ? { value: filled } : undefined
}

function fits(schema: unknown, value: unknown): boolean {
  if (!isObject(schema)) return false
  for (const keyword in schema) {
    if (ANNOTATIONS.has(keyword)) continue
    const test = Object.hasOwn(TESTS, keyword) ? TESTS[keyword] : undefined
    if (!test || !test(schema[keyword], value, schema)) return false
  }
  // One of some plain values is all there is to know.
  if (schema['type'] === undefined)
    return Object.hasOwn(schema, 'enum') || Object.hasOwn(schema, 'const')
  // Without a type, or with fields nobody described, there is more to know than stands here.
  return (
    typeof schema['type'] === 'string' &&
    (schema['type'] !== 'object' || isObject(schema['properties'])) &&
    (schema['type'] !== 'array' || isObject(schema['items']))
  )
}

const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$comment',
  '$schema',
  'x-toolable-path',
])

const TYPES: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) =>
    isObject(value) &&
    (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null),
}

const TESTS: {
  readonly [keyword: string]: (wanted: unknown, value: unknown, schema: Fields) => boolean
} = {
  type: (wanted, value) =>
    typeof wanted === 'string' && Object.hasOwn(TYPES, wanted) && TYPES[wanted]!(value),
  enum: (wanted, value) =>
    Array.isArray(wanted) && typeof value !== 'object' && wanted.includes(value),
  const: (wanted, value) => typeof value !== 'object' && wanted === value,
  required: (wanted, value) =>
    Array.isArray(wanted) &&
    isObject(value) &&
    wanted.every((key) => Object.hasOwn(value, String(key))),
  properties: (wanted, value) =>
    isObject(wanted) &&
    isObject(value) &&
    Object.keys(value).every((key) => Object.hasOwn(wanted, key) && fits(wanted[key], value[key])),
  // Where all fields are described, as `properties` wants it here, there are no others.
  additionalProperties: (wanted) => typeof wanted === 'boolean',
  items: (wanted, value) => Array.isArray(value) && value.every((item) => fits(wanted, item)),
  minimum: (wanted, value) => typeof value === 'number' && value >= Number(wanted),
  maximum: (wanted, value) => typeof value === 'number' && value <= Number(wanted),
  exclusiveMinimum: (wanted, value) =>
    typeof wanted === 'number' && typeof value === 'number' && value > wanted,
  exclusiveMaximum: (wanted, value) =>
    typeof wanted === 'number' && typeof value === 'number' && value < wanted,
  minLength: (wanted, value) => typeof value === 'string' && [...value].length >= Number(wanted),
  maxLength: (wanted, value) => typeof value === 'string' && value.length <= Number(wanted),
  minItems: (wanted, value) => Array.isArray(value) && value.length >= Number(wanted),
  maxItems: (wanted, value) => Array.isArray(value) && value.length <= Number(wanted),
  format: (wanted) => wanted === 'path',
}

// A library gives a new value, whose fields stand in the order of the schema.
function orderly(
  schema: JsonSchema,
  accepted: { readonly value: unknown } | undefined,
): { readonly value: unknown } | undefined {
  return accepted && { value: inOrder(schema, accepted.value) }
}

function inOrder(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => inOrder((schema as Fields)['items'], item))
  if (!isObject(value)) return value
  const properties = (schema as Fields)['properties'] as Fields
  const ordered: Fields = {}
  for (const key of Object.keys(properties)) {
    if (Object.hasOwn(value, key))
      Object.defineProperty(ordered, key, {
        value: inOrder(properties[key], value[key]),
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
  return ordered
}

// A new object where something is filled in: the caller's own is never changed.
function fillDefaults(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => fillDefaults(schema['items'], item))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const properties = schema['properties']
  if (!isObject(value) || !isObject(properties)) return value
  let copy: Fields | undefined
  for (const key of Object.keys(properties)) {
    const property = properties[key]
    const given = Object.hasOwn(value, key)
    if (!given && !(isObject(property) && Object.hasOwn(property, 'default'))) continue
    const filled = given
      ? fillDefaults(property, value[key])
      : structuredCopy((property as Fields)['default'])
    // Defined, not assigned: a field may be called `__proto__`.
    if (!given || filled !== value[key])
      Object.defineProperty((copy ??= { ...value }), key, {
        value: filled,
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
  return copy ?? value
}

function structuredCopy(value: unknown): unknown {
  return typeof value === 'object' && value !== null
    ? (JSON.parse(JSON.stringify(value)) as unknown)
    : value
}
