import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { hasValue } from './pieces.ts'
import type { Lens } from './pieces.ts'
import { rewriteAlong } from './rewrite.ts'
import { eachSubschema, mapOf } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

/** Fills absent properties with the `default`s of their schemas, at every depth where an object is given. The given value is never changed. */
export function applyDefaults(lens: Lens, schema: JsonSchema, value: unknown): unknown {
  return rewriteAlong(lens, schema, value, (pieces, here) => {
    if (!isObject(here)) return here
    const added = pieces
      .flatMap((piece) => mapOf(piece, 'properties'))
      .filter(
        (entry): entry is [string, JsonSchema] =>
          isObject(entry[1]) && Object.hasOwn(entry[1], 'default') && !hasValue(here, entry[0]),
      )
      .map(([key, property]): [string, unknown] => [key, structuredClone(property['default'])])
    return added.length === 0 ? here : Object.fromEntries([...Object.entries(here), ...added])
  })
}

/** True when some property of the schema has a default. */
export function hasDefaults(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  let found = Object.hasOwn(schema, 'default')
  eachSubschema(schema, (subschema) => {
    found ||= hasDefaults(subschema)
  })
  return found
}
