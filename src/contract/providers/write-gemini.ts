import type { JsonSchema } from '../json.ts'
import { alternatives, defaultOf, withNotes } from './alternatives.ts'
import type { Alternative } from './alternatives.ts'
import { FIELD_RULES, fieldNames } from './field-names.ts'
import { describeWith } from './hints.ts'
import { ANY, isAny } from './shape.ts'
import type { Shape, ShapeType } from './shape.ts'

const DEEPEST = 10
const FORMATS: { readonly [Type in ShapeType]?: readonly unknown[] } = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}
const KEPT = new Set([
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
const ANYTHING = ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'].map((type) => ({ type }))

/** Writes a shape in the subset of OpenAPI 3.0 that Gemini reads: one type in capitals, `nullable`, `anyOf` alone, enums of text. */
export function writeGemini(shape: Shape, depth = 1): JsonSchema {
  if (depth > DEEPEST) return { type: 'OBJECT', description: shape.description ?? 'Nests further' }
  const kinds = alternatives(shape)
  const isNullable = shape.nullable && !isAny(shape) && { nullable: true }
  if (kinds.length === 0)
    return {
      type: 'STRING',
      ...(shape.description !== undefined && { description: shape.description }),
      nullable: true,
    }
  if (kinds.length === 1 && kinds[0]!.types)
    return { ...writeBranch(withNotes(kinds[0]!, shape), depth)[0], ...isNullable }
  const description = describeWith(shape.description, defaultOf(shape.limits))
  // Nothing may stand beside `anyOf`; each branch carries what is true of all.
  return {
    anyOf: kinds
      .flatMap((kind) => writeBranch(kind, depth))
      .map((branch) => ({
        ...(description !== undefined && { description }),
        ...branch,
        ...isNullable,
      })),
  }
}

function writeBranch(shape: Alternative, depth: number): JsonSchema[] {
  const [type] = shape.types ?? []
  if (type === undefined) return ANYTHING
  const { limits, values } = shape
  const isKept = (keyword: string): boolean =>
    keyword === 'format'
      ? (FORMATS[type]?.includes(limits[keyword]) ?? false)
      : KEPT.has(keyword) &&
        typeof limits[keyword] === (keyword === 'pattern' ? 'string' : 'number')
  const texts = type === 'string' && values?.every((value) => value !== '') ? values : undefined
  const said = Object.fromEntries(Object.entries(limits).filter(([keyword]) => !isKept(keyword)))
  const description = describeWith(
    shape.description,
    said,
    values && !texts ? [`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`] : [],
  )
  return [
    {
      type: type.toUpperCase(),
      ...(description !== undefined && { description }),
      ...(texts && { enum: texts }),
      ...Object.fromEntries(Object.entries(limits).filter(([keyword]) => isKept(keyword))),
      ...(type === 'object' && writeObject(shape, depth)),
      ...(type === 'array' && { items: writeItems(shape, depth) }),
    },
  ]
}

function writeObject({ properties, required }: Alternative, depth: number): JsonSchema {
  // An empty map of properties is refused; none at all is an object of any kind.
  if (properties.size === 0) return {}
  const names = fieldNames(properties.keys(), FIELD_RULES.gemini)
  const needed = [...required].filter((key) => properties.has(key)).map((key) => names.get(key)!)
  return {
    properties: Object.fromEntries(
      [...properties].map(([key, inner]) => [names.get(key)!, writeGemini(inner, depth + 1)]),
    ),
    ...(needed.length > 0 && { required: needed }),
  }
}

function writeItems({ items, prefix }: Alternative, depth: number): JsonSchema {
  const kinds = [...(prefix ?? []), ...(items ? [items] : [])]
  const [only] = kinds
  if (only === undefined) return { anyOf: ANYTHING }
  return kinds.length === 1
    ? writeGemini(only, depth + 1)
    : writeGemini(
        { ...ANY, nullable: kinds.some((kind) => kind.nullable), anyOf: kinds },
        depth + 1,
      )
}
