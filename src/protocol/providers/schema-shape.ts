/**
 * Reads a JSON Schema into the few facts that every provider can express. The shape never allows
 * less than the schema; the call pipeline checks the rest.
 */

import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'

/** The types of JSON Schema besides `null`. */
export type SchemaShapeType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array'

/**
 * What a schema says about values, in the few words that every provider can be told. It never
 * allows less than the schema it was read from, but for what follows a tuple that nobody closed.
 */
export type SchemaShape = {
  /** Absent: any type. */
  readonly types?: readonly SchemaShapeType[]
  readonly nullable: boolean
  readonly description?: string
  readonly properties: ReadonlyMap<string, SchemaShape>
  readonly required: ReadonlySet<string>
  /** What other keys may hold; false: there are none; undefined: the schema does not say. */
  readonly additional: SchemaShape | boolean | undefined
  readonly items?: SchemaShape
  /** Items of a tuple. */
  readonly prefix?: readonly SchemaShape[]
  readonly anyOf?: readonly SchemaShape[]
  /** Without null, which `nullable` tells. */
  readonly values?: readonly unknown[]
  /** Keywords that narrow a value: `minimum`, `pattern`, `format` ...; and `default`. */
  readonly limits: { readonly [keyword: string]: unknown }
}

/** Anything at all. */
export const ANY_SHAPE: SchemaShape = {
  nullable: true,
  properties: new Map(),
  required: new Set(),
  additional: undefined,
  limits: {},
}

/** True for a shape that says nothing about its values. */
export function isAnyShape(shape: SchemaShape): boolean {
  return shape.types === undefined && saysNothingBesidesTypes(shape)
}

function saysNothingBesidesTypes({
  properties,
  items,
  prefix,
  anyOf,
  values,
}: SchemaShape): boolean {
  return properties.size === 0 && !items && !prefix && !anyOf && !values
}

/** True when an object of this shape may have keys that nobody described. */
export function isOpenShape({ additional, properties }: SchemaShape): boolean {
  return additional === undefined ? properties.size === 0 : additional !== false
}

// Nobody reads deeper, and no model should have to.
const MAX_SHAPE_DEPTH = 20
const MAX_SHAPES = 4000

