/**
 * Writes a shape as a schema. One walk writes plain JSON Schema; the strict form of OpenAI and the
 * OpenAPI subset of Gemini override its rules. Limits that a provider refuses as keywords go into
 * the description.
 */

import { shorten } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { FieldNameRule, ShapeVariant } from './object-input.ts'
import {
  FIELD_NAME_RULES,
  listVariants,
  pickDefault,
  toProviderFieldNames,
  withAnnotations,
} from './object-input.ts'
import type { SchemaShape, SchemaShapeType } from './schema-shape.ts'
import { ANY_SHAPE, isAnyShape, isOpenShape } from './schema-shape.ts'

/**
 * Writes a shape as JSON Schema without references, `allOf` or lists of types: what every provider
 * that speaks JSON Schema reads.
 */
export function writeJsonSchema(shape: SchemaShape, rule?: FieldNameRule): JsonSchema {
  return new SchemaWriter(rule).write(shape, ROOT)
}

/** A shape in the strict form of OpenAI, or why it has none. */
type StrictSchema = { readonly schema: JsonSchema } | { readonly problem: string }

/**
 * Writes the shape of an input so that a model can be held to it: objects closed, every field
 * required, what is optional may be null instead.
 */
export function writeStrictSchema(shape: SchemaShape): StrictSchema {
  const writer = new StrictSchemaWriter()
  const schema = writer.write(shape, ROOT)
  const problem = writer.findProblem()
  return problem === undefined ? { schema } : { problem }
}

/**
 * Writes a shape in the subset of OpenAPI 3.0 that Gemini reads: one type in capitals, `nullable`,
 * `anyOf` alone, enums of text.
 */
export function writeGeminiSchema(shape: SchemaShape): JsonSchema {
  return new GeminiSchemaWriter(FIELD_NAME_RULES.gemini).write(shape, ROOT)
}

/** Where in an input a shape is. */
type ShapePlace = {
  readonly depth: number
  readonly path: string
  /** A field that need not be given. */
  readonly isOptional: boolean
}

const ROOT: ShapePlace = { depth: 1, path: '', isOptional: false }

class SchemaWriter {
  constructor(private readonly names?: FieldNameRule) {}

  write(shape: SchemaShape, at: ShapePlace): JsonSchema {
    const variants = listVariants(shape)
    const isNullable = this.isNullable(shape, at)
    if (variants.length === 1 && !isNullable)
      return this.writeVariant(withAnnotations(variants[0]!, shape), at)
    const { kept, said } = this.splitLimits(pickDefault(shape.limits))
    const anyOf = variants.map((variant) => this.writeVariant(variant, at))
    if (isNullable) anyOf.push({ type: 'null' })
    return compact({ description: describeLimits(shape.description, said), ...kept, anyOf })
  }

  // Without a type null fits already.
  protected isNullable(shape: SchemaShape, _at: ShapePlace): boolean {
    return shape.nullable && !isAnyShape(shape)
  }

  protected keepsLimit(_keyword: string, _limit: unknown, _type?: SchemaShapeType): boolean {
    return true
  }

  protected writeType(type: SchemaShapeType): string {
    return type
  }

  /** The values that may be written as an enum; undefined where they are said in words. */
  protected pickValues({ values }: ShapeVariant, _at: ShapePlace): readonly unknown[] | undefined {
    return values
  }

  protected writeVariant(variant: ShapeVariant, at: ShapePlace): JsonSchema {
    const [type] = variant.types ?? []
    const { kept, said } = this.splitLimits(variant.limits, type)
    const values = this.pickValues(variant, at)
    const unwritten = values ? undefined : variant.values
    return {
      ...compact({
        type: type && this.writeType(type),
        description: describeLimits(variant.description, said, unwritten),
        enum: values,
      }),
      ...kept,
      ...this.writeInside(type, variant, at),
    }
  }

  private writeInside(
    type: SchemaShapeType | undefined,
    variant: ShapeVariant,
    at: ShapePlace,
  ): JsonSchema {
    if (type === 'object') return this.writeObject(variant, at)
    if (type !== 'array') return {}
    const kinds = [...(variant.prefix ?? []), ...(variant.items ? [variant.items] : [])]
    const inside = { depth: at.depth + 1, path: `${at.path}[]`, isOptional: false }
    return { items: this.writeItems(kinds, inside, at) }
  }

  // Not every provider knows tuples; a list of all kinds that may be in one says almost as much.
  protected writeItems(
    kinds: readonly SchemaShape[],
    inside: ShapePlace,
    _at: ShapePlace,
  ): JsonSchema {
    if (kinds.length === 0) return {}
    const written = kinds.map((kind) => this.write(kind, inside))
    return written.length === 1 ? written[0]! : { anyOf: written }
  }

