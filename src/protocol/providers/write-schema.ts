/**
 * Writes a shape as a schema: plain JSON Schema, the strict form of OpenAI, and the OpenAPI subset
 * of Gemini. Limits that a provider refuses as keywords go into the description.
 */

import { shorten } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import {
  FIELD_NAME_RULES,
  listVariants,
  pickDefault,
  toProviderFieldNames,
  withAnnotations,
} from './object-input.ts'
import type { FieldNameRule, ShapeVariant } from './object-input.ts'
import { ANY_SHAPE, isAnyShape, isOpenShape } from './schema-shape.ts'
import type { SchemaShape, SchemaShapeType } from './schema-shape.ts'

/**
 * Writes a shape as JSON Schema without references, `allOf` or lists of types: what every provider
 * that speaks JSON Schema reads.
 */
export function writeJsonSchema(shape: SchemaShape, rule?: FieldNameRule): JsonSchema {
  const branches = listVariants(shape)
  const [only] = branches
  // Without a type null fits already.
  const isNullable = shape.nullable && !isAnyShape(shape)
  if (branches.length === 1 && !isNullable)
    return writeJsonBranch(withAnnotations(only!, shape), rule)
  const { description, limits } = shape
  return {
    ...compact({ description }),
    ...pickDefault(limits),
    anyOf: [
      ...branches.map((branch) => writeJsonBranch(branch, rule)),
      ...(isNullable ? [{ type: 'null' }] : []),
    ],
  }
}

function writeJsonBranch(shape: ShapeVariant, rule: FieldNameRule | undefined): JsonSchema {
  const { types, description, values, limits } = shape
  const [type] = types ?? []
  return {
    ...compact({ type, description, enum: values }),
    ...limits,
    ...(type === 'object' && writeJsonObject(shape, rule)),
    ...(type === 'array' && writeJsonArray(shape, rule)),
  }
}

function writeJsonObject(
  { properties, required, additional }: ShapeVariant,
  rule: FieldNameRule | undefined,
): JsonSchema {
  const names = rule ? toProviderFieldNames(properties.keys(), rule) : undefined
  const named = (key: string): string => names?.get(key) ?? key
  return compact({
    properties: Object.fromEntries(
      [...properties].map(([key, inner]) => [named(key), writeJsonSchema(inner, rule)]),
    ),
    required:
      required.size > 0 ? [...required].filter((key) => properties.has(key)).map(named) : undefined,
    additionalProperties:
      additional !== undefined
        ? typeof additional === 'boolean'
          ? additional
          : writeJsonSchema(additional, rule)
        : undefined,
  })
}

function writeJsonArray(
  { items, prefix }: ShapeVariant,
  rule: FieldNameRule | undefined,
): JsonSchema {
  if (!prefix) return { items: items ? writeJsonSchema(items, rule) : {} }
  // Not every provider knows tuples; a list of whatever may stand in one says almost as much.
  const kinds = [...prefix, ...(items ? [items] : [])].map((inner) => writeJsonSchema(inner, rule))
  return { items: kinds.length === 1 ? kinds[0] : { anyOf: kinds } }
}

// The limits that OpenAI documents for structured outputs.
const MAX_STRICT_DEPTH = 10
const MAX_STRICT_PROPERTIES = 5000
const MAX_STRICT_ENUM_VALUES = 1000
const MAX_STRICT_CHARACTERS = 120_000
const MAX_LONG_ENUM = { values: 250, characters: 15_000 }
const STRICT_FORMATS = new Set<unknown>([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])
const STRICT_KEYWORDS = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
])

/** A shape in the strict form of OpenAI, or why it has none. */
type StrictSchema = { readonly schema: JsonSchema } | { readonly problem: string }

/**
 * Writes the shape of an input so that a model can be held to it: objects closed, every field
 * required, what is optional may be null instead.
 */
export function writeStrictSchema(shape: SchemaShape): StrictSchema {
  const work: StrictWriterState = { problem: undefined, properties: 0, values: 0, characters: 0 }
  const schema = writeStrictNode(work, shape, 1, false, '')
  if (work.properties > MAX_STRICT_PROPERTIES)
    work.problem ??= `it has more than ${MAX_STRICT_PROPERTIES} fields`
  if (work.values > MAX_STRICT_ENUM_VALUES)
    work.problem ??= `it has more than ${MAX_STRICT_ENUM_VALUES} enum values`
  if (work.characters > MAX_STRICT_CHARACTERS)
    work.problem ??= `its names and enum values have more than ${MAX_STRICT_CHARACTERS} characters`
  return work.problem === undefined ? { schema } : { problem: work.problem }
}

type StrictWriterState = {
  problem: string | undefined
  properties: number
  values: number
  characters: number
}

