/**
 * Says in our words what a JSON Schema has against a value. It only explains: the schema library decides whether a value is valid.
 */

import type { JsonSchema } from '../../util/values.ts'
import { isObject } from '../../util/values.ts'
import { parseIsoDate } from './publish.ts'
import type { SchemaRefs } from './refs.ts'
import type { SchemaIssue } from './source.ts'
import { DECODE_MARK } from './source.ts'
import type { AnySchema } from './subschemas.ts'
import {
  describeChoiceMismatch,
  describeFormatMismatch,
  describeTypeMismatch,
  formatCount,
  formatValue,
  getKeyword,
  getSchemaEntries,
  getSchemaList,
  getTypes,
  joinWords,
  nameType,
} from './subschemas.ts'
import type { SchemaMatcher } from './walk.ts'
import { getItemSchemas, getKeySchemas, hasDefinedValue, matchesPattern } from './walk.ts'

/** An explainer for one value. Formats are judged only where their tests are given. */
export function createExplainer(refs: SchemaRefs, formats?: FormatTests): SchemaExplainer {
  // Remembered per pair, so that nested unions cost their product only once, and circles end.
  const memory = new WeakMap<object, Map<JsonSchema, readonly ExplainedIssue[]>>()
  const explainer: SchemaExplainer = {
    refs,
    fits: (schema, value) => explainer.explain(schema, value).length === 0,
    bestBranch: (branches, value) => findClosestBranch(explainer, branches, value),
    explain(schema, value) {
      if (typeof schema === 'boolean')
        return schema ? [] : [{ path: [], kind: 'invalid', message: 'is not allowed' }]
      if (typeof value !== 'object' || value === null)
        return explainValue(explainer, schema, value, formats)
      let known = memory.get(value)
      if (!known) memory.set(value, (known = new Map()))
      const before = known.get(schema)
      if (before) return before
      known.set(schema, [])
      const found = explainValue(explainer, schema, value, formats)
      known.set(schema, found)
      return found
    },
  }
  return explainer
}

function explainValue(
  explainer: SchemaExplainer,
  schema: JsonSchema,
  value: unknown,
  formats: FormatTests | undefined,
): readonly ExplainedIssue[] {
  const target = explainer.refs.follow(schema)
  const found: ExplainedIssue[] = target === undefined ? [] : [...explainer.explain(target, value)]
  const mark = getKeyword(schema, DECODE_MARK)
  if (mark !== undefined) return [...found, ...explainDecoded(mark, value)]
  const choices = explainChoices(schema, value)
  if (choices.length > 0) return [...found, ...choices]
  const types = getTypes(schema)
  if (types && !types.some((type) => isOfType(type, value)))
    return [
      ...found,
      { path: [], kind: 'invalid', message: describeTypeMismatch(types, value), types },
    ]
  for (const member of getSchemaList(schema, 'allOf'))
    found.push(...explainer.explain(member, value))
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = getSchemaList(schema, keyword)
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
  if (value === null) return type === 'null'
  return type === (Array.isArray(value) ? 'array' : typeof value)
}

function explainDecoded(mark: unknown, value: unknown): ExplainedIssue[] {
  if (mark === 'bigint')
    return typeof value === 'bigint' || Number.isInteger(value)
      ? []
      : [
          {
            path: [],
            kind: 'invalid',
            message: describeTypeMismatch(['integer'], value),
            types: ['integer'],
          },
        ]
  const isDate =
    typeof value === 'string'
      ? parseIsoDate(value) !== undefined
      : value instanceof Date && !Number.isNaN(value.getTime())
  return isDate
    ? []
    : [
        {
          path: [],
          kind: 'invalid',
          message: `must be a date, got ${formatValue(value)}`,
          types: ['a date'],
        },
      ]
}

function explainChoices(schema: JsonSchema, value: unknown): ExplainedIssue[] {
  const choices = Object.hasOwn(schema, 'const') ? [schema['const']] : getKeyword(schema, 'enum')
  const allowed = Array.isArray(choices) ? (choices as unknown[]) : undefined
  if (!allowed || allowed.some((choice) => isDeepEqual(choice, value))) return []
  return [{ path: [], kind: 'invalid', ...describeChoiceMismatch(allowed, value), allowed }]
}

