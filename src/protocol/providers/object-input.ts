/**
 * The input of a tool as one object without alternatives, with field names that a provider accepts.
 * No provider takes a union at the root.
 */

import { shortHash } from '../../util/short-hash.ts'
import { compact, isObject } from '../../util/values.ts'
import type { SchemaShape, SchemaShapeType } from './schema-shape.ts'
import { ANY_SHAPE, isOpenShape } from './schema-shape.ts'

/**
 * The shape of an input as one object without alternatives, because no provider takes a union at
 * the root: every field of every form, and in words which of them belong together.
 */
export function toObjectShape(shape: SchemaShape): SchemaShape {
  const forms = listVariants(shape).filter(
    ({ types }) => types === undefined || types[0] === 'object',
  )
  const [only] = forms
  if (only === undefined)
    return { ...ANY_SHAPE, types: ['object'], nullable: false, additional: true }
  if (forms.length === 1) {
    const { values: _values, ...object } = withAnnotations(only, shape)
    return { ...object, types: ['object'], nullable: false }
  }
  const required = new Set(
    [...forms[0]!.required].filter((key) => forms.every((form) => form.required.has(key))),
  )
  const properties = new Map<string, SchemaShape>()
  for (const form of forms)
    for (const [key, inner] of form.properties)
      properties.set(key, uniteFieldShapes(properties.get(key), inner))
  // Where another form is open, the field may hold anything there.
  for (const [key, { description: words }] of properties)
    if (forms.some((form) => !form.properties.has(key) && isOpenShape(form)))
      properties.set(key, { ...ANY_SHAPE, ...compact({ description: words }) })
  const description = describeForms(shape.description, forms, required)
  return {
    types: ['object'],
    nullable: false,
    properties,
    required,
    limits: {},
    additional: uniteAdditional(forms),
    ...compact({ description }),
  }
}

function uniteAdditional(forms: readonly ShapeVariant[]): boolean | undefined {
  if (forms.every((form) => form.additional === false)) return false
  return forms.some(isOpenShape) || undefined
}

function uniteFieldShapes(first: SchemaShape | undefined, second: SchemaShape): SchemaShape {
  if (first === undefined || first === second) return second
  if (toFingerprint(first) === toFingerprint(second)) return first
  const description = first.description ?? second.description
  const common = {
    nullable: first.nullable || second.nullable,
    ...compact({ description }),
    properties: new Map(),
    required: new Set<string>(),
    additional: undefined,
    limits: {},
  }
  if (first.values && second.values) {
    const types = first.types && second.types && [...new Set([...first.types, ...second.types])]
    return {
      ...common,
      ...compact({ types }),
      values: [...new Set([...first.values, ...second.values])],
    }
  }
  return { ...common, anyOf: [...(first.anyOf ?? [first]), ...(second.anyOf ?? [second])] }
}

function describeForms(
  description: string | undefined,
  forms: readonly ShapeVariant[],
  common: ReadonlySet<string>,
): string | undefined {
  const sets = [
    ...new Set(
      forms.map((form) =>
        [...form.required]
          .filter((key) => !common.has(key))
          .map((key) => nameField(form, key))
          .join(', '),
      ),
    ),
  ]
  if (sets.length < 2) return description
  const choice = `Needs one of these sets of fields: ${sets.map((set) => `{${set}}`).join(' or ')}.`
  return description === undefined ? choice : `${description} ${choice}`
}

function nameField({ properties }: ShapeVariant, key: string): string {
  const values = properties.get(key)?.values
  return values?.length === 1 ? `${key}=${JSON.stringify(values[0])}` : key
}

function toFingerprint(shape: SchemaShape): string {
  return JSON.stringify(shape, (_key, value: unknown) => {
    if (value instanceof Map) return [...value]
    return value instanceof Set ? [...value].sort() : value
  })
}

