/** Turns any foreign schema into plain JSON Schema 2020-12, keyword by keyword. */

import { findPlainMismatch } from '../../define/early-checks.ts'
import { isRiskyPattern } from '../../define/schema/plain-validator.ts'
import type { JsonSchema } from '../../util/values.ts'
import { asList, asObject, isObject } from '../../util/values.ts'
import { cleanText } from '../names.ts'

type SchemaMembers = { [keyword: string]: unknown }
/** A schema below the root. */
export type SanitizedNode = JsonSchema | boolean

const SINGLE_SCHEMA_KEYWORDS = [
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'unevaluatedItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]
const SCHEMA_LIST_KEYWORDS = ['prefixItems', 'allOf', 'anyOf', 'oneOf']

/** Converts a foreign schema, which is finite and free of references, into valid draft 2020-12. */
export function sanitizeNode(given: unknown, note: NoteListener): SanitizedNode {
  if (typeof given === 'boolean') return given
  if (typeof given === 'string') return readTypeWord(given) ?? toDescriptionSchema(given)
  if (Array.isArray(given))
    return given.length > 0 ? { anyOf: given.map((branch) => sanitizeNode(branch, note)) } : {}
  if (!isObject(given)) return {}
  const node: SchemaMembers = {}
  for (const [keyword, tame] of Object.entries(SIMPLE_KEYWORDS)) {
    const value = Object.hasOwn(given, keyword) ? tame(given[keyword], note) : undefined
    if (value !== undefined) node[keyword] = value
  }
  sanitizeSubschemas(node, given, note)
  sanitizeType(node, given, note)
  sanitizeBounds(node)
  liftRequired(node, given)
  dropInvalidDefault(node, note)
  return unwrapAllOf(node)
}

function toDescriptionSchema(text: string): JsonSchema {
  const description = cleanText(text, 1000)
  return description === undefined ? {} : { description }
}

function sanitizeSubschemas(node: SchemaMembers, given: JsonSchema, note: NoteListener): void {
  for (const keyword of SINGLE_SCHEMA_KEYWORDS) {
    const value = Object.hasOwn(given, keyword) ? given[keyword] : undefined
    const isTypeWord = keyword === 'items' && typeof value === 'string'
    if (keyword === 'items' && Array.isArray(value))
      node['prefixItems'] = value.map((item) => sanitizeNode(item, note))
    else if (isObject(value) || typeof value === 'boolean' || isTypeWord)
      node[keyword] = sanitizeNode(value, note)
  }
  if (Array.isArray(given['items']) && given['additionalItems'] === false) node['items'] = false
  for (const keyword of SCHEMA_LIST_KEYWORDS) {
    const value = Object.hasOwn(given, keyword) ? given[keyword] : undefined
    const members = isObject(value) ? [value] : asList(value)
    if (members.length === 0) continue
    const tamed = members.map((member) => sanitizeNode(member, note))
    const isFlat = keyword === 'allOf' || keyword === 'anyOf'
    node[keyword] = isFlat ? flattenUnion(keyword, tamed) : tamed
  }
  const { properties, patternProperties, dependentSchemas, dependencies } = given
  if (isObject(properties)) node['properties'] = sanitizeMembers(properties, note)
  else if (Array.isArray(properties)) node['properties'] = readPropertyList(properties, note)
  if (isObject(patternProperties))
    node['patternProperties'] = sanitizePatternProperties(patternProperties, note)
  const dependent = Object.entries({ ...asObject(dependencies), ...asObject(dependentSchemas) })
  const schemas = dependent.filter(([, value]) => isObject(value))
  if (schemas.length > 0)
    node['dependentSchemas'] = sanitizeMembers(Object.fromEntries(schemas), note)
}

function sanitizeMembers(members: JsonSchema, note: NoteListener): JsonSchema {
  return Object.fromEntries(
    Object.entries(members).map(([key, member]) => [key, sanitizeNode(member, note)]),
  )
}

// Members that are only another list of the same kind are merged into this one, without duplicates:
// so references that multiply fold together again.
function flattenUnion(
  keyword: 'allOf' | 'anyOf',
  members: readonly SanitizedNode[],
): readonly SanitizedNode[] {
  const flat = members.flatMap((member) =>
    isObject(member) && Array.isArray(member[keyword]) && Object.keys(member).length === 1
      ? (member[keyword] as SanitizedNode[])
      : [member],
  )
  return flat.length < 2
    ? flat
    : [...new Map(flat.map((member) => [JSON.stringify(member), member])).values()]
}

function unwrapAllOf(node: SchemaMembers): SanitizedNode {
  const [only, ...others] = Array.isArray(node['allOf']) ? (node['allOf'] as SanitizedNode[]) : []
  return isObject(only) && others.length === 0 && Object.keys(node).length === 1 ? only : node
}

// `properties: [{name: 'a', type: 'string'}, …]`, as some write it.
function readPropertyList(list: readonly unknown[], note: NoteListener): JsonSchema {
  return Object.fromEntries(
    list
      .filter(isObject)
      .flatMap(({ name, ...schema }) =>
        typeof name === 'string' ? [[name, sanitizeNode(schema, note)] as const] : [],
      ),
  )
}

function sanitizePatternProperties(given: JsonSchema, note: NoteListener): JsonSchema {
  return Object.fromEntries(
    Object.entries(given).flatMap(([pattern, member]) => {
      const tamed = sanitizePattern(pattern)
      // Without its pattern any key has to be accepted.
      if (tamed === undefined)
        note('a pattern of keys that JavaScript does not understand was left out')
      return [[tamed ?? '', tamed === undefined ? {} : sanitizeNode(member, note)] as const]
    }),
  )
}

function sanitizeType(node: SchemaMembers, given: JsonSchema, note: NoteListener): void {
  const { type, nullable } = given
  const known: JsonSchema[] = []
  for (const word of type === undefined ? [] : [type].flat()) {
    const read = typeof word === 'string' ? readTypeWord(word) : asObject(word) && {}
    if (read) known.push(read)
    else note(`the type ${JSON.stringify(word)?.slice(0, 40)} is not known and was left out`)
  }
  if (known.length > 0 && known.every((schema) => schema['type'] !== undefined)) {
    const types = new Set(known.flatMap((schema) => schema['type'] as string | string[]))
    if (nullable === true) types.add('null')
    node['type'] = types.size === 1 ? [...types][0] : [...types]
    if (known.length === 1)
      for (const [keyword, value] of Object.entries(known[0]!))
        if (keyword !== 'type') node[keyword] ??= value
  }
  if (nullable === true && Array.isArray(node['enum']) && !node['enum'].includes(null))
    node['enum'] = [...(node['enum'] as unknown[]), null]
}

// Draft 4 said `minimum: 3, exclusiveMinimum: true`.
function sanitizeBounds(node: SchemaMembers): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof node[exclusive] !== 'boolean') continue
    if (node[exclusive] && node[limit] !== undefined) {
      node[exclusive] = node[limit]
      delete node[limit]
    } else delete node[exclusive]
  }
}

