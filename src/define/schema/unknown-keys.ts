import { closest } from '../../contract/did-you-mean.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { isPlain } from './rewrite.ts'
import { collectPieces, matchesPattern, schemasOfItem, schemasOfKey } from './pieces.ts'
import type { Lens, Union } from './pieces.ts'
import type { Issue } from './schema.ts'
import { mapOf, ownKeyword } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

const MOST_KEYS_NAMED = 10
// Values whose unions fit in many ways at every depth are not searched for their best reading for ever.
const MOST_VISITS = 100_000
const MOST_FOUND = 200

/** Finds the keys that a value has and its schema does not know, at every depth. An object with declared properties is closed unless the schema opens it explicitly. */
export function findUnknownKeys(lens: Lens, schema: JsonSchema, value: unknown): Issue[] {
  return [
    ...search(
      {
        lens,
        ancestors: new Set(),
        memory: new WeakMap(),
        keys: new Map(),
        visits: 0,
        openUnions: 0,
      },
      [schema],
      value,
    ),
  ]
}

type Search = {
  readonly lens: Lens
  readonly ancestors: Set<unknown>
  readonly memory: WeakMap<object, Map<AnySchema, readonly Issue[]>>
  readonly keys: Map<JsonSchema, { readonly known: ReadonlySet<string> | undefined }>
  visits: number
  openUnions: number
}

function search(state: Search, schemas: readonly AnySchema[], value: unknown): readonly Issue[] {
  if (schemas.length === 0 || !isPlain(value) || state.ancestors.has(value)) return []
  // Only the readings of a union lead to the same place twice.
  const only = schemas.length === 1 && state.openUnions > 0 ? schemas[0]! : undefined
  const before = only === undefined ? undefined : state.memory.get(value)?.get(only)
  if (before) return before
  state.visits += 1
  state.ancestors.add(value)
  const { pieces, unions } = collectPieces(state.lens, schemas, value)
  const found = searchReadings(state, pieces, unions, value)
  state.ancestors.delete(value)
  if (only !== undefined) {
    const known = state.memory.get(value) ?? new Map<AnySchema, readonly Issue[]>()
    state.memory.set(value, known.set(only, found))
  }
  return found
}

// A union is read in the way that leaves the fewest keys unknown among the branches that fit.
function searchReadings(
  state: Search,
  pieces: readonly JsonSchema[],
  unions: readonly Union[],
  value: Record<string, unknown> | unknown[],
): readonly Issue[] {
  const [union, ...others] = unions
  if (!union) return searchPieces(state, pieces, value)
  const readings = readUnion(state.lens, pieces, union, value)
  let fewest: readonly Issue[] | undefined
  for (const branches of readings) {
    const inner = collectPieces(state.lens, branches, value)
    state.openUnions += 1
    const found = searchReadings(
      state,
      [...new Set([...pieces, ...inner.pieces])],
      [...others, ...inner.unions],
      value,
    )
    state.openUnions -= 1
    if (!fewest || found.length < fewest.length) fewest = found
    if (fewest.length === 0 || state.visits > MOST_VISITS) break
  }
  return fewest ?? []
}

function readUnion(
  lens: Lens,
  pieces: readonly JsonSchema[],
  union: Union,
  value: unknown,
): AnySchema[][] {
  const fitting = union.branches.filter((branch) => lens.fits(branch, value))
  if (fitting.length === 0) {
    const best = lens.bestBranch(union.branches, value)
    return best === undefined ? [] : [[best]]
  }
  // Branches that only add to the properties beside them may all apply at once.
  const addsToOthers =
    !union.exclusive && pieces.some((piece) => mapOf(piece, 'properties').length > 0)
  return addsToOthers ? [fitting] : fitting.map((branch) => [branch])
}

function searchPieces(
  state: Search,
  pieces: readonly JsonSchema[],
  value: Record<string, unknown> | unknown[],
): readonly Issue[] {
  const found: Issue[] = []
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isPlain(item))
        found.push(...under(index, search(state, schemasOfItem(pieces, index), item)))
      if (found.length > MOST_FOUND) break
    }
    return found
  }
  const known = knownKeys(state, pieces)
  for (const [key, item] of Object.entries(value)) {
    if (known && !known.has(key) && !isPatterned(pieces, key))
      found.push(describe(key, known, value))
    else if (isPlain(item))
      found.push(...under(key, search(state, schemasOfKey(pieces, key), item)))
    if (found.length > MOST_FOUND) break
  }
  return found
}

// The rows of a table all have the same schema.
function knownKeys(state: Search, pieces: readonly JsonSchema[]): ReadonlySet<string> | undefined {
  if (pieces.length !== 1) return listKnownKeys(pieces)
  const before = state.keys.get(pieces[0]!)
  if (before) return before.known
  const known = listKnownKeys(pieces)
  state.keys.set(pieces[0]!, { known })
  return known
}

// The keys that an object may have; undefined when it is open.
function listKnownKeys(pieces: readonly JsonSchema[]): ReadonlySet<string> | undefined {
  const says = (keyword: string) =>
    pieces.map((piece) => ownKeyword(piece, keyword)).filter((value) => value !== undefined)
  const rest = [...says('additionalProperties'), ...says('unevaluatedProperties')]
  const isRefused = rest.includes(false)
  const declared = new Set(
    pieces.flatMap((piece) => mapOf(piece, 'properties').map(([key]) => key)),
  )
  if (isRefused && rest.every((each) => each === false)) return declared
  const names = says('propertyNames')
    .map((each) => (each as JsonSchema)['enum'])
    .find(Array.isArray)
  if (names) return new Set([...declared, ...names.map(String)])
  if (rest.length > 0 || says('patternProperties').length > 0 || says('properties').length === 0)
    return undefined
  return declared
}

function isPatterned(pieces: readonly JsonSchema[], key: string): boolean {
  return pieces.some((piece) =>
    mapOf(piece, 'patternProperties').some(([pattern]) => matchesPattern(pattern, key)),
  )
}

function describe(key: string, known: ReadonlySet<string>, value: Record<string, unknown>): Issue {
  const free = [...known].filter((each) => !Object.hasOwn(value, each))
  const meant = closest(key, free)
  const base = { path: [key], kind: 'unknown_key' } as const
  const name = `unknown key '${key.slice(0, 80)}'`
  if (meant !== undefined) return { ...base, message: `${name}; did you mean '${meant}'?`, meant }
  if (known.size === 0) return { ...base, message: `${name}; no keys are allowed here` }
  const more = known.size > MOST_KEYS_NAMED ? `, and ${known.size - MOST_KEYS_NAMED} more` : ''
  return {
    ...base,
    message: `${name}; known keys are ${[...known].slice(0, MOST_KEYS_NAMED).join(', ')}${more}`,
  }
}

function under(key: string | number, issues: readonly Issue[]): readonly Issue[] {
  return issues.length === 0
    ? issues
    : issues.map((issue) => ({ ...issue, path: [key, ...issue.path] }))
}