  protected writeObject(variant: ShapeVariant, at: ShapePlace): JsonSchema {
    const { additional, required } = variant
    return compact({
      properties: this.writeProperties(variant, at),
      required: required.size > 0 ? this.listRequired(variant) : undefined,
      additionalProperties:
        typeof additional === 'object' ? this.write(additional, at) : additional,
    })
  }

  protected writeProperties({ properties, required }: ShapeVariant, at: ShapePlace): JsonSchema {
    const names = this.nameFields(properties)
    return Object.fromEntries(
      Array.from(properties, ([key, inner]) => {
        const path = at.path === '' ? key : `${at.path}.${key}`
        const inside = { depth: at.depth + 1, path, isOptional: !required.has(key) }
        return [names.get(key) ?? key, this.write(inner, inside)]
      }),
    )
  }

  protected listRequired({ properties, required }: ShapeVariant): readonly string[] {
    const names = this.nameFields(properties)
    return [...required].filter((key) => properties.has(key)).map((key) => names.get(key) ?? key)
  }

  private nameFields(properties: SchemaShape['properties']): ReadonlyMap<string, string> {
    return this.names ? toProviderFieldNames(properties.keys(), this.names) : new Map()
  }

  private splitLimits(
    limits: SchemaShape['limits'],
    type?: SchemaShapeType,
  ): { readonly kept: JsonSchema; readonly said: JsonSchema } {
    const isKept = ([keyword, limit]: readonly [string, unknown]): boolean =>
      this.keepsLimit(keyword, limit, type)
    const entries = Object.entries(limits)
    return {
      kept: Object.fromEntries(entries.filter(isKept)),
      said: Object.fromEntries(entries.filter((entry) => !isKept(entry))),
    }
  }
}

// The limits that OpenAI documents for structured outputs.
const MAX_STRICT_DEPTH = 10
const MAX_STRICT_PROPERTIES = 5000
const MAX_STRICT_ENUM_VALUES = 1000
const MAX_STRICT_CHARACTERS = 120_000
const MAX_LONG_ENUM = { values: 250, characters: 15_000 }
const STRICT_FORMATS: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration'],
  ...['email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
]
const STRICT_KEYWORDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minItems', 'maxItems'],
]

class StrictSchemaWriter extends SchemaWriter {
  private problem: string | undefined
  private properties = 0
  private values = 0
  private characters = 0

  /** Why what was written cannot be strict. */
  findProblem(): string | undefined {
    if (this.properties > MAX_STRICT_PROPERTIES)
      this.problem ??= `it has more than ${MAX_STRICT_PROPERTIES} fields`
    if (this.values > MAX_STRICT_ENUM_VALUES)
      this.problem ??= `it has more than ${MAX_STRICT_ENUM_VALUES} enum values`
    if (this.characters > MAX_STRICT_CHARACTERS)
      this.problem ??= `its names and enum values have more than ${MAX_STRICT_CHARACTERS} characters`
    return this.problem
  }

  override write(shape: SchemaShape, at: ShapePlace): JsonSchema {
    if (at.depth > MAX_STRICT_DEPTH)
      this.problem ??= `'${at.path}' is nested deeper than ${MAX_STRICT_DEPTH} levels`
    return this.problem === undefined ? super.write(shape, at) : {}
  }

  protected override isNullable(shape: SchemaShape, { isOptional }: ShapePlace): boolean {
    return shape.nullable || isOptional
  }

  protected override keepsLimit(keyword: string, limit: unknown): boolean {
    if (keyword === 'format') return STRICT_FORMATS.includes(limit)
    if (keyword === 'pattern') return isStrictPattern(limit)
    return STRICT_KEYWORDS.includes(keyword) && typeof limit === 'number'
  }

