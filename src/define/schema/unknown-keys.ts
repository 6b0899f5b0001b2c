/**
 * Finds keys that a schema does not know, at every depth, and merges them with what the library found.
 */

import { findClosest } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { SchemaExplainer } from './explain.ts'
import type { SchemaIssue } from './source.ts'
import { getKeyword, getSchemaEntries } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'
import {
  collectApplicableSchemas,
  formatPath,
  getItemSchemas,
  getKeySchemas,
  isAtOrBelow,
  isPlainData,
  matchesPattern,
} from './walk.ts'
import type { IssuePath, SchemaMatcher, SchemaUnion } from './walk.ts'

const MAX_NAMED_KEYS = 10
// Values whose unions fit in many ways at every depth are not searched for their best reading for
// ever.
const MAX_VISITS = 100_000
const MAX_UNKNOWN_KEYS = 200

/**
 * Finds the keys that a value has and its schema does not know, at every depth. An object with
 * declared properties is closed unless the schema opens it explicitly.
 */
export function findUnknownKeys(
  lens: SchemaMatcher,
  schema: JsonSchema,
  value: unknown,
): SchemaIssue[] {
  return [
    ...searchValue(
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

type KeySearch = {
  readonly lens: SchemaMatcher
  readonly ancestors: Set<unknown>
  readonly memory: WeakMap<object, Map<AnySchema, readonly SchemaIssue[]>>
  readonly keys: Map<JsonSchema, { readonly known: ReadonlySet<string> | undefined }>
  visits: number
  openUnions: number
}

function searchValue(
  state: KeySearch,
  schemas: readonly AnySchema[],
  value: unknown,
): readonly SchemaIssue[] {
  if (schemas.length === 0 || !isPlainData(value) || state.ancestors.has(value)) return []
  // Only the readings of a union lead to the same place twice.
  const only = schemas.length === 1 && state.openUnions > 0 ? schemas[0]! : undefined
  const before = only === undefined ? undefined : state.memory.get(value)?.get(only)
  if (before) return before
  state.visits += 1
  state.ancestors.add(value)
  const { pieces, unions } = collectApplicableSchemas(state.lens, schemas, value)
  const found = searchReadings(state, pieces, unions, value)
  state.ancestors.delete(value)
  if (only !== undefined) {
    const known = state.memory.get(value) ?? new Map<AnySchema, readonly SchemaIssue[]>()
    state.memory.set(value, known.set(only, found))
  }
  return found
}

// A union is read in the way that leaves the fewest keys unknown among the branches that fit.
function searchReadings(
  state: KeySearch,
  pieces: readonly JsonSchema[],
  unions: readonly SchemaUnion[],
  value: Record<string, unknown> | unknown[],
): readonly SchemaIssue[] {
  const [union, ...others] = unions
  if (!union) return searchSchemas(state, pieces, value)
  const readings = listReadings(state.lens, pieces, union, value)
  let fewest: readonly SchemaIssue[] | undefined
  for (const branches of readings) {
    const inner = collectApplicableSchemas(state.lens, branches, value)
    state.openUnions += 1
    const found = searchReadings(
      state,
      [...new Set([...pieces, ...inner.pieces])],
      [...others, ...inner.unions],
      value,
    )
    state.openUnions -= 1
    if (!fewest || found.length < fewest.length) fewest = found
    if (fewest.length === 0 || state.visits > MAX_VISITS) break
  }
  return fewest ?? []
}

function listReadings(
  lens: SchemaMatcher,
  pieces: readonly JsonSchema[],
  union: SchemaUnion,
  value: unknown,
): AnySchema[][] {
  const fitting = union.branches.filter((branch) => lens.fits(branch, value))
  if (fitting.length === 0) {
    const best = lens.bestBranch(union.branches, value)
    return best === undefined ? [] : [[best]]
  }
  // Branches that only add to the properties beside them may all apply at once.
  const addsToOthers =
    !union.exclusive && pieces.some((piece) => getSchemaEntries(piece, 'properties').length > 0)
  return addsToOthers ? [fitting] : fitting.map((branch) => [branch])
}

function searchSchemas(
  state: KeySearch,
  pieces: readonly JsonSchema[],
  value: Record<string, unknown> | unknown[],
): readonly SchemaIssue[] {
  const found: SchemaIssue[] = []
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isPlainData(item))
        found.push(...nestIssues(index, searchValue(state, getItemSchemas(pieces, index), item)))
      if (found.length > MAX_UNKNOWN_KEYS) break
    }
    return found
  }
  const known = getKnownKeys(state, pieces)
  for (const [key, item] of Object.entries(value)) {
    if (known && !known.has(key) && !matchesKeyPattern(pieces, key))
      found.push(describeUnknownKey(key, known, value))
    else if (isPlainData(item))
      found.push(...nestIssues(key, searchValue(state, getKeySchemas(pieces, key), item)))
    if (found.length > MAX_UNKNOWN_KEYS) break
  }
  return found
}

