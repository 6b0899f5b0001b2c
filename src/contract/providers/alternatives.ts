import { isObject } from '../json.ts'
import { ANY } from './shape.ts'
import type { Shape, ShapeType } from './shape.ts'

const TYPE_LIMITS: { readonly [Type in ShapeType]: readonly string[] } = {
  string: ['format', 'pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  object: ['minProperties', 'maxProperties'],
  array: ['minItems', 'maxItems', 'uniqueItems'],
}

/** A shape of one type at most. */
export type Alternative = Omit<Shape, 'anyOf'>

/** A shape as a list of shapes of one type each; one shape without a type where anything fits. Description and default of the shape itself are left to the caller. */
export function alternatives(shape: Shape): Alternative[] {
  if (shape.anyOf)
    return shape.anyOf.flatMap((branch) =>
      alternatives(branch).map((each) => withNotes(each, branch)),
    )
  const types = shape.types ?? (shape.values && [...new Set(shape.values.map(typeOf))])
  return types ? types.map((type) => ofType(shape, type)) : [{ ...ANY }]
}

/** The alternative with the description and the default of the shape that it is the only form of. */
export function withNotes(alternative: Alternative, { description, limits }: Shape): Alternative {
  return {
    ...alternative,
    ...(description !== undefined && { description }),
    limits: { ...alternative.limits, ...defaultOf(limits) },
  }
}

/** The default of a value, as a keyword by itself. */
export function defaultOf(limits: Shape['limits']): { readonly default?: unknown } {
  return Object.hasOwn(limits, 'default') ? { default: limits['default'] } : {}
}

/** The JSON type of a value. */
export function typeOf(value: unknown): ShapeType {
  if (Array.isArray(value)) return 'array'
  if (isObject(value)) return 'object'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'boolean' ? 'boolean' : 'string'
}

function ofType(
  { items, prefix, values, properties, required, additional, limits }: Shape,
  type: ShapeType,
): Alternative {
  const own = values?.filter(
    (value) => typeOf(value) === type || (type === 'number' && typeOf(value) === 'integer'),
  )
  return {
    ...ANY,
    types: [type],
    nullable: false,
    ...(type === 'object' && { properties, required: needed(required, properties), additional }),
    ...(type === 'array' && items && { items }),
    ...(type === 'array' && prefix && { prefix }),
    ...(own && own.length > 0 && { values: own }),
    limits: Object.fromEntries(
      Object.entries(limits).filter(([keyword]) => TYPE_LIMITS[type].includes(keyword)),
    ),
  }
}

// A field with a default is filled in where it is missing, whether or not the schema requires it.
function needed(required: Shape['required'], properties: Shape['properties']): Shape['required'] {
  return new Set(
    [...required].filter((key) => !Object.hasOwn(properties.get(key)?.limits ?? {}, 'default')),
  )
}
