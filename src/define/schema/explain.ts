import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { closestBranch, explainUnion } from './explain-union.ts'
import { explainList, explainNumber, explainObject, explainText } from './explain-types.ts'
import { parseDate } from './decode.ts'
import type { Explainer, FormatTests, Found } from './found.ts'
import { hasValue } from './pieces.ts'
import type { Refs } from './refs.ts'
import { listOf, mapOf, ownKeyword, typesOf } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'
import { DECODE_MARK } from './decode-mark.ts'
import { sayChoices, sayType, showValue } from './words.ts'

/** An explainer for one value. Formats are judged only where their tests are given. */
export function createExplainer(refs: Refs, formats?: FormatTests): Explainer {
  // Remembered per pair, so that nested unions cost their product only once, and circles end.
  const memory = new WeakMap<object, Map<JsonSchema, readonly Found[]>>()
  const explainer: Explainer = {
    refs,
    fits: (schema, value) => explainer.explain(schema, value).length === 0,
    bestBranch: (branches, value) => closestBranch(explainer, branches, value),
    explain(schema, value) {
      if (typeof schema === 'boolean')
        return schema ? [] : [{ path: [], kind: 'invalid', message: 'is not allowed' }]
      if (typeof value !== 'object' || value === null)
        return explainHere(explainer, schema, value, formats)
      let known = memory.get(value)
      if (!known) memory.set(value, (known = new Map()))
      const before = known.get(schema)
      if (before) return before
      known.set(schema, [])
      const found = explainHere(explainer, schema, value, formats)
      known.set(schema, found)
      return found
    },
  }
  return explainer
}

function explainHere(
  explainer: Explainer,
  schema: JsonSchema,
  value: unknown,
  formats: FormatTests | undefined,
): readonly Found[] {
  const target = explainer.refs.follow(schema)
  const found: Found[] = target === undefined ? [] : [...explainer.explain(target, value)]
  const mark = ownKeyword(schema, DECODE_MARK)
  if (mark !== undefined) return [...found, ...explainDecoded(mark, value)]
  const choices = explainChoices(schema, value)
  if (choices.length > 0) return [...found, ...choices]
  const types = typesOf(schema)
  if (types && !types.some((type) => isOfType(type, value)))
    return [...found, { path: [], kind: 'invalid', message: sayType(types, value), types }]
  for (const member of listOf(schema, 'allOf')) found.push(...explainer.explain(member, value))
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = listOf(schema, keyword)
    if (branches.length > 0) found.push(...explainUnion(explainer, branches, value))
  }
  found.push(...explainConditions(explainer, schema, value))
  if (typeof value === 'string') found.push(...explainText(schema, value, formats))
  if (typeof value === 'number') found.push(...explainNumber(schema, value))
  if (Array.isArray(value)) found.push(...explainList(explainer, schema, value))
  else if (isObject(value)) found.push(...explainObject(explainer, schema, value))
  return found
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'number') return Number.isFinite(value)
  return (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value) === type
}

function explainDecoded(mark: unknown, value: unknown): Found[] {
  if (mark === 'bigint')
    return typeof value === 'bigint' || Number.isInteger(value)
      ? []
      : [{ path: [], kind: 'invalid', message: sayType(['integer'], value), types: ['integer'] }]
  const isDate =
    typeof value === 'string'
      ? parseDate(value) !== undefined
      : value instanceof Date && !Number.isNaN(value.getTime())
  return isDate
    ? []
    : [
        {
          path: [],
          kind: 'invalid',
          message: `must be a date, got ${showValue(value)}`,
          types: ['a date'],
        },
      ]
}

function explainChoices(schema: JsonSchema, value: unknown): Found[] {
  const choices = ownKeyword(schema, 'enum')
  const allowed = Object.hasOwn(schema, 'const')
    ? [schema['const']]
    : Array.isArray(choices)
      ? (choices as unknown[])
      : undefined
  if (!allowed || allowed.some((choice) => isSame(choice, value))) return []
  return [{ path: [], kind: 'invalid', ...sayChoices(allowed, value), allowed }]
}

function explainConditions(explainer: Explainer, schema: JsonSchema, value: unknown): Found[] {
  const found: Found[] = []
  const condition = ownKeyword(schema, 'if') as AnySchema | undefined
  if (condition !== undefined) {
    const consequence = ownKeyword(schema, explainer.fits(condition, value) ? 'then' : 'else') as
      AnySchema | undefined
    if (consequence !== undefined) found.push(...explainer.explain(consequence, value))
  }
  const excluded = ownKeyword(schema, 'not')
  if (excluded === true || (isObject(excluded) && Object.keys(excluded).length === 0))
    found.push({ path: [], kind: 'invalid', message: 'is not allowed' })
  if (isObject(value)) {
    for (const [key, dependent] of mapOf(schema, 'dependentSchemas'))
      if (hasValue(value, key)) found.push(...explainer.explain(dependent, value))
  }
  return found
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (
    typeof left !== 'object' ||
    typeof right !== 'object' ||
    left === null ||
    right === null ||
    Array.isArray(left) !== Array.isArray(right)
  )
    return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) =>
        Object.hasOwn(right, key) &&
        isSame((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
    )
  )
}
