import type { Shape, ShapeType } from './shape.ts'

const LOWER = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
const UPPER = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])

/** What fits both shapes, as near as it can be said; where they contradict each other, the first one wins. */
export function intersect(first: Shape, second: Shape): Shape {
  const types = commonTypes(first.types, second.types)
  const description = first.description ?? second.description
  const items = both(first.items, second.items)
  const prefix = first.prefix ?? second.prefix
  const anyOf = first.anyOf ?? second.anyOf
  const values = commonValues(first.values, second.values)
  return {
    ...(types && { types }),
    nullable: first.nullable && second.nullable,
    ...(description !== undefined && { description }),
    properties: mergeProperties(first, second),
    required: new Set([...first.required, ...second.required]),
    additional: mergeAdditional(first, second),
    ...(items && { items }),
    ...(prefix && { prefix }),
    ...(anyOf && { anyOf }),
    ...(values && { values }),
    limits: mergeLimits(first.limits, second.limits),
  }
}

function commonTypes(
  first: readonly ShapeType[] | undefined,
  second: readonly ShapeType[] | undefined,
): readonly ShapeType[] | undefined {
  if (!first || !second) return first ?? second
  const common = first.flatMap((type): ShapeType[] => {
    if (second.includes(type)) return [type]
    if (type === 'number' && second.includes('integer')) return ['integer']
    return type === 'integer' && second.includes('number') ? ['integer'] : []
  })
  return common.length > 0 ? common : first
}

// A field that only one of them describes is to the other one of its further fields.
function mergeProperties(first: Shape, second: Shape): Shape['properties'] {
  const described = (shape: Shape, key: string): Shape | undefined =>
    shape.properties.get(key) ??
    (typeof shape.additional === 'object' ? shape.additional : undefined)
  return new Map(
    [...first.properties.keys(), ...second.properties.keys()].map((key) => [
      key,
      both(described(first, key), described(second, key))!,
    ]),
  )
}

// Parts of one object each close only what they know; together they are closed around all of it.
function mergeAdditional(first: Shape, second: Shape): Shape['additional'] {
  if (first.additional === false || second.additional === false) return false
  return first.additional ?? second.additional
}

function commonValues(
  first: readonly unknown[] | undefined,
  second: readonly unknown[] | undefined,
): readonly unknown[] | undefined {
  if (!first || !second) return first ?? second
  const common = first.filter((value) => second.includes(value))
  return common.length > 0 ? common : first
}

function mergeLimits(first: Shape['limits'], second: Shape['limits']): Shape['limits'] {
  const merged: { [keyword: string]: unknown } = { ...second, ...first }
  for (const keyword of Object.keys(merged)) {
    const [one, other] = [first[keyword], second[keyword]]
    if (typeof one !== 'number' || typeof other !== 'number') continue
    if (LOWER.has(keyword)) merged[keyword] = Math.max(one, other)
    if (UPPER.has(keyword)) merged[keyword] = Math.min(one, other)
  }
  return merged
}

function both(first: Shape | undefined, second: Shape | undefined): Shape | undefined {
  return first && second ? intersect(first, second) : (first ?? second)
}
