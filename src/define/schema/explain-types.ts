import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { Explainer, FormatTests, Found } from './found.ts'
import { hasValue, matchesPattern, schemasOfItem, schemasOfKey } from './pieces.ts'
import { mapOf, ownKeyword } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'
import { count, sayFormat, showValue } from './words.ts'

// A list of a million wrong rows is explained by its first ones.
const MOST_FOUND = 200

/** What a schema has against a text. */
export function explainText(
  schema: JsonSchema,
  text: string,
  formats: FormatTests | undefined,
): Found[] {
  const found: Found[] = []
  const [shortest, longest] = [limitOf(schema, 'minLength'), limitOf(schema, 'maxLength')]
  // Libraries count UTF-16 units or code points; whichever of both breaks the limit explains the refusal.
  if (shortest !== undefined && [...text].length < shortest)
    found.push(
      issue(
        shortest === 1
          ? 'must not be empty'
          : `must be at least ${count(shortest, 'character')} long, got ${showValue(text)}`,
      ),
    )
  if (longest !== undefined && text.length > longest)
    found.push(issue(`must be at most ${count(longest, 'character')} long, got ${showValue(text)}`))
  const pattern = ownKeyword(schema, 'pattern')
  if (typeof pattern === 'string' && !matchesPattern(pattern, text))
    found.push(issue(`must match the pattern ${pattern}, got ${showValue(text)}`))
  const format = ownKeyword(schema, 'format')
  if (
    typeof format === 'string' &&
    formats &&
    Object.hasOwn(formats, format) &&
    !formats[format]!(text)
  )
    found.push(issue(sayFormat(format, text)))
  return found
}

/** What a schema has against a number. */
export function explainNumber(schema: JsonSchema, number: number): Found[] {
  const broken = (
    keyword: string,
    isBroken: (limit: number) => boolean,
    words: string,
  ): Found[] => {
    const limit = limitOf(schema, keyword)
    return limit !== undefined && isBroken(limit)
      ? [issue(`must be ${words} ${limit}, got ${number}`)]
      : []
  }
  return [
    ...broken('minimum', (limit) => number < limit, 'at least'),
    ...broken('exclusiveMinimum', (limit) => number <= limit, 'more than'),
    ...broken('maximum', (limit) => number > limit, 'at most'),
    ...broken('exclusiveMaximum', (limit) => number >= limit, 'less than'),
    ...broken('multipleOf', (limit) => !isMultiple(number, limit), 'a multiple of'),
  ]
}

/** What a schema has against a list and its items. */
export function explainList(
  explainer: Explainer,
  schema: JsonSchema,
  list: readonly unknown[],
): Found[] {
  const found: Found[] = []
  const [fewest, most] = [limitOf(schema, 'minItems'), limitOf(schema, 'maxItems')]
  if (fewest !== undefined && list.length < fewest)
    found.push(issue(`must have at least ${count(fewest, 'item')}, got ${list.length}`))
  if (most !== undefined && list.length > most)
    found.push(issue(`must have at most ${count(most, 'item')}, got ${list.length}`))
  if (ownKeyword(schema, 'uniqueItems') === true && hasTwins(list))
    found.push(issue('must not have the same item twice'))
  for (const [index, item] of list.entries()) {
    for (const itemSchema of schemasOfItem([schema], index))
      found.push(...under(index, explainer.explain(itemSchema, item)))
    if (found.length > MOST_FOUND) break
  }
  return found
}

/** What a schema has against an object and its properties. Unknown keys are not its concern. */
export function explainObject(
  explainer: Explainer,
  schema: JsonSchema,
  object: Record<string, unknown>,
): Found[] {
  const found: Found[] = []
  const required = ownKeyword(schema, 'required')
  const needed = new Set(
    Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [],
  )
  const declared = mapOf(schema, 'properties').map(([key]) => key)
  for (const key of new Set([...declared, ...needed, ...Object.keys(object)])) {
    if (!hasValue(object, key)) {
      if (needed.has(key)) found.push({ path: [key], kind: 'missing', message: 'is required' })
      continue
    }
    for (const member of schemasOfKey([schema], key))
      found.push(...under(key, explainer.explain(member, object[key])))
    found.push(...explainKey(explainer, schema, key))
    if (found.length > MOST_FOUND) break
  }
  found.push(...explainDependents(schema, object))
  const size = Object.keys(object).length
  const [fewest, most] = [limitOf(schema, 'minProperties'), limitOf(schema, 'maxProperties')]
  if (fewest !== undefined && size < fewest)
    found.push(issue(`must have at least ${count(fewest, 'key')}, got ${size}`))
  if (most !== undefined && size > most)
    found.push(issue(`must have at most ${count(most, 'key')}, got ${size}`))
  return found
}

function explainKey(explainer: Explainer, schema: JsonSchema, key: string): Found[] {
  const names = ownKeyword(schema, 'propertyNames') as AnySchema | undefined
  const first = names === undefined ? undefined : explainer.explain(names, key)[0]
  return first
    ? [{ path: [key], kind: 'invalid', message: `is not an allowed key; a key ${first.message}` }]
    : []
}

function explainDependents(schema: JsonSchema, object: Record<string, unknown>): Found[] {
  const dependents = ownKeyword(schema, 'dependentRequired')
  if (!isObject(dependents)) return []
  return Object.entries(dependents).flatMap(([key, others]) => {
    if (!hasValue(object, key) || !Array.isArray(others)) return []
    return others
      .filter((other) => typeof other === 'string' && !hasValue(object, other))
      .map((other: string): Found => ({
        path: [other],
        kind: 'missing',
        message: `is required when '${key}' is given`,
      }))
  })
}

function limitOf(schema: JsonSchema, keyword: string): number | undefined {
  const limit = ownKeyword(schema, keyword)
  return typeof limit === 'number' ? limit : undefined
}

function issue(message: string): Found {
  return { path: [], kind: 'invalid', message }
}

function under(key: string | number, found: readonly Found[]): Found[] {
  return found.length === 0 ? [] : found.map((each) => ({ ...each, path: [key, ...each.path] }))
}

// 0.3 is a multiple of 0.1 although 0.3 % 0.1 is not 0.
function isMultiple(number: number, step: number): boolean {
  const ratio = number / step
  return Math.abs(ratio - Math.round(ratio)) < 1e-9 * Math.max(1, Math.abs(ratio))
}

function hasTwins(list: readonly unknown[]): boolean {
  const seen = new Set<string>()
  return list.some((item) => {
    const key = stableText(item)
    if (seen.has(key)) return true
    seen.add(key)
    return false
  })
}

function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join()}]`
  if (isObject(value))
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${stableText(value[key])}`)
      .join()}}`
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? typeof value)
}
