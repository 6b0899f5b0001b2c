/**
 * Walks a value along its schema: which subschemas apply at each place, and how a value is
 * rewritten there (defaults, decoding, paths).
 */

import { isObject, lazyRegExp } from '../../util/values.ts'
import type { JsonSchema } from '../../util/values.ts'
import type { SchemaRefs } from './refs.ts'
import {
  forEachSubschema,
  getKeyword,
  getMemberSchema,
  getSchemaEntries,
  getSchemaList,
} from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

/**
 * Gives the new value of one place; `pieces` are the schemas that apply there. The path is only
 * lent: copy it to keep it.
 */
type ValueRewriter = (pieces: readonly JsonSchema[], value: unknown, path: IssuePath) => unknown

/**
 * Walks a value along its schema and rewrites it from the top down. The given value is never
 * changed; what stays the same is shared.
 */
export function rewriteValue(
  lens: SchemaMatcher,
  schema: JsonSchema,
  value: unknown,
  rewrite: ValueRewriter,
): unknown {
  const ancestors = new Set<unknown>()
  const path: (string | number)[] = []
  const enter = (key: string | number, schemas: readonly AnySchema[], given: unknown): unknown => {
    path.push(key)
    const result = visit(schemas, given)
    path.pop()
    return result
  }
  const visit = (schemas: readonly AnySchema[], given: unknown): unknown => {
    if (schemas.length === 0 || ancestors.has(given)) return given
    const pieces = collectActiveSchemas(lens, schemas, given)
    const here = rewrite(pieces, given, path)
    if (!isPlainData(here)) return here
    ancestors.add(given)
    const result = Array.isArray(here)
      ? rewriteList(here, (item, index) => enter(index, getItemSchemas(pieces, index), item))
      : rewriteObject(here, (item, key) => enter(key, getKeySchemas(pieces, key), item))
    ancestors.delete(given)
    return result
  }
  return visit([schema], value)
}

/** True for lists and for objects without a class of their own. */
export function isPlainData(value: unknown): value is Record<string, unknown> | unknown[] {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  // Objects of another realm (a vm, a frame) have another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function rewriteList(
  list: unknown[],
  change: (item: unknown, index: number) => unknown,
): unknown[] {
  const changed = list.map(change)
  return changed.some((item, index) => item !== list[index]) ? changed : list
}

function rewriteObject(
  object: Record<string, unknown>,
  change: (item: unknown, key: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(object)
  const changed = entries.map(([key, item]): [string, unknown] => [key, change(item, key)])
  return changed.some(([, item], index) => item !== entries[index]![1])
    ? Object.fromEntries(changed)
    : object
}

/** How to look at one value through one document: its references, and which branches fit. */
export type SchemaMatcher = {
  readonly refs: SchemaRefs
  /** True when the schema has nothing against the value. */
  fits(schema: AnySchema, value: unknown): boolean
  /** The branch of a union that fits, or else the one that comes nearest. */
  bestBranch(branches: readonly AnySchema[], value: unknown): AnySchema | undefined
}

/** A union of which one branch applies to the value. */
export type SchemaUnion = { readonly branches: readonly AnySchema[]; readonly exclusive: boolean }

const COMBINING_KEYWORDS = [
  '$ref',
  'anyOf',
  'allOf',
  'oneOf',
  'if',
  'dependentSchemas',
  '$dynamicRef',
  '$recursiveRef',
]
const NO_UNIONS: readonly SchemaUnion[] = []

/**
 * All object schemas that apply to a value at its own place: through `$ref`, `allOf`, `if` and
 * `dependentSchemas`; unions are handed back undecided.
 */
export function collectApplicableSchemas(
  lens: SchemaMatcher,
  schemas: readonly AnySchema[],
  value: unknown,
): { readonly pieces: readonly JsonSchema[]; readonly unions: readonly SchemaUnion[] } {
  const [only] = schemas
  if (
    schemas.length === 1 &&
    isObject(only) &&
    !COMBINING_KEYWORDS.some((keyword) => Object.hasOwn(only, keyword))
  )
    return { pieces: [only], unions: NO_UNIONS }
  const pieces: JsonSchema[] = []
  const unions: SchemaUnion[] = []
  const seen = new Set<JsonSchema>()
  const add = (schema: AnySchema | undefined): void => {
    if (schema === undefined || typeof schema === 'boolean' || seen.has(schema)) return
    seen.add(schema)
    pieces.push(schema)
    add(lens.refs.follow(schema))
    getSchemaList(schema, 'allOf').forEach(add)
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = getSchemaList(schema, keyword)
      if (branches.length > 0) unions.push({ branches, exclusive: keyword === 'oneOf' })
    }
    const condition = getKeyword(schema, 'if') as AnySchema | undefined
    if (condition !== undefined) {
      const holds = lens.fits(condition, value)
      if (holds) add(condition)
      add(getKeyword(schema, holds ? 'then' : 'else') as AnySchema | undefined)
    }
    if (isObject(value))
      for (const [key, dependent] of getSchemaEntries(schema, 'dependentSchemas'))
        if (hasDefinedValue(value, key)) add(dependent)
  }
  schemas.forEach(add)
  return { pieces, unions }
}