// `required: true` on a field is draft 3, and still common. Every required name has to be a field.
function liftRequired(node: SchemaMembers, given: JsonSchema): void {
  const marked = Object.entries(asObject(given['properties']) ?? {})
    .filter(([, member]) => asObject(member)?.['required'] === true)
    .map(([key]) => key)
  const required = [...new Set([...(asList(node['required']) as string[]), ...marked])]
  if (required.length > 0) node['required'] = required
  else delete node['required']
  const { properties } = node
  if (!isObject(properties)) return
  const missing = required.filter((key) => !Object.hasOwn(properties, key))
  node['properties'] = { ...properties, ...Object.fromEntries(missing.map((key) => [key, {}])) }
}

// An invalid default would break every call that relies on it.
function dropInvalidDefault(node: SchemaMembers, note: NoteListener): void {
  if (!Object.hasOwn(node, 'default') || matchesSchema(node, node['default'])) return
  delete node['default']
  note('a default that does not fit its own schema was left out')
}

function matchesSchema(schema: JsonSchema, value: unknown): boolean {
  if (findPlainMismatch(schema, value) !== undefined) return false
  const { type, const: constant, anyOf, oneOf, allOf, not, pattern } = schema
  const isOfType = (each: string): boolean => findPlainMismatch({ type: each }, value) === undefined
  if (Array.isArray(type) && !type.some(isOfType)) return false
  if (Object.hasOwn(schema, 'const') && JSON.stringify(constant) !== JSON.stringify(value))
    return false
  if (not !== undefined) return false
  if (typeof pattern === 'string')
    if (isRiskyPattern(pattern) || !new RegExp(pattern, 'u').test(String(value))) return false
  const matches = (branch: unknown): boolean =>
    branch === true || (isObject(branch) && matchesSchema(branch, value))
  if ([anyOf, oneOf].some((union) => Array.isArray(union) && !union.some(matches))) return false
  return asList(allOf).every(matches)
}

