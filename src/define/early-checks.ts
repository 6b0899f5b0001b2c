/**
 * What can be said about a tool when it is defined, before its schema is compiled: its JSON Schema
 * where that is quick to get, its flags, and examples that plainly do not fit.
 */

import { readPreparedSchema } from '../protocol/built-program.ts'
import type { Example, ToolMetadata } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { NamedFlag } from './argv.ts'
import { nameFlag } from './argv.ts'
import { checkFlags } from './checks.ts'
import type { FlagSpec } from './global-flags.ts'
import { classifySchema, DECODE_MARK, getLibraryOptions, SCHEMA_ADVICE } from './schema/source.ts'

/**
 * The JSON Schema of an input, where it is available without compiling; undefined otherwise. Throws
 * CONFIG for a schema that is no object.
 */
export function readInputSchemaEarly(source: unknown): JsonSchema | undefined {
  const schema = readPreparedSchema(source)?.json ?? writeInputSchema(source)
  if (schema && typeof schema['type'] === 'string' && schema['type'] !== 'object')
    throw new ToolError('CONFIG', 'the input schema must describe an object', {
      suggestion: SCHEMA_ADVICE,
    })
  return schema &&
    isObject(schema['properties']) &&
    !COMPOSING_KEYWORDS.some((keyword) => keyword in schema) &&
    !hasReferences(schema)
    ? schema
    : undefined
}

/**
 * The JSON Schema of an input as its author or its library writes it; undefined where the library
 * cannot.
 */
export function writeInputSchema(source: unknown): JsonSchema | undefined {
  const read = classifySchema(source)
  return 'plain' in read
    ? read.plain
    : tryOrUndefined(() => {
        const { vendor, jsonSchema } = read.standard['~standard']
        const libraryOptions = getLibraryOptions(vendor)
        return jsonSchema.input(compact({ target: 'draft-2020-12', libraryOptions }))
      })
}

const COMPOSING_KEYWORDS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', '$dynamicRef']

function hasReferences(schema: JsonSchema): boolean {
  try {
    return /"\$(ref|dynamicRef)"/.test(JSON.stringify(schema))
  } catch {
    return true
  }
}

// A schema that the library cannot convert is reported, with the reason, when it is compiled.
function tryOrUndefined<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

/** A flag without what only help and parsing need. */
type EarlyFlag = NamedFlag & Pick<FlagSpec, 'kind' | 'required'>

type EarlyFlagOwner = Pick<ToolMetadata, 'name' | 'flags' | 'positional'>

const KIND_BY_TYPE: ReadonlyMap<unknown, FlagSpec['kind']> = new Map([
  ['boolean', 'boolean'],
  ['array', 'list'],
  ['object', 'object'],
])

/** Refuses clashes on the command line as soon as a tool is defined. */
export function checkFlagsEarly(schema: JsonSchema, source: EarlyFlagOwner): void {
  checkFlags(source, listEarlyFlags(schema, source))
}

/** The flags of a plain object schema. */
export function listEarlyFlags(schema: JsonSchema, source: EarlyFlagOwner): EarlyFlag[] {
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const all = Object.entries(schema['properties'] as { [field: string]: unknown }).map(
    ([field, given]) => {
      const property = isObject(given) ? given : {}
      return {
        ...nameFlag(field, source),
        kind: KIND_BY_TYPE.get(property['type']) ?? 'value',
        required: required.includes(field) && !Object.hasOwn(property, 'default'),
      }
    },
  )
  // Positional flags keep the author's order.
  return [
    ...source.positional.flatMap((field) => all.find((flag) => flag.field === field) ?? []),
    ...all.filter((flag) => !flag.positional),
  ]
}

/**
 * Refuses examples that plainly do not fit as soon as a tool is defined; the rest is checked when
 * the schema is compiled.
 */