/** Like `collectPieces`, with the best branch of every union taken. */
function collectActiveSchemas(
  lens: SchemaMatcher,
  schemas: readonly AnySchema[],
  value: unknown,
): JsonSchema[] {
  const all = new Set<JsonSchema>()
  let next: readonly AnySchema[] = schemas
  while (next.length > 0) {
    const { pieces, unions } = collectApplicableSchemas(lens, next, value)
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
export function getKeySchemas(pieces: readonly JsonSchema[], key: string): AnySchema[] {
  return pieces.flatMap((piece) => {
    const named = getMemberSchema(piece, 'properties', key)
    const patterned = Object.hasOwn(piece, 'patternProperties')
      ? getSchemaEntries(piece, 'patternProperties')
          .filter(([pattern]) => matchesPattern(pattern, key))
          .map(([, schema]) => schema)
      : []
    const found = named === undefined ? patterned : [named, ...patterned]
    if (found.length > 0) return found
    const rest =
      getKeyword(piece, 'additionalProperties') ?? getKeyword(piece, 'unevaluatedProperties')
    return isObject(rest) ? [rest] : []
  })
}

/** The schemas that apply to one item of a list. */
export function getItemSchemas(pieces: readonly JsonSchema[], index: number): AnySchema[] {
  return pieces.flatMap((piece) => {
    const first = getSchemaList(piece, 'prefixItems')
    if (index < first.length) return [first[index]!]
    const rest = getKeyword(piece, 'items')
    return isObject(rest) ? [rest] : []
  })
}

/** True when a property is there; an explicit `undefined` counts as absent, as it does in JSON. */
export function hasDefinedValue(value: Record<string, unknown>, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== undefined
}

/**
 * Tests a pattern of a schema; a pattern that no engine understands matches everything, because the
 * schema library decides about it.
 */
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

/**
 * Fills absent properties with the `default`s of their schemas, at every depth where an object is
 * given. The given value is never changed.
 */
export function applyDefaults(lens: SchemaMatcher, schema: JsonSchema, value: unknown): unknown {
  return rewriteValue(lens, schema, value, (pieces, here) => {
    if (!isObject(here)) return here
    const added = pieces
      .flatMap((piece) => getSchemaEntries(piece, 'properties'))
      .filter(
        (entry): entry is [string, JsonSchema] =>
          isObject(entry[1]) &&
          Object.hasOwn(entry[1], 'default') &&
          !hasDefinedValue(here, entry[0]),
      )
      .map(([key, property]): [string, unknown] => [key, structuredClone(property['default'])])
    return added.length === 0 ? here : Object.fromEntries([...Object.entries(here), ...added])
  })
}

/** True when some property of the schema has a default. */
export function hasDefaults(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  let found = Object.hasOwn(schema, 'default')
  forEachSubschema(schema, (subschema) => {
    found ||= hasDefaults(subschema)
  })
  return found
}

const PLAIN_KEY = lazyRegExp('^[\\p{L}\\p{N}_$-]+$')

/** The way from a value to one of its parts. */
export type IssuePath = readonly (string | number)[]

/** A path as people write it: `filter.max[0]`; empty for the whole value. */
export function formatPath(path: IssuePath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    if (!/^[\w$-]+$/.test(part) && !PLAIN_KEY().test(part))
      return `${text}[${JSON.stringify(part)}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

/** True when `path` is at or below `start`. */
export function isAtOrBelow(path: IssuePath, start: IssuePath): boolean {
  return (
    start.length <= path.length &&
    start.every((part, index) => String(part) === String(path[index]))
  )
}

/** A path with list positions as numbers, as the value has them. */
export function alignPath(path: readonly PropertyKey[], value: unknown): IssuePath {
  let here: unknown = value
  return path.map((part) => {
    const key = Array.isArray(here) && /^\d+$/.test(String(part)) ? Number(part) : String(part)
    here = getValueAt(here, [key])
    return key
  })
}

/** The part of a value that a path leads to, own members only. */
export function getValueAt(value: unknown, path: IssuePath): unknown {
  return path.reduce<unknown>((here, key) => {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined
    return (here as Record<string | number, unknown>)[key]
  }, value)
}
