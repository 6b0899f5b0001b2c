/**
 * The validator of plain JSON Schema and what it needs around it: mistakes in the schema itself, values that JSON cannot carry, and patterns that could take too long.
 */

import type { Schema as CfworkerSchema } from '@cfworker/json-schema'
import { ToolError } from '../../protocol/tool-error.ts'
import { findClosest } from '../../util/text.ts'
import { isObject } from '../../util/values.ts'
import type { JsonSchema } from '../../util/values.ts'
import type { FormatTests } from './explain.ts'
import type { SchemaIssue } from './source.ts'
import {
  forEachSubschema,
  formatValue,
  getKeyword,
  getSchemaEntries,
  mapSubschemas,
} from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'
import { alignPath, formatPath, isPlainData } from './walk.ts'
import type { IssuePath } from './walk.ts'

type ValidationUnit = {
  readonly path: IssuePath
  readonly keyword: string
  readonly message: string
}

/** Decides about values; `validate` gives nothing for a valid one. */
export type PlainValidator = {
  readonly formats: FormatTests
  validate(value: unknown): readonly ValidationUnit[]
}

const KEYWORD_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['not', 'is what the schema excludes'],
  ['oneOf', 'fits more than one of the allowed forms'],
  ['false', 'is not allowed'],
  ['false schema', 'is not allowed'],
  ['contains', 'must have an item of the required kind'],
  ['minContains', 'has too few items of the required kind'],
  ['maxContains', 'has too many items of the required kind'],
])
const WRAPPER_KEYWORDS = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'items',
  'prefixItems',
  'additionalItems',
  '$ref',
  '$recursiveRef',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'if',
  'dependentSchemas',
  'propertyNames',
])

const MAX_UNITS = 1000

/**
 * Loads the validator that the schema needs. Late, because it is on the way of every program and
 * most never check plain JSON Schema.
 */
export async function loadValidator(schema: JsonSchema): Promise<PlainValidator> {
  const { Validator, format } = await import('@cfworker/json-schema')
  const formats = format as FormatTests
  if (usesDynamicScope(schema)) return await loadAjv(schema, formats)
  // A copy of its own: the validator writes hidden properties into the schema, and reads `id` and
  // unknown keywords as schema.
  const prepared = prepareForValidator(schema) as CfworkerSchema
  const thorough = new Validator(prepared, '2020-12', false)
  const brief = new Validator(prepared, '2020-12', true)
  return {
    formats,
    validate(value) {
      // Most values are valid, and the brief validator stops at the first fault; the thorough one
      // overflows on very many faults.
      const first = brief.validate(value)
      if (first.valid) return []
      const units = tryOrUndefined(() => thorough.validate(value).errors) ?? first.errors
      return units
        .slice(0, MAX_UNITS)
        .map((unit) => ({
          path: alignPath(decodePointer(unit.instanceLocation), value),
          keyword: unit.keyword,
          message: KEYWORD_MESSAGES.get(unit.keyword) ?? unit.error,
        }))
    },
  }
}

/** The units that say something by themselves, without those that only point to others. */
export function removeWrapperUnits(units: readonly ValidationUnit[]): readonly ValidationUnit[] {
  const own = units.filter((unit) => !WRAPPER_KEYWORDS.has(unit.keyword))
  return own.length > 0 ? own : units
}

function tryOrUndefined<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

async function loadAjv(schema: JsonSchema, formats: FormatTests): Promise<PlainValidator> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    logger: false,
    formats: { ...formats },
  })
  const validate = ajv.compile(prepareForValidator(schema))
  return {
    formats,
    validate: (value) => {
      if (validate(value)) return []
      return (validate.errors ?? [])
        .slice(0, MAX_UNITS)
        .map((error) => ({
          path: alignPath(decodePointer(error.instancePath), value),
          keyword: error.keyword,
          message: KEYWORD_MESSAGES.get(error.keyword) ?? error.message ?? 'is not valid',
        }))
    },
  }
}

function usesDynamicScope(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  let found = Object.hasOwn(schema, '$dynamicRef') || Object.hasOwn(schema, '$dynamicAnchor')
  forEachSubschema(schema, (subschema) => {
    found ||= usesDynamicScope(subschema)
  })
  return found
}