const SHAPE_TYPES: readonly unknown[] = [
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
]
const LIMIT_KEYWORDS = [
  ...['format', 'pattern', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
  'default',
]

/**
 * Reads a self-contained JSON Schema; never throws, and ends for every schema. What cannot be told
 * to a provider is left open.
 */
export function readShape(schema: unknown): SchemaShape {
  return readNode({ left: MAX_SHAPES }, schema, 0)
}

type ShapeReadBudget = { left: number }

function readNode(budget: ShapeReadBudget, schema: unknown, depth: number): SchemaShape {
  budget.left -= 1
  if (!isObject(schema)) return ANY_SHAPE
  if (depth > MAX_SHAPE_DEPTH || budget.left < 0)
    return { ...ANY_SHAPE, description: 'Nests further' }
  let shape = readOwnKeywords(budget, schema, depth)
  for (const member of readSchemaList(schema, 'allOf'))
    shape = intersectShapes(shape, readNode(budget, member, depth + 1))
  for (const sometimes of listConditionals(schema))
    shape = intersectShapes(shape, toOptionalFields(readNode(budget, sometimes, depth + 1)))
  for (const union of ['anyOf', 'oneOf']) {
    const branches = readSchemaList(schema, union)
    if (branches.length > 0)
      shape = uniteBranches(
        shape,
        branches.map((branch) => ({
          shape: readNode(budget, branch, depth + 1),
          isNull: isNullSchema(branch),
        })),
      )
  }
  return shape
}

function readOwnKeywords(budget: ShapeReadBudget, schema: JsonSchema, depth: number): SchemaShape {
  const types = readTypes(schema)
  const values = readValues(schema)
  const description = readTextKeyword(schema, 'description') ?? readTextKeyword(schema, 'title')
  const items = readObjectKeyword(schema, 'items')
  const prefix = readSchemaList(schema, 'prefixItems')
  const required = readKeyword(schema, 'required')
  const read = (inner: unknown): SchemaShape => readNode(budget, inner, depth + 1)
  return {
    ...compact({ types: types?.filter((type): type is SchemaShapeType => type !== 'null') }),
    nullable: isNullable(types, values),
    ...compact({ description }),
    properties: new Map(
      Object.entries(readObjectKeyword(schema, 'properties') ?? {})
        .filter(([, inner]) => inner !== false)
        .map(([key, inner]) => [key, read(inner)]),
    ),
    required: new Set(
      Array.isArray(required)
        ? required.filter((name): name is string => typeof name === 'string')
        : [],
    ),
    additional: readAdditional(schema, read),
    ...compact({
      items: items && read(items),
      prefix: prefix.length > 0 ? prefix.map(read) : undefined,
      values: values?.filter((value) => value !== null),
    }),
    limits: Object.fromEntries(
      LIMIT_KEYWORDS.filter((keyword) => Object.hasOwn(schema, keyword)).map((keyword) => [
        keyword,
        schema[keyword],
      ]),
    ),
  }
}

function isNullable(
  types: readonly string[] | undefined,
  values: readonly unknown[] | undefined,
): boolean {
  if (types) return types.includes('null')
  // A schema without types and values allows everything.
  return values ? values.includes(null) : true
}

function readAdditional(
  schema: JsonSchema,
  read: (inner: unknown) => SchemaShape,
): SchemaShape['additional'] {
  if (Object.keys(readObjectKeyword(schema, 'patternProperties') ?? {}).length > 0) return true
  const additional =
    readKeyword(schema, 'additionalProperties') ?? readKeyword(schema, 'unevaluatedProperties')
  if (isObject(additional)) return read(additional)
  return typeof additional === 'boolean' ? additional : undefined
}

// `{anyOf: [...], properties: ...}` means each branch together with what stands beside it.
function uniteBranches(
  outer: SchemaShape,
  given: readonly { readonly shape: SchemaShape; readonly isNull: boolean }[],
): SchemaShape {
  const branches = given.filter(({ isNull }) => !isNull).map(({ shape }) => shape)
  const nullable =
    outer.nullable && (branches.length < given.length || branches.some((branch) => branch.nullable))
  if (branches.length === 0) return { ...outer, nullable: true }
  if (branches.every(isRequiredOnly)) return { ...outer, ...describeChoice(outer, branches) }
  const [only] = branches
  if (branches.length === 1) return { ...intersectShapes(outer, only!), nullable }
  // A second union beside a first is not told: the pipeline knows it.
  if (outer.anyOf !== undefined) return outer
  const literals =
    branches.every((branch) => branch.values !== undefined && branch.anyOf === undefined) &&
    outer.values === undefined
  if (literals)
    return {
      ...outer,
      ...uniteTypes(branches),
      nullable,
      values: branches.flatMap((branch) => branch.values!),
    }
  const { description, limits, ...rest } = outer
  const fallback = Object.hasOwn(limits, 'default') ? { default: limits['default'] } : {}
  return {
    nullable,
    properties: new Map(),
    required: new Set(),
    additional: undefined,
    limits: fallback,
    ...compact({ description }),
    anyOf: branches.map((branch) => ({
      ...intersectShapes({ ...rest, limits: {} }, branch),
      nullable: false,
    })),
  }
}

// "At least one of these fields": said in words, because no provider takes it as a schema.
function isRequiredOnly(shape: SchemaShape): boolean {
  const { types, required } = shape
  const mayBeObject = types === undefined || types.includes('object')
  return required.size > 0 && mayBeObject && saysNothingBesidesTypes(shape)
}

function describeChoice(
  { description }: SchemaShape,
  branches: readonly SchemaShape[],
): { readonly description: string } {
  const choice = `Needs ${branches.map(({ required }) => [...required].join(' and ')).join(', or ')}.`
  return { description: description === undefined ? choice : `${description} ${choice}` }
}

function uniteTypes(branches: readonly SchemaShape[]): {
  readonly types?: readonly SchemaShapeType[]
} {
  const types = new Set(branches.flatMap((branch) => branch.types ?? []))
  return branches.every((branch) => branch.types !== undefined) ? { types: [...types] } : {}
}

// What holds only under a condition may be there and need not be.
function toOptionalFields(shape: SchemaShape): SchemaShape {
  return { ...ANY_SHAPE, properties: shape.properties }
}

function listConditionals(schema: JsonSchema): unknown[] {
  return [
    ...['if', 'then', 'else'].map((keyword) => readKeyword(schema, keyword)),
    ...Object.values(readObjectKeyword(schema, 'dependentSchemas') ?? {}),
  ].filter(isObject)
}

function readTypes(schema: JsonSchema): string[] | undefined {
  const type = readKeyword(schema, 'type')
  const named = (Array.isArray(type) ? type : [type]).filter(
    (name): name is string => name === 'null' || SHAPE_TYPES.includes(name),
  )
  if (named.length > 0) {
    if (readKeyword(schema, 'nullable') === true) named.push('null')
    return [...new Set(named)]
  }
  if (readValues(schema) !== undefined) return undefined
  if (readObjectKeyword(schema, 'properties')) return ['object']
  const isList =
    readObjectKeyword(schema, 'items') || readSchemaList(schema, 'prefixItems').length > 0
  return isList ? ['array'] : undefined
}

function readValues(schema: JsonSchema): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  const values = readKeyword(schema, 'enum')
  return Array.isArray(values) && values.length > 0 ? values : undefined
}

function isNullSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false
  return (
    readKeyword(schema, 'type') === 'null' ||
    (Object.hasOwn(schema, 'const') && schema['const'] === null)
  )
}

function readSchemaList(schema: JsonSchema, keyword: string): readonly unknown[] {
  const value = readKeyword(schema, keyword)
  return Array.isArray(value) ? value : []
}

function readObjectKeyword(schema: JsonSchema, keyword: string): JsonSchema | undefined {
  const value = readKeyword(schema, keyword)
  return isObject(value) ? value : undefined
}

function readTextKeyword(schema: JsonSchema, keyword: string): string | undefined {
  const value = readKeyword(schema, keyword)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function readKeyword(schema: JsonSchema, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
}

/**
 * What fits both shapes, as near as it can be said; where they contradict each other, the first one
 * wins.
 */
function intersectShapes(first: SchemaShape, second: SchemaShape): SchemaShape {
  const types = intersectTypes(first.types, second.types)
  const description = first.description ?? second.description
  const items = intersectOptional(first.items, second.items)
  const prefix = first.prefix ?? second.prefix
  const anyOf = first.anyOf ?? second.anyOf
  const values = intersectValues(first.values, second.values)
  return {
    ...compact({ types }),
    nullable: first.nullable && second.nullable,
    ...compact({ description }),
    properties: mergeProperties(first, second),
    required: new Set([...first.required, ...second.required]),
    additional: mergeAdditional(first, second),
    ...compact({ items, prefix, anyOf, values }),
    limits: mergeLimits(first.limits, second.limits),
  }
}

function intersectTypes(
  first: readonly SchemaShapeType[] | undefined,
  second: readonly SchemaShapeType[] | undefined,
): readonly SchemaShapeType[] | undefined {
  if (!first || !second) return first ?? second
  const common = first.flatMap((type): SchemaShapeType[] => {
    if (second.includes(type)) return [type]
    if (type === 'number' && second.includes('integer')) return ['integer']
    return type === 'integer' && second.includes('number') ? ['integer'] : []
  })
  return common.length > 0 ? common : first
}

// A field that only one of them describes is to the other one of its further fields.
function mergeProperties(first: SchemaShape, second: SchemaShape): SchemaShape['properties'] {
  const described = (shape: SchemaShape, key: string): SchemaShape | undefined =>
    shape.properties.get(key) ??
    (typeof shape.additional === 'object' ? shape.additional : undefined)
  return new Map(
    [...first.properties.keys(), ...second.properties.keys()].map((key) => [
      key,
      intersectOptional(described(first, key), described(second, key))!,
    ]),
  )
}

// Parts of one object each close only what they know; together they are closed around all of it.
function mergeAdditional(first: SchemaShape, second: SchemaShape): SchemaShape['additional'] {
  if (first.additional === false || second.additional === false) return false
  return first.additional ?? second.additional
}

function intersectValues(
  first: readonly unknown[] | undefined,
  second: readonly unknown[] | undefined,
): readonly unknown[] | undefined {
  if (!first || !second) return first ?? second
  const common = first.filter((value) => second.includes(value))
  return common.length > 0 ? common : first
}

function mergeLimits(
  first: SchemaShape['limits'],
  second: SchemaShape['limits'],
): SchemaShape['limits'] {
  const merged: { [keyword: string]: unknown } = { ...second, ...first }
  for (const keyword of Object.keys(merged)) {
    const [one, other] = [first[keyword], second[keyword]]
    if (typeof one !== 'number' || typeof other !== 'number') continue
    if (/^(exclusiveM|m)in/.test(keyword)) merged[keyword] = Math.max(one, other)
    if (/^(exclusiveM|m)ax/.test(keyword)) merged[keyword] = Math.min(one, other)
  }
  return merged
}

function intersectOptional(
  first: SchemaShape | undefined,
  second: SchemaShape | undefined,
): SchemaShape | undefined {
  return first && second ? intersectShapes(first, second) : (first ?? second)
}
