import { isObject } from '../json.ts'
import type { JsonSchema } from '../json.ts'
import { intersect } from './intersect.ts'
import { ANY } from './shape.ts'
import type { Shape, ShapeType } from './shape.ts'

// Nobody reads deeper, and no model should have to.
const DEEPEST = 20
const MOST_SHAPES = 4000

const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array']
const LIMITS = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'default',
] as const

/** Reads a self-contained JSON Schema; never throws, and ends for every schema. What cannot be told to a provider is left open. */
export function readShape(schema: unknown): Shape {
  return read({ left: MOST_SHAPES }, schema, 0)
}

type Budget = { left: number }

function read(budget: Budget, schema: unknown, depth: number): Shape {
  budget.left -= 1
  if (!isObject(schema)) return ANY
  if (depth > DEEPEST || budget.left < 0) return { ...ANY, description: 'Nests further' }
  let shape = readOwn(budget, schema, depth)
  for (const member of list(schema, 'allOf'))
    shape = intersect(shape, read(budget, member, depth + 1))
  for (const sometimes of conditionals(schema))
    shape = intersect(shape, asPossible(read(budget, sometimes, depth + 1)))
  for (const union of ['anyOf', 'oneOf']) {
    const branches = list(schema, union)
    if (branches.length > 0)
      shape = unite(
        shape,
        branches.map((branch) => ({
          shape: read(budget, branch, depth + 1),
          isNull: isNull(branch),
        })),
      )
  }
  return shape
}

function readOwn(budget: Budget, schema: JsonSchema, depth: number): Shape {
  const types = typesOf(schema)
  const values = valuesOf(schema)
  const description = text(schema, 'description') ?? text(schema, 'title')
  const additional = own(schema, 'additionalProperties') ?? own(schema, 'unevaluatedProperties')
  const patterned = own(schema, 'patternProperties')
  const items = own(schema, 'items')
  const prefix = list(schema, 'prefixItems')
  const properties = own(schema, 'properties')
  const required = own(schema, 'required')
  const reads = (inner: unknown): Shape => read(budget, inner, depth + 1)
  return {
    ...(types &&
      types.length > 0 && { types: types.filter((type) => type !== 'null') as ShapeType[] }),
    nullable: types
      ? types.includes('null')
      : values
        ? values.includes(null)
        : own(schema, 'nullable') === true || !saysType(schema),
    ...(description !== undefined && { description }),
    properties: new Map(
      isObject(properties)
        ? Object.entries(properties)
            .filter(([, inner]) => inner !== false)
            .map(([key, inner]) => [key, reads(inner)])
        : [],
    ),
    required: new Set(
      Array.isArray(required)
        ? required.filter((name): name is string => typeof name === 'string')
        : [],
    ),
    additional:
      isObject(patterned) && Object.keys(patterned).length > 0
        ? true
        : isObject(additional)
          ? reads(additional)
          : typeof additional === 'boolean'
            ? additional
            : undefined,
    ...(isObject(items) && { items: reads(items) }),
    ...(prefix.length > 0 && { prefix: prefix.map(reads) }),
    ...(values && { values: values.filter((value) => value !== null) }),
    limits: Object.fromEntries(
      LIMITS.filter((keyword) => Object.hasOwn(schema, keyword)).map((keyword) => [
        keyword,
        schema[keyword],
      ]),
    ),
  }
}

// `{anyOf: [...], properties: ...}` means each branch together with what stands beside it.
function unite(
  outer: Shape,
  given: readonly { readonly shape: Shape; readonly isNull: boolean }[],
): Shape {
  const branches = given.filter(({ isNull }) => !isNull).map(({ shape }) => shape)
  const nullable =
    outer.nullable && (branches.length < given.length || branches.some((branch) => branch.nullable))
  if (branches.length === 0) return { ...outer, nullable: true }
  if (branches.every(onlyRequires)) return { ...outer, ...describeChoice(outer, branches) }
  const [only] = branches
  if (branches.length === 1) return { ...intersect(outer, only!), nullable }
  // A second union beside a first is not told: the pipeline knows it.
  if (outer.anyOf !== undefined) return outer
  const literals =
    branches.every((branch) => branch.values !== undefined && branch.anyOf === undefined) &&
    outer.values === undefined
  if (literals)
    return {
      ...outer,
      ...commonTypes(branches),
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
    ...(description !== undefined && { description }),
    anyOf: branches.map((branch) => ({
      ...intersect({ ...rest, limits: {} }, branch),
      nullable: false,
    })),
  }
}

// "At least one of these fields": said in words, because no provider takes it as a schema.
function onlyRequires({
  types,
  properties,
  items,
  prefix,
  anyOf,
  values,
  required,
}: Shape): boolean {
  return (
    required.size > 0 &&
    (types === undefined || types.includes('object')) &&
    properties.size === 0 &&
    items === undefined &&
    prefix === undefined &&
    anyOf === undefined &&
    values === undefined
  )
}

function describeChoice(
  { description }: Shape,
  branches: readonly Shape[],
): { readonly description: string } {
  const choice = `Needs ${branches.map(({ required }) => [...required].join(' and ')).join(', or ')}.`
  return { description: description === undefined ? choice : `${description} ${choice}` }
}

function commonTypes(branches: readonly Shape[]): { readonly types?: readonly ShapeType[] } {
  const types = new Set(branches.flatMap((branch) => branch.types ?? []))
  return branches.every((branch) => branch.types !== undefined) ? { types: [...types] } : {}
}

// What holds only under a condition may be there and need not be.
function asPossible(shape: Shape): Shape {
  return { ...ANY, properties: shape.properties }
}

function conditionals(schema: JsonSchema): unknown[] {
  const dependent = own(schema, 'dependentSchemas')
  return [
    own(schema, 'if'),
    own(schema, 'then'),
    own(schema, 'else'),
    ...(isObject(dependent) ? Object.values(dependent) : []),
  ].filter(isObject)
}

function typesOf(schema: JsonSchema): string[] | undefined {
  const type = own(schema, 'type')
  const named = (Array.isArray(type) ? type : [type]).filter(
    (name): name is string => name === 'null' || TYPES.includes(name),
  )
  if (named.length > 0)
    return own(schema, 'nullable') === true ? [...new Set([...named, 'null'])] : [...new Set(named)]
  if (valuesOf(schema) !== undefined) return undefined
  if (isObject(own(schema, 'properties'))) return ['object']
  return isObject(own(schema, 'items')) || list(schema, 'prefixItems').length > 0
    ? ['array']
    : undefined
}

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  const values = own(schema, 'enum')
  return Array.isArray(values) && values.length > 0 ? values : undefined
}

function saysType(schema: JsonSchema): boolean {
  return typesOf(schema) !== undefined || valuesOf(schema) !== undefined
}

function isNull(schema: unknown): boolean {
  if (!isObject(schema)) return false
  return (
    own(schema, 'type') === 'null' || (Object.hasOwn(schema, 'const') && schema['const'] === null)
  )
}

function list(schema: JsonSchema, keyword: string): readonly unknown[] {
  const value = own(schema, keyword)
  return Array.isArray(value) ? value : []
}

function text(schema: JsonSchema, keyword: string): string | undefined {
  const value = own(schema, keyword)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function own(schema: JsonSchema, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
}