export function checkExamplesEarly(
  name: string,
  examples: readonly Example[],
  source: unknown,
  schema: JsonSchema | undefined,
): void {
  examples.forEach((example, index) => {
    const which = `example ${index + 1} of tool '${name}'`
    if (!isObject(example) || (example.input === undefined && example.args === undefined))
      throw new ToolError('CONFIG', `${which} needs 'input' or 'args'`)
    if (example.input === undefined) return
    // Dates and big integers are text in examples; only the compiled schema decodes them for the
    // library.
    if (!schema || JSON.stringify(schema).includes(DECODE_MARK)) return
    const problem =
      findPlainMismatch(schema, example.input) ?? validateWithLibrary(source, example.input)
    if (problem !== undefined)
      throw new ToolError('CONFIG', `${which} does not fit its input: ${problem}`)
  })
}

function validateWithLibrary(source: unknown, input: unknown): string | undefined {
  const read = classifySchema(source)
  const result = 'standard' in read ? read.standard['~standard'].validate(input) : undefined
  // An asynchronous check runs again when the schema is compiled; here its error is ignored.
  if (result instanceof Promise) return void result.catch(() => undefined)
  if (!result?.issues) return undefined
  const [issue] = result.issues
  const path = (issue?.path ?? [])
    .map((part) => String(typeof part === 'object' ? part.key : part))
    .join('.')
  return `${path ? `${path}: ` : ''}${issue?.message ?? 'it is refused'}`
}

/**
 * What is plainly wrong with a value, in words; undefined when nothing is, or when the schema says
 * more than can be read here.
 */
export function findPlainMismatch(schema: unknown, value: unknown, place = ''): string | undefined {
  if (!isObject(schema)) return undefined
  const { type, required, properties, items } = schema
  if (
    typeof type === 'string' &&
    Object.hasOwn(JSON_TYPE_TESTS, type) &&
    !JSON_TYPE_TESTS[type]!(value)
  )
    return `${place || 'the input'} must be of type ${type}`
  if (
    Array.isArray(schema['enum']) &&
    !isObject(value) &&
    !Array.isArray(value) &&
    !schema['enum'].includes(value)
  )
    return `${place} must be one of ${schema['enum'].join(', ')}`
  const outside = LIMIT_TESTS.find(
    ([keyword, exceeds]) => schema[keyword] !== undefined && exceeds(value, schema[keyword]),
  )
  if (outside) return `${place} does not keep to ${outside[0]} ${String(schema[outside[0]])}`
  if (Array.isArray(value))
    return findFirstMismatch(
      value.map((item, index) => [items, item, `${place}[${index}]`] as const),
    )
  if (!isObject(value) || !isObject(properties) || isOpenSchema(schema)) return undefined
  const at = (key: string): string => (place ? `${place}.${key}` : key)
  const missing = (Array.isArray(required) ? required : []).find(
    (key) => !Object.hasOwn(value, String(key)),
  )
  if (missing !== undefined) return `${at(String(missing))} is missing`
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(properties, key))
  if (unknown !== undefined) return `${at(unknown)} is not a field of it`
  return findFirstMismatch(
    Object.keys(value).map((key) => [properties[key], value[key], at(key)] as const),
  )
}

const OPENING_KEYWORDS = [
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  '$dynamicRef',
  'patternProperties',
  'unevaluatedProperties',
]

function isOpenSchema(schema: { readonly [keyword: string]: unknown }): boolean {
  return (
    OPENING_KEYWORDS.some((keyword) => keyword in schema) ||
    (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false)
  )
}

const JSON_TYPE_TESTS: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

const LIMIT_TESTS: readonly (readonly [
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

function findFirstMismatch(
  parts: readonly (readonly [schema: unknown, value: unknown, place: string])[],
): string | undefined {
  for (const [schema, value, place] of parts) {
    const misfit = findPlainMismatch(schema, value, place)
    if (misfit !== undefined) return misfit
  }
  return undefined
}