function prepareForValidator(schema: JsonSchema): JsonSchema {
  const copy = mapSubschemas(schema, (subschema) =>
    typeof subschema === 'boolean' ? subschema : prepareForValidator(subschema),
  )
  return Object.fromEntries(
    Object.entries(copy).filter(
      ([keyword]) =>
        !['id', 'default', 'examples', 'example'].includes(keyword) &&
        !keyword.startsWith('x-toolable-'),
    ),
  )
}

function decodePointer(pointer: string): string[] {
  const decode = pointer.startsWith('#') ? decodeURIComponent : (text: string) => text
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decode(part).replaceAll('~1', '/').replaceAll('~0', '~'))
}

const SCHEMA_TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']

/**
 * Throws CONFIG for what cannot be right in plain JSON Schema: misspelt types, patterns that do not
 * compile, keywords of the wrong form, circles.
 */
export function rejectSchemaMistakes(schema: JsonSchema): void {
  checkNode(schema, [], new Set())
}

function checkNode(schema: JsonSchema, path: IssuePath, ancestors: Set<unknown>): void {
  if (ancestors.has(schema))
    throw createSchemaError(path, 'contains itself; use $ref for recursive types')
  ancestors.add(schema)
  checkTypes(schema, path)
  checkKeywordForms(schema, path)
  for (const pattern of listPatterns(schema)) {
    try {
      new RegExp(pattern, 'u')
    } catch (error) {
      throw createSchemaError(
        path,
        `has the pattern ${pattern}, which does not compile: ${(error as Error).message}`,
      )
    }
  }
  forEachSubschema(schema, (subschema, keyword) => {
    if (typeof subschema !== 'boolean') checkNode(subschema, [...path, keyword], ancestors)
  })
  ancestors.delete(schema)
}

function checkTypes(schema: JsonSchema, path: IssuePath): void {
  const type = getKeyword(schema, 'type')
  if (type === undefined) return
  for (const name of Array.isArray(type) ? type : [type]) {
    if (SCHEMA_TYPES.includes(name as string)) continue
    const meant = typeof name === 'string' ? findClosest(name, SCHEMA_TYPES) : undefined
    throw createSchemaError(
      path,
      `has the type ${JSON.stringify(name)}; ${meant === undefined ? `types are ${SCHEMA_TYPES.join(', ')}` : `did you mean '${meant}'?`}`,
    )
  }
}

function checkKeywordForms(schema: JsonSchema, path: IssuePath): void {
  for (const keyword of [
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentSchemas',
  ]) {
    const value = getKeyword(schema, keyword)
    if (value === undefined) continue
    if (!isObject(value)) throw createSchemaError(path, `has '${keyword}' that is not an object`)
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'boolean' && !isObject(member))
        throw createSchemaError([...path, keyword, key], 'is not a schema')
    }
  }
  for (const keyword of ['required', 'enum', 'allOf', 'anyOf', 'oneOf', 'prefixItems']) {
    const value = getKeyword(schema, keyword)
    if (value !== undefined && !Array.isArray(value))
      throw createSchemaError(path, `has '${keyword}' that is not a list`)
  }
}

function listPatterns(schema: JsonSchema): string[] {
  const pattern = getKeyword(schema, 'pattern')
  const patterned = getKeyword(schema, 'patternProperties')
  return [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isObject(patterned) ? Object.keys(patterned) : []),
  ]
}

function createSchemaError(path: IssuePath, problem: string): ToolError {
  return new ToolError(
    'CONFIG',
    `the schema${path.length === 0 ? '' : ` at ${formatPath(path)}`} ${problem}`,
  )
}

const MAX_NON_JSON_ISSUES = 100

/**
 * What of a value JSON cannot carry: functions, symbols, bigints, holes, NaN, objects with a class,
 * circles. A property that is `undefined` is a gap, not a fault.
 */