const MAX_TEXT_LENGTH = 4000
// Longer lists are neither read nor worth checking.
const MAX_ENUM_VALUES = 2000
const PATH_DIRECTIONS: readonly unknown[] = ['in', 'out', 'inout']

/** Receives notes on what could not be used as it was. */
export type NoteListener = (note: string) => void

/** Makes the value of a keyword usable; undefined leaves the keyword out. */
type KeywordSanitizer = (value: unknown, note: NoteListener) => unknown

const toNumber: KeywordSanitizer = (value) => {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined
}
const toCount: KeywordSanitizer = (value, note) => {
  const read = toNumber(value, note) as number | undefined
  return read !== undefined && read >= 0 ? Math.floor(read) : undefined
}
const toBoolean: KeywordSanitizer = (value) => (typeof value === 'boolean' ? value : undefined)
const toText: KeywordSanitizer = (value) => cleanText(value, MAX_TEXT_LENGTH)
const keepAnything: KeywordSanitizer = (value) => value

/**
 * The keywords that hold no schemas, and how each is sanitized. Keywords in neither list are left
 * out.
 */
const SIMPLE_KEYWORDS: { readonly [keyword: string]: KeywordSanitizer } = {
  title: toText,
  description: toText,
  default: keepAnything,
  examples: (value) => (Array.isArray(value) ? value.slice(0, 5) : undefined),
  deprecated: toBoolean,
  readOnly: toBoolean,
  writeOnly: toBoolean,
  const: keepAnything,
  enum: (value, note) => {
    if (Array.isArray(value) && value.length > 0 && value.length <= MAX_ENUM_VALUES) return value
    note(
      Array.isArray(value)
        ? `an enum of ${value.length} values was left out`
        : 'an enum that is no list was left out',
    )
    return undefined
  },
  minimum: toNumber,
  maximum: toNumber,
  exclusiveMinimum: (value, note) => toBoolean(value, note) ?? toNumber(value, note),
  exclusiveMaximum: (value, note) => toBoolean(value, note) ?? toNumber(value, note),
  multipleOf: (value, note) => {
    const read = toNumber(value, note) as number | undefined
    return read !== undefined && read > 0 ? read : undefined
  },
  minLength: toCount,
  maxLength: toCount,
  minItems: toCount,
  maxItems: toCount,
  minContains: toCount,
  maxContains: toCount,
  minProperties: toCount,
  maxProperties: toCount,
  uniqueItems: toBoolean,
  // Validators look up formats by name in plain objects.
  format: (value) =>
    typeof value === 'string' && /^[a-z][a-z0-9-]{0,40}$/i.test(value) && !(value in {})
      ? value
      : undefined,
  pattern: (value, note) => {
    const pattern = typeof value === 'string' ? sanitizePattern(value) : undefined
    if (pattern === undefined) note('a pattern that JavaScript does not understand was left out')
    return pattern
  },
  contentEncoding: toText,
  contentMediaType: toText,
  required: (value) => {
    if (typeof value === 'string') return [value]
    if (!Array.isArray(value)) return undefined
    return [...new Set(value.filter((name) => typeof name === 'string'))]
  },
  dependentRequired: (value) =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).filter(
            ([, names]) => Array.isArray(names) && names.every((name) => typeof name === 'string'),
          ),
        )
      : undefined,
  // Only the direction of a path: its owner checks the rest.
  'x-toolable-path': (value) =>
    isObject(value) && PATH_DIRECTIONS.includes(value['direction'])
      ? { direction: value['direction'] }
      : undefined,
}

