import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { inputFields } from '../../../define/flags/input-fields.ts'
import { alternatives } from '../../../define/flags/unwrap-schema.ts'
import { tidyLine } from './tidy-text.ts'

const LONGEST = 160
const DEEPEST = 4
// More parts than this never fit in a line; a schema may have any number of them.
const MOST_PARTS = 100

type Budget = { left: number }

/** What a schema wants, in the manner of TypeScript and in one line; the inside of large objects is left out until it fits. */
export function shapeOf(schema: JsonSchema): string {
  for (let depth = DEEPEST; depth > 0; depth--) {
    const shape = tryDepth(schema, depth)
    if (shape !== undefined) return shape
  }
  return tryDepth(schema, 0) ?? 'any'
}

function tryDepth(schema: JsonSchema, depth: number): string | undefined {
  const budget = { left: MOST_PARTS }
  const shape = describe(schema, depth, budget)
  return budget.left > 0 && shape.length <= LONGEST ? shape : undefined
}

function describe(schema: unknown, depth: number, budget: Budget): string {
  if (!isObject(schema) || budget.left-- <= 0) return 'any'
  if (Object.hasOwn(schema, 'const')) return literal(schema['const'])
  if (Array.isArray(schema['enum'])) return union(schema['enum'].map(literal))
  const branches = alternatives(schema)[1]
  if (branches && !isObject(schema['properties']))
    return union(branches.map((branch) => describe(branch, depth, budget)))
  if (Array.isArray(schema['type']))
    return union(schema['type'].map((type) => describe({ ...schema, type }, depth, budget)))
  const type = typeof schema['type'] === 'string' ? schema['type'] : guessType(schema)
  if (type === 'array') return describeList(schema, depth, budget)
  if (type === 'object') return describeObject(schema, depth, budget)
  return type === 'string' && schema['format'] === 'path' ? 'path' : type
}

function describeList(schema: JsonSchema, depth: number, budget: Budget): string {
  if (Array.isArray(schema['prefixItems']))
    return `[${schema['prefixItems'].map((item) => describe(item, depth, budget)).join(', ')}]`
  if (!isObject(schema['items'])) return 'any[]'
  const item = describe(schema['items'], depth, budget)
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

function describeObject(schema: JsonSchema, depth: number, budget: Budget): string {
  const { properties, required } = inputFields(schema)
  if (properties.size === 0)
    return isObject(schema['additionalProperties']) && depth > 0
      ? `{ [key]: ${describe(schema['additionalProperties'], depth - 1, budget)} }`
      : 'object'
  if (depth === 0) return 'object'
  const fields = [...properties].map(
    ([name, field]) =>
      `${nameKey(name)}${required.has(name) ? '' : '?'}: ${describe(field, depth - 1, budget)}`,
  )
  return `{ ${fields.join(', ')} }`
}

function guessType(schema: JsonSchema): string {
  if (isObject(schema['properties']) || Array.isArray(schema['allOf'])) return 'object'
  return isObject(schema['items']) || Array.isArray(schema['prefixItems']) ? 'array' : 'any'
}

function union(shapes: readonly string[]): string {
  return [...new Set(shapes)].join(' | ')
}

function literal(value: unknown): string {
  return tidyLine(JSON.stringify(value) ?? 'any')
}

function nameKey(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : literal(name)
}
