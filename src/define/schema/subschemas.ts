/**
 * Access to the keywords and subschemas of a JSON Schema, own members only; and the words in which messages speak of values and types.
 */

import { ELLIPSIS, findClosest } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { isSchemaObject } from './source.ts'

/** A schema where JSON Schema also allows `true` and `false`. */
export type AnySchema = JsonSchema | boolean

const SINGLE_KEYWORDS = new Set([
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
const LIST_KEYWORDS = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf', 'items'])
const MAP_KEYWORDS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** True for what may stand where a schema is expected. */
export function isSchema(value: unknown): value is AnySchema {
  return typeof value === 'boolean' || isSchemaObject(value)
}

/**
 * A copy of the schema in which every direct subschema is replaced by what `change` gives for it;
 * other keywords stay as they are.
 */
export function mapSubschemas(
  schema: JsonSchema,
  change: (subschema: AnySchema, keyword: string) => unknown,
): JsonSchema {
  const changed = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (LIST_KEYWORDS.has(keyword) && Array.isArray(value))
      return [
        keyword,
        value.map((member: unknown) => (isSchema(member) ? change(member, keyword) : member)),
      ]
    if (SINGLE_KEYWORDS.has(keyword) && isSchema(value)) return [keyword, change(value, keyword)]
    if (MAP_KEYWORDS.has(keyword) && isSchemaObject(value)) {
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
export function forEachSubschema(
  schema: JsonSchema,
  visit: (subschema: AnySchema, keyword: string) => void,
): void {
  mapSubschemas(schema, (subschema, keyword) => {
    visit(subschema, keyword)
    return subschema
  })
}

/** The schemas of a list keyword (`allOf`, `anyOf`, …); empty when the keyword is absent. */
export function getSchemaList(schema: JsonSchema, keyword: string): readonly AnySchema[] {
  const value = getKeyword(schema, keyword)
  return Array.isArray(value) ? value.filter(isSchema) : []
}

/**
 * The schemas of a map keyword (`properties`, `patternProperties`, …); empty when the keyword is
 * absent.
 */
export function getSchemaEntries(
  schema: JsonSchema,
  keyword: string,
): readonly (readonly [string, AnySchema])[] {
  const value = getKeyword(schema, keyword)
  return isSchemaObject(value)
    ? Object.entries(value).filter((entry): entry is [string, AnySchema] => isSchema(entry[1]))
    : []
}

/** One member of a map keyword, own members only. */
export function getMemberSchema(
  schema: JsonSchema,
  keyword: string,
  key: string,
): AnySchema | undefined {
  const value = getKeyword(schema, keyword)
  if (!isSchemaObject(value) || !Object.hasOwn(value, key)) return undefined
  const member = value[key]
  return isSchema(member) ? member : undefined
}

/** A keyword of a schema, own members only. */
export function getKeyword(schema: JsonSchema, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
}

/** The type names of a schema; undefined where it does not name any. */
export function getTypes(schema: JsonSchema): readonly string[] | undefined {
  const type = getKeyword(schema, 'type')
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? type.filter((name) => typeof name === 'string') : undefined
}

const MAX_SHOWN_LENGTH = 80
const MAX_SHOWN_CHOICES = 20

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['null', 'null'],
  ['object', 'an object'],
  ['array', 'a list'],
])

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['email', 'an email address'],
  ['idn-email', 'an email address'],
  ['uri', 'a URL'],
  ['url', 'a URL'],
  ['uuid', 'a UUID'],
  ['guid', 'a UUID'],
  ['date', 'a date such as 2024-12-31'],
  ['date-time', 'a date and time such as 2024-12-31T23:59:59Z'],
  ['datetime', 'a date and time such as 2024-12-31T23:59:59Z'],
  ['time', 'a time such as 23:59:59Z'],
  ['duration', 'a duration such as PT5M'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
  ['hostname', 'a host name'],
  ['regex', 'a regular expression'],
  ['json-pointer', 'a JSON pointer'],
])

/** A value as messages show it: JSON, cut to about 80 characters; never throws. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string')
    return truncateShown(
      JSON.stringify(value.slice(0, MAX_SHOWN_LENGTH + 1)),
      value.length > MAX_SHOWN_LENGTH ? `${ELLIPSIS}"` : '"',
    )
  if (value === undefined) return 'nothing'
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint') return truncateShown(`${value}n`)
  if (typeof value === 'symbol') return 'a symbol'
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString()
  if (typeof value !== 'object' || value === null) return String(value)
  return truncateShown(JSON.stringify(pruneValue(value, 0)) ?? 'a value')
}

/** `a whole number`. */
export function nameType(type: string): string {
  return TYPE_WORDS.get(type) ?? type
}

/** `must be a whole number, got "abc"`. */
export function describeTypeMismatch(types: readonly string[], value: unknown): string {
  return `must be ${joinWords('or', types.map(nameType))}, got ${formatValue(value)}`
}

/** `must be an email address, got "x"`. */
export function describeFormatMismatch(format: string, value: unknown): string {
  return `must be ${FORMAT_WORDS.get(format) ?? `of the format ${format}`}, got ${formatValue(value)}`
}

/** `must be one of table, csv; got "tabel"; did you mean 'table'?` and what was probably meant. */
export function describeChoiceMismatch(
  allowed: readonly unknown[],
  value: unknown,
): { message: string; meant?: string } {
  if (allowed.length === 1)
    return withSuggestion(
      `must be ${formatValue(allowed[0])}, got ${formatValue(value)}`,
      allowed,
      value,
    )
  const shown = allowed
    .slice(0, MAX_SHOWN_CHOICES)
    .map((choice) => (typeof choice === 'string' ? truncateShown(choice) : formatValue(choice)))
  if (allowed.length > MAX_SHOWN_CHOICES)
    shown.push(`and ${allowed.length - MAX_SHOWN_CHOICES} more`)
  return withSuggestion(
    `must be one of ${shown.join(', ')}; got ${formatValue(value)}`,
    allowed,
    value,
  )
}

/** `1 item`, `2 items`. */
export function formatCount(number: unknown, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`
}

/** `a, b or c`. */
export function joinWords(word: 'and' | 'or', parts: readonly string[]): string {
  return parts.length < 2
    ? parts.join('')
    : `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`
}

function withSuggestion(
  message: string,
  allowed: readonly unknown[],
  value: unknown,
): { message: string; meant?: string } {
  const meant =
    typeof value === 'string'
      ? findClosest(
          value,
          allowed.filter((choice) => typeof choice === 'string'),
        )
      : undefined
  return meant === undefined
    ? { message }
    : { message: `${message}; did you mean '${meant}'?`, meant }
}

function truncateShown(text: string, ending = ELLIPSIS): string {
  return text.length <= MAX_SHOWN_LENGTH
    ? text
    : text.slice(0, MAX_SHOWN_LENGTH - ending.length) + ending
}

// Bounded before it is stringified: a message must not cost as much as its value is large.
function pruneValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, MAX_SHOWN_LENGTH)
  if (typeof value === 'bigint' || typeof value === 'function') return formatValue(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return formatValue(value)
  if (depth > 2) return ELLIPSIS
  if (Array.isArray(value))
    return value.slice(0, 20).map((item: unknown) => pruneValue(item, depth + 1))
  return Object.fromEntries(
    Object.keys(value)
      .slice(0, 20)
      .map((key) => [key, pruneValue((value as Record<string, unknown>)[key], depth + 1)]),
  )
}