const MAX_PATTERN_LENGTH = 2000

/**
 * A pattern that JavaScript understands in Unicode mode, repaired where that is easy (`\-`, `\Z`,
 * `(?P<name>`); undefined when it cannot be.
 */
function sanitizePattern(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined
  if (isValidPattern(pattern)) return pattern
  const repaired = pattern
    .replace(/\(\?P</g, '(?<')
    .replace(/\\([\s\S])/g, (escape, character: string, index: number) =>
      repairEscape(escape, character, pattern, index),
    )
  return isValidPattern(repaired) ? repaired : undefined
}

function repairEscape(escape: string, character: string, pattern: string, index: number): string {
  if (character === 'Z' || character === 'z') return '$'
  if (character === 'A') return '^'
  if (/[\^$\\.*+?()[\]{}|/dDwWsSbBnrtvfcxukpP0-9]/.test(character)) return escape
  // A dash may be escaped only within brackets.
  return character === '-' && pattern.lastIndexOf('[', index) > pattern.lastIndexOf(']', index)
    ? escape
    : character
}

function isValidPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

const TYPE_WORDS: { readonly [type: string]: string } = {
  string: 'string str text char varchar unicode uuid email url uri secret password bytes',
  integer: 'integer int int32 int64 long short uint uint32 uint64 bigint',
  number: 'number float double decimal real numeric float32 float64 f32 f64',
  boolean: 'boolean bool flag',
  object: 'object dict map hash struct record mapping json',
  array: 'array list tuple set sequence vector',
  null: 'null none nonetype nil void',
}
const FORMATS_BY_WORD: { readonly [word: string]: string } = {
  date: 'date',
  datetime: 'date-time',
  timestamp: 'date-time',
  path: 'path',
  file: 'path',
  filename: 'path',
  filepath: 'path',
  directory: 'path',
  folder: 'path',
}
const TYPES_BY_WORD: ReadonlyMap<string, string> = new Map(
  Object.entries(TYPE_WORDS).flatMap(([type, words]) =>
    words.split(' ').map((word) => [word, type] as const),
  ),
)

/**
 * The schema of a type name in any of many languages: `int`, `Optional[str]`, `List[int]`,
 * `string[]`, `dict`. Undefined for an unknown one. An empty schema accepts anything.
 */
function readTypeWord(given: string, depth = 0): JsonSchema | undefined {
  const word = given.trim().toLowerCase()
  if (depth > 4 || word.length > 100) return undefined
  if (word === 'any' || word === 'mixed' || word === 'unknown' || word === 'typing.any') return {}
  const type = TYPES_BY_WORD.get(word)
  if (type !== undefined) return { type }
  if (Object.hasOwn(FORMATS_BY_WORD, word)) return { type: 'string', format: FORMATS_BY_WORD[word] }
  if (word.endsWith('[]')) return toArraySchema(word.slice(0, -2), depth)
  const [, outer = '', inner = ''] = /^(?:typing\.)?([a-z]+)[[<](.*)[\]>]$/.exec(word) ?? []
  if (outer === 'optional') return toNullable(readTypeWord(inner, depth + 1))
  if (TYPES_BY_WORD.get(outer) === 'array') return toArraySchema(inner, depth)
  return TYPES_BY_WORD.get(outer) === 'object' ? { type: 'object' } : undefined
}

function toArraySchema(inner: string, depth: number): JsonSchema {
  return { type: 'array', items: readTypeWord(inner, depth + 1) ?? {} }
}

function toNullable(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (!schema || typeof schema['type'] !== 'string') return schema
  return { ...schema, type: [schema['type'], 'null'] }
}
