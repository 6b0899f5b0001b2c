import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { hasValue } from './pieces.ts'
import type { Lens } from './pieces.ts'
import { rewriteAlong } from './rewrite.ts'
import { mapOf } from './subschemas.ts'

/** Fills absent properties with the `default`s of their schemas, at every depth where an object is given. The given value is never changed. */
export function applyDefaults(lens: Lens, schema: JsonSchema, value: unknown): unknown {
  return rewriteAlong(lens, schema, value, (pieces, here) => {
    if (!isObject(here)) return here
    const added = pieces.flatMap((piece) => mapOf(piece, 'properties'))
      .filter((entry): entry is [string, JsonSchema] => isObject(entry[1]) && Object.hasOwn(entry[1], 'default') && !hasValue(here, entry[0]))
      .map(([key, property]): [string, unknown] => [key, structuredClone(property['default'])])
    const isTidy = Object.values(here).every((item) => item !== undefined)
    if (added.length === 0 && isTidy) return here
    const given = Object.entries(here).filter(([, item]) => item !== undefined)
    return Object.fromEntries([...given, ...added])
  })
}