// The rows of a table all have the same schema.
function getKnownKeys(
  state: KeySearch,
  pieces: readonly JsonSchema[],
): ReadonlySet<string> | undefined {
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
    pieces.map((piece) => getKeyword(piece, keyword)).filter((value) => value !== undefined)
  const rest = [...says('additionalProperties'), ...says('unevaluatedProperties')]
  const isRefused = rest.includes(false)
  const declared = new Set(
    pieces.flatMap((piece) => getSchemaEntries(piece, 'properties').map(([key]) => key)),
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

function matchesKeyPattern(pieces: readonly JsonSchema[], key: string): boolean {
  return pieces.some((piece) =>
    getSchemaEntries(piece, 'patternProperties').some(([pattern]) => matchesPattern(pattern, key)),
  )
}

function describeUnknownKey(
  key: string,
  known: ReadonlySet<string>,
  value: Record<string, unknown>,
): SchemaIssue {
  const free = [...known].filter((each) => !Object.hasOwn(value, each))
  const meant = findClosest(key, free)
  const base = { path: [key], kind: 'unknown_key' } as const
  const name = `unknown key '${key.slice(0, 80)}'`
  if (meant !== undefined) return { ...base, message: `${name}; did you mean '${meant}'?`, meant }
  if (known.size === 0) return { ...base, message: `${name}; no keys are allowed here` }
  const more = known.size > MAX_NAMED_KEYS ? `, and ${known.size - MAX_NAMED_KEYS} more` : ''
  return {
    ...base,
    message: `${name}; known keys are ${[...known].slice(0, MAX_NAMED_KEYS).join(', ')}${more}`,
  }
}

function nestIssues(key: string | number, issues: readonly SchemaIssue[]): readonly SchemaIssue[] {
  return issues.length === 0
    ? issues
    : issues.map((issue) => ({ ...issue, path: [key, ...issue.path] }))
}

/**
 * An issue as a schema library gave it. `isOwn`: the author wrote a rule of their own, and its
 * message is the best there is.
 */
export type LibraryIssue = {
  readonly path: IssuePath
  readonly message: string
  readonly isOwn?: boolean
}

// Nobody reads more, and a list of a million wrong rows must not cost a million explanations.
const MAX_ISSUES = 100

/**
 * Puts what a library found into our words: explained from the JSON Schema where that can say it,
 * in the library's words otherwise. A hundred issues at most.
 */
export function toIssues(
  explainer: SchemaExplainer,
  schema: AnySchema,
  value: unknown,
  unknown: readonly SchemaIssue[],
  library: readonly LibraryIssue[],
): SchemaIssue[] {
  const told: SchemaIssue[] = unknown.slice(0, MAX_ISSUES)
  const refused = new Set(told.map((issue) => formatPath(issue.path)))
  const explained = explainer
    .explain(schema, value)
    .filter((each) => !refused.has(formatPath(each.path)))
  for (const issue of library.slice(0, MAX_ISSUES)) {
    const reasons = explained.filter((each) => isAtOrBelow(each.path, issue.path))
    if (reasons.length > 0 && !issue.isOwn) told.push(...reasons.map(toPlainIssue))
    else if (
      issue.isOwn ||
      !told.some((each) => each.kind === 'unknown_key' && isAtOrBelow(each.path, issue.path))
    ) {
      const isMissing = reasons.some(
        (each) => each.kind === 'missing' && each.path.length === issue.path.length,
      )
      told.push({
        path: issue.path,
        kind: isMissing ? 'missing' : 'invalid',
        message: issue.message,
      })
    }
  }
  return removeDuplicateIssues(told).slice(0, MAX_ISSUES)
}

function toPlainIssue({ path, message, kind, meant }: SchemaIssue): SchemaIssue {
  return compact({ path, message, kind, meant })
}

function removeDuplicateIssues(issues: readonly SchemaIssue[]): SchemaIssue[] {
  const seen = new Set<string>()
  return issues.filter((issue) => {
    const key = JSON.stringify([issue.path, issue.message])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
