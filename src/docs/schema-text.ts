/**
 * A JSON Schema in words: its shape in the style of TypeScript, and its limits.
 */

import { getUnionBranches, readInputFields, unwrapNullable } from '../define/flag-specs.ts'
import { isObject } from '../util/values.ts'
import type { JsonSchema } from '../util/values.ts'
import { tidyLine, truncateText } from './markdown.ts'

const MAX_SHAPE_CHARS = 160
const MAX_SHAPE_DEPTH = 4
// More parts than this never fit in a line; a schema may have any number of them.
const MAX_SHAPE_PARTS = 100

type PartBudget = { left: number }

/**
 * What a schema wants, in the manner of TypeScript and in one line; the inside of large objects is
 * left out until it fits.
 */
export function describeShape(schema: JsonSchema): string {
  for (let depth = MAX_SHAPE_DEPTH; depth > 0; depth--) {
    const shape = tryDepth(schema, depth)
    if (shape !== undefined) return shape
  }
  return tryDepth(schema, 0) ?? 'any'
}

function tryDepth(schema: JsonSchema, depth: number): string | undefined {
  const budget = { left: MAX_SHAPE_PARTS }
  const shape = describeSchema(schema, depth, budget)
  return budget.left > 0 && shape.length <= MAX_SHAPE_CHARS ? shape : undefined
}

function describeSchema(schema: unknown, depth: number, budget: PartBudget): string {
  if (!isObject(schema) || budget.left-- <= 0) return 'any'
  if (Object.hasOwn(schema, 'const')) return formatLiteral(schema['const'])
  if (Array.isArray(schema['enum'])) return joinUnion(schema['enum'].map(formatLiteral))
  const branches = getUnionBranches(schema)[1]
  if (branches && !isObject(schema['properties']))
    return joinUnion(branches.map((branch) => describeSchema(branch, depth, budget)))
  if (Array.isArray(schema['type']))
    return joinUnion(
      schema['type'].map((type) => describeSchema({ ...schema, type }, depth, budget)),
    )
  const type = typeof schema['type'] === 'string' ? schema['type'] : guessType(schema)
  if (type === 'array') return describeList(schema, depth, budget)
  if (type === 'object') return describeObject(schema, depth, budget)
  return type === 'string' && schema['format'] === 'path' ? 'path' : type
}

function describeList(schema: JsonSchema, depth: number, budget: PartBudget): string {
  if (Array.isArray(schema['prefixItems']))
    return `[${schema['prefixItems'].map((item) => describeSchema(item, depth, budget)).join(', ')}]`
  if (!isObject(schema['items'])) return 'any[]'
  const item = describeSchema(schema['items'], depth, budget)
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

function describeObject(schema: JsonSchema, depth: number, budget: PartBudget): string {
  const { properties, required } = readInputFields(schema)
  if (properties.size === 0)
    return isObject(schema['additionalProperties']) && depth > 0
      ? `{ [key]: ${describeSchema(schema['additionalProperties'], depth - 1, budget)} }`
      : 'object'
  if (depth === 0) return 'object'
  const fields = [...properties].map(
    ([name, field]) =>
      `${formatKey(name)}${required.has(name) ? '' : '?'}: ${describeSchema(field, depth - 1, budget)}`,
  )
  return `{ ${fields.join(', ')} }`
}

function guessType(schema: JsonSchema): string {
  if (isObject(schema['properties']) || Array.isArray(schema['allOf'])) return 'object'
  return isObject(schema['items']) || Array.isArray(schema['prefixItems']) ? 'array' : 'any'
}

function joinUnion(shapes: readonly string[]): string {
  return [...new Set(shapes)].join(' | ')
}

function formatLiteral(value: unknown): string {
  return tidyLine(JSON.stringify(value) ?? 'any')
}

function formatKey(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : formatLiteral(name)
}

const MAX_PATTERN_CHARS = 60

/**
 * What a value has to keep to besides its type: `1 to 100`, `at most 200 characters`; undefined
 * where there is nothing to say.
 */
export function describeLimits(given: JsonSchema): string | undefined {
  const schema = unwrapNullable(given)
  const said = [
    describeRange(schema['minimum'], schema['maximum']),
    describeBound(schema['exclusiveMinimum'], 'more than'),
    describeBound(schema['exclusiveMaximum'], 'less than'),
    // That a text is not empty goes without saying.
    describeRange(
      schema['minLength'] === 1 ? undefined : schema['minLength'],
      schema['maxLength'],
      ' characters',
    ),
    describeRange(schema['minItems'], schema['maxItems'], ' items'),
    describeBound(schema['multipleOf'], 'a multiple of'),
    typeof schema['format'] === 'string' && !schema['format'].endsWith('path')
      ? `format ${schema['format']}`
      : undefined,
    typeof schema['pattern'] === 'string'
      ? `pattern ${truncateText(schema['pattern'], MAX_PATTERN_CHARS)}`
      : undefined,
  ].filter((part) => part !== undefined)
  return said.length === 0 ? undefined : tidyLine(said.join(', '))
}

function describeRange(least: unknown, most: unknown, unit = ''): string | undefined {
  if (typeof least === 'number' && typeof most === 'number')
    return least === most ? `exactly ${least}${unit}` : `${least} to ${most}${unit}`
  if (typeof least === 'number') return `at least ${least}${unit}`
  return typeof most === 'number' ? `at most ${most}${unit}` : undefined
}

function describeBound(bound: unknown, words: string): string | undefined {
  return typeof bound === 'number' ? `${words} ${bound}` : undefined
}