  protected override pickValues({ values }: ShapeVariant, at: ShapePlace) {
    if (!values) return undefined
    const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0)
    this.values += values.length
    this.characters += characters
    if (values.some((value) => typeof value === 'object'))
      this.problem ??= `${describePlace(at)} is one of several objects or lists`
    if (values.length > MAX_LONG_ENUM.values && characters > MAX_LONG_ENUM.characters)
      this.problem ??= `the enum of ${describePlace(at)} has more than ${MAX_LONG_ENUM.characters} characters`
    return values
  }

  protected override writeVariant(variant: ShapeVariant, at: ShapePlace): JsonSchema {
    if (!variant.types) this.problem ??= `${describePlace(at)} may hold anything`
    return super.writeVariant(variant, at)
  }

  protected override writeObject(variant: ShapeVariant, at: ShapePlace): JsonSchema {
    const { properties, required } = variant
    if (isOpenShape(variant))
      this.problem ??= `${describePlace(at)} is open: it may have fields that nobody described`
    this.properties += properties.size
    for (const key of properties.keys()) this.characters += key.length
    const unknown = [...required].find((key) => !properties.has(key))
    if (unknown !== undefined)
      this.problem ??= `${describePlace(at)} requires '${unknown}', which nobody described`
    return {
      properties: this.writeProperties(variant, at),
      required: [...properties.keys()],
      additionalProperties: false,
    }
  }

  protected override writeItems(
    kinds: readonly SchemaShape[],
    inside: ShapePlace,
    at: ShapePlace,
  ): JsonSchema {
    if (kinds.length === 0) this.problem ??= `the items of ${describePlace(at)} may be anything`
    return super.writeItems(kinds, inside, at)
  }
}

function describePlace({ path }: ShapePlace): string {
  return path === '' ? 'the input' : `'${path}'`
}

// Look-around, back references and Unicode classes are refused with the whole request.
function isStrictPattern(pattern: unknown): boolean {
  return (
    typeof pattern === 'string' && pattern.length <= 500 && !/\(\?(?!:)|\\[1-9kpPbBu]/.test(pattern)
  )
}

const MAX_GEMINI_DEPTH = 10
const GEMINI_FORMATS: { readonly [Type in SchemaShapeType]?: readonly unknown[] } = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}
const GEMINI_KEYWORDS = [
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minProperties', 'maxProperties'],
]
// A schema without a type is refused, so "anything" has to be spelt out.
const GEMINI_ANY_TYPES = ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'].map((type) => ({ type }))

class GeminiSchemaWriter extends SchemaWriter {
  override write(shape: SchemaShape, at: ShapePlace): JsonSchema {
    const { description } = shape
    if (at.depth > MAX_GEMINI_DEPTH)
      return { type: 'OBJECT', description: description ?? 'Nests further' }
    const variants = listVariants(shape)
    const nullable = this.isNullable(shape, at) || undefined
    const [first] = variants
    if (!first) return compact({ type: 'STRING', description, nullable: true })
    if (variants.length === 1 && first.types)
      return compact({ ...this.writeVariant(withAnnotations(first, shape), at), nullable })
    // Nothing may be beside `anyOf`, so each branch carries what is true of all.
    const common = compact({ description: describeLimits(description, pickDefault(shape.limits)) })
    const branches = variants.flatMap((variant) =>
      variant.types ? [this.writeVariant(variant, at)] : GEMINI_ANY_TYPES,
    )
    return { anyOf: branches.map((branch) => compact({ ...common, ...branch, nullable })) }
  }

  protected override keepsLimit(keyword: string, limit: unknown, type: SchemaShapeType): boolean {
    if (keyword === 'format') return GEMINI_FORMATS[type]?.includes(limit) ?? false
    if (keyword === 'pattern') return typeof limit === 'string'
    return GEMINI_KEYWORDS.includes(keyword) && typeof limit === 'number'
  }

  protected override writeType(type: SchemaShapeType): string {
    return type.toUpperCase()
  }

  protected override pickValues({ types, values }: ShapeVariant) {
    return types?.[0] === 'string' && values?.every((value) => value !== '') ? values : undefined
  }

  protected override writeObject(variant: ShapeVariant, at: ShapePlace): JsonSchema {
    // An empty map of properties is refused; none at all is an object of any kind.
    if (variant.properties.size === 0) return {}
    const required = this.listRequired(variant)
    return compact({
      properties: this.writeProperties(variant, at),
      required: required.length > 0 ? required : undefined,
    })
  }

  protected override writeItems(kinds: readonly SchemaShape[], inside: ShapePlace): JsonSchema {
    const [first] = kinds
    if (!first) return { anyOf: GEMINI_ANY_TYPES }
    if (kinds.length === 1) return this.write(first, inside)
    const nullable = kinds.some((kind) => kind.nullable)
    return this.write({ ...ANY_SHAPE, nullable, anyOf: kinds }, inside)
  }
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
  limits: JsonSchema,
  values?: readonly unknown[],
): string | undefined {
  const said = Object.entries(limits)
    .filter(([keyword, limit]) => limit !== false && Object.hasOwn(KEYWORD_WORDS, keyword))
    .map(([keyword, limit]) => KEYWORD_WORDS[keyword]!(limit))
  if (values) said.push(`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`)
  if (said.length === 0) return description
  const words = said.join(', ')
  return description === undefined
    ? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
    : `${description} (${words})`
}