export function findNonJson(value: unknown): {
  readonly issues: readonly SchemaIssue[]
  readonly hasGaps: boolean
} {
  const issues: SchemaIssue[] = []
  const ancestors = new Set<unknown>()
  const path: (string | number)[] = []
  let hasGaps = false
  const enter = (key: string | number, here: unknown): void => {
    path.push(key)
    visit(here)
    path.pop()
  }
  const visit = (here: unknown): void => {
    if (
      here === null ||
      typeof here === 'string' ||
      typeof here === 'boolean' ||
      Number.isFinite(here) ||
      issues.length > MAX_NON_JSON_ISSUES
    )
      return
    if (!isPlainData(here))
      issues.push({
        path: [...path],
        kind: 'invalid',
        message: `must be a JSON value, got ${nameValueKind(here)}`,
      })
    else if (ancestors.has(here))
      issues.push({ path: [...path], kind: 'invalid', message: 'must not contain itself' })
    else {
      ancestors.add(here)
      // Not forEach: it would jump over holes.
      // Past the most that are told, the rest is not looked at: a list may have billions of holes.
      if (Array.isArray(here))
        for (let index = 0; index < here.length && issues.length <= MAX_NON_JSON_ISSUES; index += 1)
          enter(index, here[index])
      else {
        for (const [key, item] of Object.entries(here)) {
          if (item === undefined) hasGaps = true
          else enter(key, item)
        }
      }
      ancestors.delete(here)
    }
  }
  visit(value)
  return { issues, hasGaps }
}

/** The same JSON value without the properties that are `undefined`. */
export function dropUndefined(value: unknown): unknown {
  if (!isPlainData(value)) return value
  if (Array.isArray(value)) return value.map(dropUndefined)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, dropUndefined(item)]),
  )
}

function nameValueKind(value: unknown): string {
  if (typeof value !== 'object' || value === null) return formatValue(value)
  const name: unknown = (value.constructor as { name?: unknown } | undefined)?.name
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'a special object'
}

const MAX_PATTERN_LENGTH = 1000
// How many ways there may be to try one place of a text, and a text that is tried at one place
// only.
const MAX_WAYS = { everywhere: 64, once: 100_000 }

/**
 * True when a schema has a pattern, or a format, whose check may take far longer than the text it
 * looks at.
 */
export function hasRiskyPatterns(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  const pattern = getKeyword(schema, 'pattern')
  if (typeof pattern === 'string' && isRiskyPattern(pattern)) return true
  if (getKeyword(schema, 'format') === 'url' || listKeyPatterns(schema).some(isRiskyPattern))
    return true
  let found = false
  forEachSubschema(schema, (subschema) => {
    found ||= hasRiskyPatterns(subschema)
  })
  return found
}

/**
 * True unless a pattern is plainly harmless: anchored, with at most one part that repeats without
 * end, and nothing repeated that repeats itself. Most patterns of real schemas are harmless; the
 * others are only watched.
 */
export function isRiskyPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_LENGTH) return true
  // Back references and look-around; then what stands for one character.
  if (/\\[1-9k]|\(\?(?!:)/.test(pattern)) return true
  const plain = pattern
    .replace(/\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|[^])/g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
  if (/\)(?:[*+]|\{)/.test(plain)) return true
  // An anchor holds only its own branch.
  const isAnchored = plain.startsWith('^') && !plain.includes('|')
  const endless = plain.match(/[*+]|\{\d*,\}/g)?.length ?? 0
  return (
    endless > (isAnchored ? 1 : 0) ||
    countWays(plain) > (isAnchored && endless === 0 ? MAX_WAYS.once : MAX_WAYS.everywhere)
  )
}

function countWays(plain: string): number {
  let ways = 1 + (plain.match(/\|/g)?.length ?? 0)
  for (const [, from = '', , to] of plain.matchAll(/\{(\d+)(,(\d+))?\}/g))
    ways *= to === undefined ? Math.max(1, Number(from) / 16) : Number(to) - Number(from) + 1
  return ways * 2 ** Math.min(30, plain.match(/(?<![*+?}])\?/g)?.length ?? 0)
}

function listKeyPatterns(schema: JsonSchema): string[] {
  return getSchemaEntries(schema, 'patternProperties').map(([pattern]) => pattern)
}
