import type { JsonSchema } from '../../contract/json.ts'
import { indexRefs } from './refs.ts'
import type { Refs } from './refs.ts'
import { eachSubschema, listOf, mapOf, mapSubschemas, ownKeyword } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

const OPENERS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']
// Subschemas of these say something about the same value, not about a part of it.
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas'])
const UNTOUCHED = new Set(['not', 'contains', 'propertyNames'])

/** The schema as it is published: every object with `properties` is closed unless it says otherwise; combined schemas are closed as a whole, so that they stay satisfiable. */
export function closeObjects(schema: JsonSchema): JsonSchema {
  const refs = indexRefs(schema)
  const combined = findCombinedTargets(schema, refs)
  return close({ refs, combined }, schema, combined.has(schema))
}

type Work = { readonly refs: Refs; readonly combined: ReadonlySet<AnySchema> }

function close(work: Work, schema: JsonSchema, isMember: boolean): JsonSchema {
  const together = combines(schema, work.refs)
  const changed = mapSubschemas(schema, (subschema, keyword) => {
    if (typeof subschema === 'boolean' || UNTOUCHED.has(keyword)) return subschema
    if (IN_PLACE.has(keyword))
      return close(work, subschema, isMember || together || !isUnion(keyword))
    return close(work, subschema, work.combined.has(subschema))
  })
  if (isMember) return changed
  if (together)
    return isExplicit(work.refs, schema) ? changed : { ...changed, unevaluatedProperties: false }
  const target = work.refs.follow(schema)
  // The target had to stay open because somebody else combines it.
  if (target !== undefined && typeof target !== 'boolean' && work.combined.has(target)) {
    return hasProperties(work.refs, target) && !isExplicit(work.refs, target)
      ? { ...changed, unevaluatedProperties: false }
      : changed
  }
  return Object.hasOwn(schema, 'properties') && !saysOpener(schema)
    ? { ...changed, additionalProperties: false }
    : changed
}

// True when the keys of one object are declared in more than one place.
function combines(schema: JsonSchema, refs: Refs): boolean {
  const target = refs.follow(schema)
  const always = [...listOf(schema, 'allOf'), ...(target === undefined ? [] : [target])]
  const sometimes = [
    ...['if', 'then', 'else']
      .map((keyword) => ownKeyword(schema, keyword) as AnySchema | undefined)
      .filter((each) => each !== undefined),
    ...mapOf(schema, 'dependentSchemas').map(([, dependent]) => dependent),
  ]
  const declares = (each: AnySchema) => hasProperties(refs, each)
  if (listOf(schema, 'allOf').some(declares) || sometimes.some(declares)) return true
  const unions = ['anyOf', 'oneOf'].filter((keyword) =>
    listOf(schema, keyword).some(declares),
  ).length
  const others = (Object.hasOwn(schema, 'properties') ? 1 : 0) + (always.some(declares) ? 1 : 0)
  return unions + others > 1
}

function hasProperties(refs: Refs, schema: AnySchema): boolean {
  return somePiece(refs, schema, (piece) => Object.hasOwn(piece, 'properties'))
}

function isExplicit(refs: Refs, schema: AnySchema): boolean {
  return somePiece(refs, schema, saysOpener)
}

function saysOpener(schema: JsonSchema): boolean {
  return OPENERS.some((keyword) => Object.hasOwn(schema, keyword))
}

function somePiece(
  refs: Refs,
  schema: AnySchema,
  test: (piece: JsonSchema) => boolean,
  seen = new Set<AnySchema>(),
): boolean {
  if (typeof schema === 'boolean' || seen.has(schema)) return false
  seen.add(schema)
  if (test(schema)) return true
  const target = refs.follow(schema)
  if (target !== undefined && somePiece(refs, target, test, seen)) return true
  let found = false
  eachSubschema(schema, (subschema, keyword) => {
    found ||= IN_PLACE.has(keyword) && somePiece(refs, subschema, test, seen)
  })
  return found
}

function isUnion(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

// Definitions that are used as a part of a combined object: closing them would refuse the keys of the other parts.
function findCombinedTargets(root: JsonSchema, refs: Refs): Set<AnySchema> {
  const combined = new Set<AnySchema>()
  const seen = new Set<AnySchema>()
  const visit = (schema: AnySchema, isMember: boolean): void => {
    if (typeof schema === 'boolean') return
    const together = isMember || combines(schema, refs)
    const target = refs.follow(schema)
    if (together && target !== undefined && !combined.has(target)) {
      combined.add(target)
      visit(target, true)
    }
    if (seen.has(schema) && !isMember) return
    seen.add(schema)
    eachSubschema(schema, (subschema, keyword) =>
      visit(subschema, IN_PLACE.has(keyword) && (together || !isUnion(keyword))),
    )
  }
  visit(root, false)
  return combined
}
