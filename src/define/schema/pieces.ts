import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { Refs } from './refs.ts'
import { listOf, mapOf, memberOf, ownKeyword } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

/** How to look at one value through one document: its references, and which branches fit. */
export type Lens = {
  readonly refs: Refs
  /** True when the schema has nothing against the value. */
  fits(schema: AnySchema, value: unknown): boolean
  /** The branch of a union that fits, or else the one that comes nearest. */
  bestBranch(branches: readonly AnySchema[], value: unknown): AnySchema | undefined
}

/** A union of which one branch applies to the value. */
export type Union = { readonly branches: readonly AnySchema[]; readonly exclusive: boolean }

const COMBINERS = [
  '$ref',
  'anyOf',
  'allOf',
  'oneOf',
  'if',
  'dependentSchemas',
  '$dynamicRef',
  '$recursiveRef',
]
const NO_UNIONS: readonly Union[] = []

/** All object schemas that apply to a value at its own place: through `$ref`, `allOf`, `if` and `dependentSchemas`; unions are handed back undecided. */
export function collectPieces(
  lens: Lens,
  schemas: readonly AnySchema[],
  value: unknown,
): { readonly pieces: readonly JsonSchema[]; readonly unions: readonly Union[] } {
  const [only] = schemas
  if (
    schemas.length === 1 &&
    isObject(only) &&
    !COMBINERS.some((keyword) => Object.hasOwn(only, keyword))
  )
    return { pieces: [only], unions: NO_UNIONS }
  const pieces: JsonSchema[] = []
  const unions: Union[] = []
  const seen = new Set<JsonSchema>()
  const add = (schema: AnySchema | undefined): void => {
    if (schema === undefined || typeof schema === 'boolean' || seen.has(schema)) return
    seen.add(schema)
    pieces.push(schema)
    add(lens.refs.follow(schema))
    listOf(schema, 'allOf').forEach(add)
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = listOf(schema, keyword)
      if (branches.length > 0) unions.push({ branches, exclusive: keyword === 'oneOf' })
    }
    const condition = ownKeyword(schema, 'if') as AnySchema | undefined
    if (condition !== undefined) {
      const holds = lens.fits(condition, value)
      if (holds) add(condition)
      add(ownKeyword(schema, holds ? 'then' : 'else') as AnySchema | undefined)
    }
    if (isObject(value))
      for (const [key, dependent] of mapOf(schema, 'dependentSchemas'))
        if (hasValue(value, key)) add(dependent)
  }
  schemas.forEach(add)
  return { pieces, unions }
}

/** Like `collectPieces`, with the best branch of every union taken. */
export function collectActivePieces(
  lens: Lens,
  schemas: readonly AnySchema[],
  value: unknown,
): JsonSchema[] {
  const all = new Set<JsonSchema>()
  let next: readonly AnySchema[] = schemas
  while (next.length > 0) {
    const { pieces, unions } = collectPieces(lens, next, value)
    const fresh = pieces.filter((piece) => !all.has(piece))
    if (fresh.length === 0) break
    for (const piece of fresh) all.add(piece)
    next = unions
      .map(({ branches }) => lens.bestBranch(branches, value))
      .filter((branch) => branch !== undefined)
  }
  return [...all]
}

/** The schemas that apply to one property of a value. */
export function schemasOfKey(pieces: readonly JsonSchema[], key: string): AnySchema[] {
  return pieces.flatMap((piece) => {
    const named = memberOf(piece, 'properties', key)
    const patterned = Object.hasOwn(piece, 'patternProperties')
      ? mapOf(piece, 'patternProperties')
          .filter(([pattern]) => matchesPattern(pattern, key))
          .map(([, schema]) => schema)
      : []
    const found = named === undefined ? patterned : [named, ...patterned]
    if (found.length > 0) return found
    const rest =
      ownKeyword(piece, 'additionalProperties') ?? ownKeyword(piece, 'unevaluatedProperties')
    return isObject(rest) ? [rest] : []
  })
}

/** The schemas that apply to one item of a list. */
export function schemasOfItem(pieces: readonly JsonSchema[], index: number): AnySchema[] {
  return pieces.flatMap((piece) => {
    const first = listOf(piece, 'prefixItems')
    if (index < first.length) return [first[index]!]
    const rest = ownKeyword(piece, 'items')
    return isObject(rest) ? [rest] : []
  })
}

/** True when a property is there; an explicit `undefined` counts as absent, as it does in JSON. */
export function hasValue(value: Record<string, unknown>, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== undefined
}

/** Tests a pattern of a schema; a pattern that no engine understands matches everything, because the schema library decides about it. */
export function matchesPattern(pattern: string, text: string): boolean {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags).test(text)
    } catch {
      // Patterns of some libraries are not valid with the u flag.
    }
  }
  return true
}
