import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Refs } from './refs.ts'
import { WHAT_TO_GIVE } from './source.ts'
import { listOf, ownKeyword, typesOf } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

/** Throws CONFIG unless only objects can fit: fields of the input are named on every surface. */
export function requireObjectSchema(schema: JsonSchema, refs: Refs): void {
  if (!isObjectSchema(schema, refs))
    throw new ToolError('CONFIG', 'the input schema must describe an object', {
      suggestion: WHAT_TO_GIVE,
    })
}

function isObjectSchema(schema: AnySchema, refs: Refs, seen = new Set<AnySchema>()): boolean {
  if (typeof schema === 'boolean' || seen.has(schema)) return false
  seen.add(schema)
  const types = typesOf(schema)
  if (types) return types.length === 1 && types[0] === 'object'
  if (ownKeyword(schema, 'properties') !== undefined) return true
  const target = refs.follow(schema)
  if (target !== undefined && isObjectSchema(target, refs, seen)) return true
  if (listOf(schema, 'allOf').some((member) => isObjectSchema(member, refs, seen))) return true
  return ['anyOf', 'oneOf'].some((keyword) => {
    const branches = listOf(schema, keyword)
    return (
      branches.length > 0 && branches.every((branch) => isObjectSchema(branch, refs, new Set(seen)))
    )
  })
}
