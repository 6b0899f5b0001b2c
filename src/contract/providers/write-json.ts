import type { JsonSchema } from '../json.ts'
import { alternatives, defaultOf, withNotes } from './alternatives.ts'
import type { Alternative } from './alternatives.ts'
import { fieldNames } from './field-names.ts'
import type { FieldRule } from './field-names.ts'
import { isAny } from './shape.ts'
import type { Shape } from './shape.ts'

/** Writes a shape as JSON Schema without references, `allOf` or lists of types: what every provider that speaks JSON Schema reads. */
export function writeJson(shape: Shape, rule?: FieldRule): JsonSchema {
  const branches = alternatives(shape)
  const [only] = branches
  // Without a type null fits already.
  const isNullable = shape.nullable && !isAny(shape)
  if (branches.length === 1 && !isNullable) return writeBranch(withNotes(only!, shape), rule)
  const { description, limits } = shape
  return {
    ...(description !== undefined && { description }),
    ...defaultOf(limits),
    anyOf: [
      ...branches.map((branch) => writeBranch(branch, rule)),
      ...(isNullable ? [{ type: 'null' }] : []),
    ],
  }
}

function writeBranch(shape: Alternative, rule: FieldRule | undefined): JsonSchema {
  const { types, description, values, limits } = shape
  const [type] = types ?? []
  return {
    ...(type && { type }),
    ...(description !== undefined && { description }),
    ...(values && { enum: values }),
    ...limits,
    ...(type === 'object' && writeObject(shape, rule)),
    ...(type === 'array' && writeArray(shape, rule)),
  }
}

function writeObject(
  { properties, required, additional }: Alternative,
  rule: FieldRule | undefined,
): JsonSchema {
  const names = rule ? fieldNames(properties.keys(), rule) : undefined
  const named = (key: string): string => names?.get(key) ?? key
  return {
    properties: Object.fromEntries(
      [...properties].map(([key, inner]) => [named(key), writeJson(inner, rule)]),
    ),
    ...(required.size > 0 && {
      required: [...required].filter((key) => properties.has(key)).map(named),
    }),
    ...(additional !== undefined && {
      additionalProperties:
        typeof additional === 'boolean' ? additional : writeJson(additional, rule),
    }),
  }
}

function writeArray({ items, prefix }: Alternative, rule: FieldRule | undefined): JsonSchema {
  if (!prefix) return { items: items ? writeJson(items, rule) : {} }
  // Not every provider knows tuples; a list of whatever may stand in one says almost as much.
  const kinds = [...prefix, ...(items ? [items] : [])].map((inner) => writeJson(inner, rule))
  return { items: kinds.length === 1 ? kinds[0] : { anyOf: kinds } }
}
