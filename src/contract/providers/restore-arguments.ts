import { isObject } from '../json.ts'
import type { JsonObject, JsonSchema } from '../json.ts'
import { alternatives } from './alternatives.ts'
import type { Alternative } from './alternatives.ts'
import { FIELD_RULES, fieldNames } from './field-names.ts'
import { objectRoot } from './object-root.ts'
import { readShape } from './read-shape.ts'
import type { Shape } from './shape.ts'

/** The arguments as the tool takes them: `null` for a field that was left out under strict mode is taken out again, and fields have the names that their provider could not carry. Nothing else changes. */
export function restoreArguments(inputSchema: JsonSchema, given: JsonObject): JsonObject {
  return restoreObject([objectRoot(readShape(inputSchema))], given)
}

function restore(shape: Shape, value: unknown): unknown {
  const kinds = alternatives(shape)
  if (Array.isArray(value)) {
    const [list] = kinds.filter(({ types }) => types?.[0] === 'array')
    return list
      ? value.map((item: unknown, index) => restoreWith(list.prefix?.[index] ?? list.items, item))
      : value
  }
  if (!isObject(value)) return value
  const objects = kinds.filter(({ types }) => types?.[0] === 'object')
  return objects.length > 0 ? restoreObject(objects, value) : value
}

function restoreWith(shape: Shape | undefined, value: unknown): unknown {
  return shape ? restore(shape, value) : value
}

function restoreObject(forms: readonly Alternative[], given: JsonObject): JsonObject {
  const form = bestForm(forms, given)
  const owners = ownersOf(form, given)
  const restored = Object.entries(given).flatMap(([key, value]): [string, unknown][] => {
    const field = form.properties.has(key) ? key : (owners.get(key) ?? key)
    const inner = form.properties.get(field)
    if (inner === undefined)
      return [
        [field, typeof form.additional === 'object' ? restore(form.additional, value) : value],
      ]
    if (value === null && !inner.nullable && !form.required.has(field)) return []
    return [[field, restore(inner, value)]]
  })
  return Object.fromEntries(restored)
}

// Providers rename in different ways, and one name may mean two fields; the way that knows most of what was given is the one by which it was asked for.
function ownersOf({ properties }: Alternative, given: JsonObject): Map<string, string> {
  const ways = Object.values(FIELD_RULES).map(
    (rule) =>
      new Map([...fieldNames(properties.keys(), rule)].map(([field, name]) => [name, field])),
  )
  const known = (way: ReadonlyMap<string, string>): number =>
    Object.keys(given).filter((key) => way.has(key)).length
  return ways.reduce((best, way) => (known(way) > known(best) ? way : best))
}

// The form whose fixed values and fields agree best with what was given.
function bestForm(forms: readonly Alternative[], given: JsonObject): Alternative {
  const score = (form: Alternative): number => {
    let points = 0
    for (const [key, value] of Object.entries(given)) {
      const inner = form.properties.get(key)
      if (!inner) points -= value === null ? 0 : 1
      else points += inner.values && value !== null ? (inner.values.includes(value) ? 10 : -10) : 1
    }
    return points
  }
  return forms.reduce((best, form) => (score(form) > score(best) ? form : best))
}