function explainConditions(
  explainer: SchemaExplainer,
  schema: JsonSchema,
  value: unknown,
): ExplainedIssue[] {
  const found: ExplainedIssue[] = []
  const condition = getKeyword(schema, 'if') as AnySchema | undefined
  if (condition !== undefined) {
    const consequence = getKeyword(schema, explainer.fits(condition, value) ? 'then' : 'else') as
      AnySchema | undefined
    if (consequence !== undefined) found.push(...explainer.explain(consequence, value))
  }
  const excluded = getKeyword(schema, 'not')
  if (excluded === true || (isObject(excluded) && Object.keys(excluded).length === 0))
    found.push({ path: [], kind: 'invalid', message: 'is not allowed' })
  if (isObject(value)) {
    for (const [key, dependent] of getSchemaEntries(schema, 'dependentSchemas'))
      if (hasDefinedValue(value, key)) found.push(...explainer.explain(dependent, value))
  }
  return found
}

function isDeepEqual(left: unknown, right: unknown): boolean {
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
        isDeepEqual(
          (left as Record<string, unknown>)[key],
          (right as Record<string, unknown>)[key],
        ),
    )
  )
}

// A list of a million wrong rows is explained by its first ones.
const MAX_EXPLAINED = 200

/** What a schema has against a text. */
function explainText(
  schema: JsonSchema,
  text: string,
  formats: FormatTests | undefined,
): ExplainedIssue[] {
  const found: ExplainedIssue[] = []
  const [shortest, longest] = [getLimit(schema, 'minLength'), getLimit(schema, 'maxLength')]
  // Libraries count UTF-16 units or code points; whichever of both breaks the limit explains the
  // refusal.
  if (shortest !== undefined && [...text].length < shortest)
    found.push(
      createInvalid(
        shortest === 1
          ? 'must not be empty'
          : `must be at least ${formatCount(shortest, 'character')} long, got ${formatValue(text)}`,
      ),
    )
  if (longest !== undefined && text.length > longest)
    found.push(
      createInvalid(
        `must be at most ${formatCount(longest, 'character')} long, got ${formatValue(text)}`,
      ),
    )
  const pattern = getKeyword(schema, 'pattern')
  if (typeof pattern === 'string' && !matchesPattern(pattern, text))
    found.push(createInvalid(`must match the pattern ${pattern}, got ${formatValue(text)}`))
  const format = getKeyword(schema, 'format')
  if (
    typeof format === 'string' &&
    formats &&
    Object.hasOwn(formats, format) &&
    !formats[format]!(text)
  )
    found.push(createInvalid(describeFormatMismatch(format, text)))
  return found
}

/** What a schema has against a number. */
function explainNumber(schema: JsonSchema, number: number): ExplainedIssue[] {
  const broken = (
    keyword: string,
    isBroken: (limit: number) => boolean,
    words: string,
  ): ExplainedIssue[] => {
    const limit = getLimit(schema, keyword)
    return limit !== undefined && isBroken(limit)
      ? [createInvalid(`must be ${words} ${limit}, got ${number}`)]
      : []
  }
  return [
    ...broken('minimum', (limit) => number < limit, 'at least'),
    ...broken('exclusiveMinimum', (limit) => number <= limit, 'more than'),
    ...broken('maximum', (limit) => number > limit, 'at most'),
    ...broken('exclusiveMaximum', (limit) => number >= limit, 'less than'),
    ...broken('multipleOf', (limit) => !isMultipleOf(number, limit), 'a multiple of'),
  ]
}

/** What a schema has against a list and its items. */
function explainList(
  explainer: SchemaExplainer,
  schema: JsonSchema,
  list: readonly unknown[],
): ExplainedIssue[] {
  const found: ExplainedIssue[] = []
  const [fewest, most] = [getLimit(schema, 'minItems'), getLimit(schema, 'maxItems')]
  if (fewest !== undefined && list.length < fewest)
    found.push(
      createInvalid(`must have at least ${formatCount(fewest, 'item')}, got ${list.length}`),
    )
  if (most !== undefined && list.length > most)
    found.push(createInvalid(`must have at most ${formatCount(most, 'item')}, got ${list.length}`))
  if (getKeyword(schema, 'uniqueItems') === true && hasDuplicates(list))
    found.push(createInvalid('must not have the same item twice'))
  for (const [index, item] of list.entries()) {
    for (const itemSchema of getItemSchemas([schema], index))
      found.push(...prefixPath(index, explainer.explain(itemSchema, item)))
    if (found.length > MAX_EXPLAINED) break
  }
  return found
}