function writeStrictNode(
  work: StrictWriterState,
  shape: SchemaShape,
  depth: number,
  isOptional: boolean,
  path: string,
): JsonSchema {
  if (depth > MAX_STRICT_DEPTH)
    work.problem ??= `'${path}' is nested deeper than ${MAX_STRICT_DEPTH} levels`
  if (work.problem !== undefined) return {}
  const branches = listVariants(shape)
  const isNullable = shape.nullable || isOptional
  if (branches.length === 1 && !isNullable)
    return writeStrictBranch(work, withAnnotations(branches[0]!, shape), depth, path)
  const description = describeLimits(shape.description, pickDefault(shape.limits))
  return compact({
    description,
    anyOf: [
      ...branches.map((branch) => writeStrictBranch(work, branch, depth, path)),
      ...(isNullable ? [{ type: 'null' }] : []),
    ],
  })
}

function writeStrictBranch(
  work: StrictWriterState,
  shape: ShapeVariant,
  depth: number,
  path: string,
): JsonSchema {
  const [type] = shape.types ?? []
  const at = path === '' ? 'the input' : `'${path}'`
  if (type === undefined) {
    work.problem ??= `${at} may hold anything`
    return {}
  }
  const { kept, said } = splitLimits(shape)
  const description = describeLimits(shape.description, said)
  return {
    type,
    ...compact({ description }),
    ...(shape.values && writeStrictEnum(work, shape.values, at)),
    ...kept,
    ...(type === 'object' && writeStrictObject(work, shape, depth, path, at)),
    ...(type === 'array' && writeStrictArray(work, shape, depth, path, at)),
  }
}

function writeStrictObject(
  work: StrictWriterState,
  shape: ShapeVariant,
  depth: number,
  path: string,
  at: string,
): JsonSchema {
  if (isOpenShape(shape)) work.problem ??= `${at} is open: it may have fields that nobody described`
  work.properties += shape.properties.size
  for (const key of shape.properties.keys()) work.characters += key.length
  const unknown = [...shape.required].find((key) => !shape.properties.has(key))
  if (unknown !== undefined) work.problem ??= `${at} requires '${unknown}', which nobody described`
  return {
    properties: Object.fromEntries(
      [...shape.properties].map(([key, inner]) => [
        key,
        writeStrictNode(
          work,
          inner,
          depth + 1,
          !shape.required.has(key),
          path === '' ? key : `${path}.${key}`,
        ),
      ]),
    ),
    required: [...shape.properties.keys()],
    additionalProperties: false,
  }
}

function writeStrictArray(
  work: StrictWriterState,
  { items, prefix }: ShapeVariant,
  depth: number,
  path: string,
  at: string,
): JsonSchema {
  const kinds = [...(prefix ?? []), ...(items ? [items] : [])].map((inner) =>
    writeStrictNode(work, inner, depth + 1, false, `${path}[]`),
  )
  if (kinds.length === 0) work.problem ??= `the items of ${at} may be anything`
  return { items: kinds.length === 1 ? kinds[0] : { anyOf: kinds } }
}

function writeStrictEnum(
  work: StrictWriterState,
  values: readonly unknown[],
  at: string,
): JsonSchema {
  const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0)
  work.values += values.length
  work.characters += characters
  if (values.some((value) => typeof value === 'object'))
    work.problem ??= `${at} is one of several objects or lists`
  if (values.length > MAX_LONG_ENUM.values && characters > MAX_LONG_ENUM.characters)
    work.problem ??= `the enum of ${at} has more than ${MAX_LONG_ENUM.characters} characters`
  return { enum: values }
}

function splitLimits({ limits }: ShapeVariant): {
  readonly kept: JsonSchema
  readonly said: JsonSchema
} {
  const isKept = (keyword: string): boolean => {
    if (keyword === 'format') return STRICT_FORMATS.has(limits[keyword])
    if (keyword === 'pattern') return isStrictPattern(limits[keyword])
    return STRICT_KEYWORDS.has(keyword) && typeof limits[keyword] === 'number'
  }
  return {
    kept: pickKeywords(limits, isKept),
    said: pickKeywords(limits, (keyword) => !isKept(keyword)),
  }
}

// Look-around, back references and Unicode classes are refused with the whole request.
function isStrictPattern(pattern: unknown): boolean {
  return (
    typeof pattern === 'string' && pattern.length <= 500 && !/\(\?(?!:)|\\[1-9kpPbBu]/.test(pattern)
  )
}

function pickKeywords(limits: JsonSchema, keeps: (keyword: string) => boolean): JsonSchema {
  return Object.fromEntries(Object.entries(limits).filter(([keyword]) => keeps(keyword)))
}

const MAX_GEMINI_DEPTH = 10
const GEMINI_FORMATS: { readonly [Type in SchemaShapeType]?: readonly unknown[] } = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}
const GEMINI_KEYWORDS = new Set([
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
])
// A schema without a type is refused, so "anything" has to be spelt out.
const GEMINI_ANY_TYPES = ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'].map((type) => ({ type }))

/**
 * Writes a shape in the subset of OpenAPI 3.0 that Gemini reads: one type in capitals, `nullable`,
 * `anyOf` alone, enums of text.
 */
