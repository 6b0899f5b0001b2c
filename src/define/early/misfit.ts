import { isObject } from '../../contract/json.ts'

/** What is plainly wrong with a value, in words; undefined when nothing is, or when the schema says more than can be read here. */
export function findMisfit(schema: unknown, value: unknown, place = ''): string | undefined {
  if (!isObject(schema)) return undefined
  const { type, required, properties, items } = schema
  if (typeof type === 'string' && Object.hasOwn(IS, type) && !IS[type]!(value))
    return `${place || 'the input'} must be of type ${type}`
  if (
    Array.isArray(schema['enum']) &&
    !isObject(value) &&
    !Array.isArray(value) &&
    !schema['enum'].includes(value)
  )
    return `${place} must be one of ${schema['enum'].join(', ')}`
  const outside = LIMITS.find(
    ([keyword, exceeds]) => schema[keyword] !== undefined && exceeds(value, schema[keyword]),
  )
  if (outside) return `${place} does not keep to ${outside[0]} ${String(schema[outside[0]])}`
  if (Array.isArray(value))
    return firstOf(value.map((item, index) => [items, item, `${place}[${index}]`] as const))
  if (!isObject(value) || !isObject(properties) || isOpen(schema)) return undefined
  const at = (key: string): string => (place ? `${place}.${key}` : key)
  const missing = (Array.isArray(required) ? required : []).find(
    (key) => !Object.hasOwn(value, String(key)),
  )
  if (missing !== undefined) return `${at(String(missing))} is missing`
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(properties, key))
  if (unknown !== undefined) return `${at(unknown)} is not a field of it`
  return firstOf(Object.keys(value).map((key) => [properties[key], value[key], at(key)] as const))
}

const OPENING = [
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  '$dynamicRef',
  'patternProperties',
  'unevaluatedProperties',
]

function isOpen(schema: { readonly [keyword: string]: unknown }): boolean {
  return (
    OPENING.some((keyword) => keyword in schema) ||
    (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false)
  )
}

const IS: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

const LIMITS: readonly (readonly [
  keyword: string,
  exceeds: (value: unknown, limit: unknown) => boolean,
])[] = [
  ['minimum', (value, limit) => typeof value === 'number' && value < Number(limit)],
  ['maximum', (value, limit) => typeof value === 'number' && value > Number(limit)],
  ['minLength', (value, limit) => typeof value === 'string' && [...value].length < Number(limit)],
  ['maxLength', (value, limit) => typeof value === 'string' && [...value].length > Number(limit)],
  ['minItems', (value, limit) => Array.isArray(value) && value.length < Number(limit)],
  ['maxItems', (value, limit) => Array.isArray(value) && value.length > Number(limit)],
]

function firstOf(
  parts: readonly (readonly [schema: unknown, value: unknown, place: string])[],
): string | undefined {
  for (const [schema, value, place] of parts) {
    const misfit = findMisfit(schema, value, place)
    if (misfit !== undefined) return misfit
  }
  return undefined
}