/** What a schema has against an object and its properties. Unknown keys are not its concern. */
function explainObject(
  explainer: SchemaExplainer,
  schema: JsonSchema,
  object: Record<string, unknown>,
): ExplainedIssue[] {
  const found: ExplainedIssue[] = []
  const required = getKeyword(schema, 'required')
  const needed = new Set(
    Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [],
  )
  const declared = getSchemaEntries(schema, 'properties').map(([key]) => key)
  for (const key of new Set([...declared, ...needed, ...Object.keys(object)])) {
    if (!hasDefinedValue(object, key)) {
      if (needed.has(key)) found.push({ path: [key], kind: 'missing', message: 'is required' })
      continue
    }
    for (const member of getKeySchemas([schema], key))
      found.push(...prefixPath(key, explainer.explain(member, object[key])))
    found.push(...explainKey(explainer, schema, key))
    if (found.length > MAX_EXPLAINED) break
  }
  found.push(...explainDependents(schema, object))
  const size = Object.keys(object).length
  const [fewest, most] = [getLimit(schema, 'minProperties'), getLimit(schema, 'maxProperties')]
  if (fewest !== undefined && size < fewest)
    found.push(createInvalid(`must have at least ${formatCount(fewest, 'key')}, got ${size}`))
  if (most !== undefined && size > most)
    found.push(createInvalid(`must have at most ${formatCount(most, 'key')}, got ${size}`))
  return found
}

function explainKey(explainer: SchemaExplainer, schema: JsonSchema, key: string): ExplainedIssue[] {
  const names = getKeyword(schema, 'propertyNames') as AnySchema | undefined
  const first = names === undefined ? undefined : explainer.explain(names, key)[0]
  return first
    ? [{ path: [key], kind: 'invalid', message: `is not an allowed key; a key ${first.message}` }]
    : []
}

function explainDependents(schema: JsonSchema, object: Record<string, unknown>): ExplainedIssue[] {
  const dependents = getKeyword(schema, 'dependentRequired')
  if (!isObject(dependents)) return []
  return Object.entries(dependents).flatMap(([key, others]) => {
    if (!hasDefinedValue(object, key) || !Array.isArray(others)) return []
    return others
      .filter((other) => typeof other === 'string' && !hasDefinedValue(object, other))
      .map((other: string): ExplainedIssue => ({
        path: [other],
        kind: 'missing',
        message: `is required when '${key}' is given`,
      }))
  })
}

function getLimit(schema: JsonSchema, keyword: string): number | undefined {
  const limit = getKeyword(schema, keyword)
  return typeof limit === 'number' ? limit : undefined
}

function createInvalid(message: string): ExplainedIssue {
  return { path: [], kind: 'invalid', message }
}

function prefixPath(key: string | number, found: readonly ExplainedIssue[]): ExplainedIssue[] {
  return found.length === 0 ? [] : found.map((each) => ({ ...each, path: [key, ...each.path] }))
}

// 0.3 is a multiple of 0.1 although 0.3 % 0.1 is not 0.
function isMultipleOf(number: number, step: number): boolean {
  const ratio = number / step
  return Math.abs(ratio - Math.round(ratio)) < 1e-9 * Math.max(1, Math.abs(ratio))
}

function hasDuplicates(list: readonly unknown[]): boolean {
  const seen = new Set<string>()
  return list.some((item) => {
    const key = toStableText(item)
    if (seen.has(key)) return true
    seen.add(key)
    return false
  })
}

function toStableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toStableText).join()}]`
  if (isObject(value))
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${toStableText(value[key])}`)
      .join()}}`
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? typeof value)
}

const WRONG_KIND_COST = 1000
const WRONG_TAG_COST = 100

/**
 * What a union has against a value: what its best-fitting branch says, or one sentence over all
 * branches when none is of the right kind.
 */
function explainUnion(
  explainer: SchemaExplainer,
  branches: readonly AnySchema[],
  value: unknown,
): readonly ExplainedIssue[] {
  const all = branches.map((branch) => explainer.explain(branch, value))
  if (all.some((found) => found.length === 0)) return []
  const near = all.filter((found) => !found.some(isWrongKind))
  if (near.length === 0)
    return explainKinds(
      all.flatMap((found) => found.filter(isWrongKind)),
      value,
    )
  return explainTags(near, value) ?? findCheapest(near)
}

/** The first branch that fits, or else the one with the least against the value. */
function findClosestBranch(
  explainer: SchemaExplainer,
  branches: readonly AnySchema[],
  value: unknown,
): AnySchema | undefined {
  let best: AnySchema | undefined
  let bestCost = Infinity
  for (const branch of branches) {
    const cost = getCost(explainer.explain(branch, value))
    if (cost < bestCost) [best, bestCost] = [branch, cost]
    if (cost === 0) break
  }
  return best
}

function isWrongKind(found: ExplainedIssue): boolean {
  return found.path.length === 0 && (found.types !== undefined || found.allowed !== undefined)
}

function isWrongTag(found: ExplainedIssue): boolean {
  return found.path.length === 1 && found.allowed !== undefined
}

function getCost(issues: readonly ExplainedIssue[]): number {
  return issues.reduce((sum, found) => {
    if (isWrongKind(found)) return sum + WRONG_KIND_COST
    return sum + (isWrongTag(found) ? WRONG_TAG_COST : 1)
  }, 0)
}

function findCheapest(
  candidates: readonly (readonly ExplainedIssue[])[],
): readonly ExplainedIssue[] {
  return candidates.reduce((best, found) => (getCost(found) < getCost(best) ? found : best))
}

function explainKinds(found: readonly ExplainedIssue[], value: unknown): ExplainedIssue[] {
  const types = [...new Set(found.flatMap((each) => each.types ?? []))]
  const allowed = [...new Set(found.flatMap((each) => each.allowed ?? []))]
  if (allowed.length === 0)
    return [{ path: [], kind: 'invalid', message: describeTypeMismatch(types, value), types }]
  if (types.every((type) => type === 'null')) {
    const choices = types.length > 0 && !allowed.includes(null) ? [...allowed, null] : allowed
    return [
      { path: [], kind: 'invalid', ...describeChoiceMismatch(choices, value), allowed: choices },
    ]
  }
  const expected = joinWords('or', [...allowed.map(formatValue), ...types.map(nameType)])
  return [
    {
      path: [],
      kind: 'invalid',
      message: `must be ${expected}, got ${formatValue(value)}`,
      types,
      allowed,
    },
  ]
}

// A tag that no branch knows is named with the tags of all branches.
function explainTags(
  candidates: readonly (readonly ExplainedIssue[])[],
  value: unknown,
): ExplainedIssue[] | undefined {
  const key = candidates[0]!.find(isWrongTag)?.path[0]
  if (key === undefined || candidates.length < 2) return undefined
  const tags = candidates.map((found) =>
    found.find((each) => isWrongTag(each) && each.path[0] === key),
  )
  if (tags.some((tag) => tag === undefined)) return undefined
  const allowed = [...new Set(tags.flatMap((tag) => tag!.allowed ?? []))]
  return [
    {
      path: [key],
      kind: 'invalid',
      ...describeChoiceMismatch(allowed, (value as Record<string | number, unknown>)[key]),
      allowed,
    },
  ]
}

/** An issue on its way: with what unions need to know to choose among their branches. */
type ExplainedIssue = SchemaIssue & {
  readonly allowed?: readonly unknown[]
  readonly types?: readonly string[]
}

/**
 * Says in our words what a JSON Schema has against a value. It explains; whether a value is valid
 * is decided by the schema library.
 */
export type SchemaExplainer = SchemaMatcher & {
  explain(schema: AnySchema, value: unknown): readonly ExplainedIssue[]
}

/** Tests of string formats by name. */
export type FormatTests = { readonly [format: string]: (text: string) => boolean }