export function writeGeminiSchema(shape: SchemaShape, depth = 1): JsonSchema {
  if (depth > MAX_GEMINI_DEPTH)
    return { type: 'OBJECT', description: shape.description ?? 'Nests further' }
  const kinds = listVariants(shape)
  const isNullable = shape.nullable && !isAnyShape(shape) && { nullable: true }
  if (kinds.length === 0)
    return compact({ type: 'STRING', description: shape.description, nullable: true })
  if (kinds.length === 1 && kinds[0]!.types)
    return { ...writeGeminiBranch(withAnnotations(kinds[0]!, shape), depth)[0], ...isNullable }
  const description = describeLimits(shape.description, pickDefault(shape.limits))
  // Nothing may stand beside `anyOf`; each branch carries what is true of all.
  return {
    anyOf: kinds
      .flatMap((kind) => writeGeminiBranch(kind, depth))
      .map((branch) => ({ ...compact({ description }), ...branch, ...isNullable })),
  }
}

function writeGeminiBranch(shape: ShapeVariant, depth: number): JsonSchema[] {
  const [type] = shape.types ?? []
  if (type === undefined) return GEMINI_ANY_TYPES
  const { limits, values } = shape
  const isKept = (keyword: string): boolean =>
    keyword === 'format'
      ? (GEMINI_FORMATS[type]?.includes(limits[keyword]) ?? false)
      : GEMINI_KEYWORDS.has(keyword) &&
        typeof limits[keyword] === (keyword === 'pattern' ? 'string' : 'number')
  const texts = type === 'string' && values?.every((value) => value !== '') ? values : undefined
  const said = Object.fromEntries(Object.entries(limits).filter(([keyword]) => !isKept(keyword)))
  const description = describeLimits(
    shape.description,
    said,
    values && !texts ? [`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`] : [],
  )
  return [
    {
      type: type.toUpperCase(),
      ...compact({ description, enum: texts }),
      ...Object.fromEntries(Object.entries(limits).filter(([keyword]) => isKept(keyword))),
      ...(type === 'object' && writeGeminiObject(shape, depth)),
      ...compact({ items: type === 'array' ? writeGeminiItems(shape, depth) : undefined }),
    },
  ]
}

function writeGeminiObject({ properties, required }: ShapeVariant, depth: number): JsonSchema {
  // An empty map of properties is refused; none at all is an object of any kind.
  if (properties.size === 0) return {}
  const names = toProviderFieldNames(properties.keys(), FIELD_NAME_RULES.gemini)
  const needed = [...required].filter((key) => properties.has(key)).map((key) => names.get(key)!)
  return compact({
    properties: Object.fromEntries(
      [...properties].map(([key, inner]) => [names.get(key)!, writeGeminiSchema(inner, depth + 1)]),
    ),
    required: needed.length > 0 ? needed : undefined,
  })
}

function writeGeminiItems({ items, prefix }: ShapeVariant, depth: number): JsonSchema {
  const kinds = [...(prefix ?? []), ...(items ? [items] : [])]
  const [only] = kinds
  if (only === undefined) return { anyOf: GEMINI_ANY_TYPES }
  return kinds.length === 1
    ? writeGeminiSchema(only, depth + 1)
    : writeGeminiSchema(
        { ...ANY_SHAPE, nullable: kinds.some((kind) => kind.nullable), anyOf: kinds },
        depth + 1,
      )
}

const KEYWORD_WORDS: { readonly [keyword: string]: (limit: unknown) => string } = {
  format: (limit) => `format ${String(limit)}`,
  pattern: (limit) => `pattern ${shorten(String(limit), 200)}`,
  minLength: (limit) => `at least ${String(limit)} characters`,
  maxLength: (limit) => `at most ${String(limit)} characters`,
  minimum: (limit) => `at least ${String(limit)}`,
  maximum: (limit) => `at most ${String(limit)}`,
  exclusiveMinimum: (limit) => `above ${String(limit)}`,
  exclusiveMaximum: (limit) => `below ${String(limit)}`,
  multipleOf: (limit) => `a multiple of ${String(limit)}`,
  minItems: (limit) => `at least ${String(limit)} items`,
  maxItems: (limit) => `at most ${String(limit)} items`,
  uniqueItems: () => 'no item twice',
  minProperties: (limit) => `at least ${String(limit)} fields`,
  maxProperties: (limit) => `at most ${String(limit)} fields`,
  default: (limit) => `default ${shorten(JSON.stringify(limit) ?? String(limit), 200)}`,
}

/**
 * A description that also says what a provider does not take as a keyword; undefined when there is
 * nothing to say.
 */
function describeLimits(
  description: string | undefined,
  limits: { readonly [keyword: string]: unknown },
  more: readonly string[] = [],
): string | undefined {
  const said = [
    ...Object.entries(limits)
      .filter(([keyword, limit]) => limit !== false && Object.hasOwn(KEYWORD_WORDS, keyword))
      .map(([keyword, limit]) => KEYWORD_WORDS[keyword]!(limit)),
    ...more,
  ]
  if (said.length === 0) return description
  return description === undefined
    ? capitalize(said.join(', '))
    : `${description} (${said.join(', ')})`
}

function capitalize(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