const LIMITS_BY_TYPE: { readonly [Type in SchemaShapeType]: readonly string[] } = {
  string: ['format', 'pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  object: ['minProperties', 'maxProperties'],
  array: ['minItems', 'maxItems', 'uniqueItems'],
}

/** A shape of one type at most. */
export type ShapeVariant = Omit<SchemaShape, 'anyOf'>

/**
 * A shape as a list of shapes of one type each; one shape without a type where anything fits.
 * Description and default of the shape itself are left to the caller.
 */
export function listVariants(shape: SchemaShape): ShapeVariant[] {
  if (shape.anyOf)
    return shape.anyOf.flatMap((branch) =>
      listVariants(branch).map((each) => withAnnotations(each, branch)),
    )
  const types = shape.types ?? (shape.values && [...new Set(shape.values.map(getJsonType))])
  return types ? types.map((type) => narrowToType(shape, type)) : [{ ...ANY_SHAPE }]
}

/**
 * The alternative with the description and the default of the shape that it is the only form of.
 */
export function withAnnotations(
  alternative: ShapeVariant,
  { description, limits }: SchemaShape,
): ShapeVariant {
  return {
    ...alternative,
    ...compact({ description }),
    limits: { ...alternative.limits, ...pickDefault(limits) },
  }
}

/** The default of a value, as a keyword by itself. */
export function pickDefault(limits: SchemaShape['limits']): { readonly default?: unknown } {
  return Object.hasOwn(limits, 'default') ? { default: limits['default'] } : {}
}

/** The JSON type of a value. */
function getJsonType(value: unknown): SchemaShapeType {
  if (Array.isArray(value)) return 'array'
  if (isObject(value)) return 'object'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'boolean' ? 'boolean' : 'string'
}

function narrowToType(
  { items, prefix, values, properties, required, additional, limits }: SchemaShape,
  type: SchemaShapeType,
): ShapeVariant {
  const own = values?.filter(
    (value) =>
      getJsonType(value) === type || (type === 'number' && getJsonType(value) === 'integer'),
  )
  const kept = Object.entries(limits).filter(([keyword]) => LIMITS_BY_TYPE[type].includes(keyword))
  const variant = {
    ...ANY_SHAPE,
    types: [type],
    nullable: false,
    ...compact({ values: own && own.length > 0 ? own : undefined }),
    limits: Object.fromEntries(kept),
  }
  if (type === 'array') return { ...variant, ...compact({ items, prefix }) }
  if (type !== 'object') return variant
  return { ...variant, properties, required: dropDefaulted(required, properties), additional }
}

// A field with a default is filled in where it is missing, whether or not the schema requires it.
function dropDefaulted(
  required: SchemaShape['required'],
  properties: SchemaShape['properties'],
): SchemaShape['required'] {
  return new Set(
    [...required].filter((key) => !Object.hasOwn(properties.get(key)?.limits ?? {}, 'default')),
  )
}

/** What a provider accepts as the name of a field. */
export type FieldNameRule = {
  readonly accepts: RegExp
  readonly others: RegExp
  readonly longest: number
}

/** The rules of the providers that have any. */
export const FIELD_NAME_RULES = {
  anthropic: { accepts: /^[a-zA-Z0-9_.-]{1,64}$/, others: /[^a-zA-Z0-9_.-]+/g, longest: 64 },
  gemini: { accepts: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, others: /[^a-zA-Z0-9_]+/g, longest: 64 },
} as const satisfies { readonly [provider: string]: FieldNameRule }

/**
 * What each field of an object is called for a provider, by its own name: the same where the rule
 * accepts it, unique always.
 */
export function toProviderFieldNames(
  fields: Iterable<string>,
  rule: FieldNameRule,
): Map<string, string> {
  const all = [...fields]
  const taken = new Set(all.filter((field) => rule.accepts.test(field)))
  return new Map(
    all.map((field) => {
      if (taken.has(field)) return [field, field]
      const plain = replaceInvalidCharacters(field, rule)
      const name =
        taken.has(plain) || !rule.accepts.test(plain) ? appendHash(plain, field, rule) : plain
      taken.add(name)
      return [field, name]
    }),
  )
}

function replaceInvalidCharacters(
  field: string,
  { accepts, others, longest }: FieldNameRule,
): string {
  const replaced = field.replace(others, '_').slice(0, longest)
  return accepts.test(replaced) ? replaced : `_${replaced}`.slice(0, longest)
}

function appendHash(plain: string, field: string, { longest }: FieldNameRule): string {
  return `${plain.slice(0, longest - 9)}_${shortHash(field)}`
}
