/**
 * From the JSON Schema that a library or an author writes to the one that callers see: draft 2020-12, without what only costs tokens, without references, with closed objects.
 */

import { DASH } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { SchemaRefs } from './refs.ts'
import { createRefs, getRef } from './refs.ts'
import { DECODE_MARK, isSchemaObject } from './source.ts'
import type { AnySchema } from './subschemas.ts'
import {
  forEachSubschema,
  getKeyword,
  getSchemaEntries,
  getSchemaList,
  getTypes,
  isSchema,
  mapSubschemas,
} from './subschemas.ts'
import type { SchemaMatcher } from './walk.ts'
import { rewriteValue } from './walk.ts'

/**
 * The form of a schema that callers see: self-contained, closed, and plainly an object where it is
 * the input of a tool.
 */
export function publishSchema(schema: JsonSchema, direction: 'input' | 'output'): JsonSchema {
  const published = removeDecodeMarks(closeObjects(inlineRefs(schema)))
  return direction === 'input' && !Object.hasOwn(published, 'type')
    ? { type: 'object', ...published }
    : published
}

// A recursive type is written out this many times; with many of them in one schema, only once.
const RECURSION_DEPTHS = [3, 1]
const MAX_INLINED_NODES = 2000
const DROPPED_KEYWORDS = new Set([
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  '$defs',
  'definitions',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$schema',
  '$vocabulary',
])

/**
 * A self-contained schema without `$ref` and `$defs`. Recursive types are written out a few times
 * and then end open; the size stays bounded.
 */
export function inlineRefs(schema: JsonSchema, refs: SchemaRefs = createRefs(schema)): JsonSchema {
  for (const depth of RECURSION_DEPTHS) {
    const work: InlineState = { refs, depth, nodes: 0, isStrict: true }
    const inlined = inlineNode(work, schema, [schema])
    if (work.nodes <= MAX_INLINED_NODES) return inlined
  }
  return inlineNode({ refs, depth: 1, nodes: 0, isStrict: false }, schema, [schema])
}

type InlineState = {
  readonly refs: SchemaRefs
  readonly depth: number
  nodes: number
  readonly isStrict: boolean
}

function inlineNode(
  work: InlineState,
  schema: JsonSchema,
  within: readonly AnySchema[],
): JsonSchema {
  work.nodes += 1
  // The attempt is lost already; finishing it would only take time.
  if (work.isStrict && work.nodes > MAX_INLINED_NODES) return {}
  const changed = mapSubschemas(schema, (subschema, keyword) => {
    if (typeof subschema === 'boolean' || DROPPED_KEYWORDS.has(keyword)) return subschema
    return inlineNode(work, subschema, within)
  })
  const siblings = Object.fromEntries(
    Object.entries(changed).filter(([keyword]) => !DROPPED_KEYWORDS.has(keyword)),
  )
  if (getRef(schema) === undefined) return siblings
  const target = work.refs.follow(schema)
  if (target === undefined || target === true) return siblings
  if (target === false) return { ...siblings, not: {} }
  return joinSiblings(expandTarget(work, target, within), siblings)
}

function expandTarget(
  work: InlineState,
  target: JsonSchema,
  within: readonly AnySchema[],
): JsonSchema {
  const times = within.filter((each) => each === target).length
  if (times >= work.depth || (!work.isStrict && work.nodes > MAX_INLINED_NODES))
    return toOpenEnd(target)
  return inlineNode(work, target, [...within, target])
}

function toOpenEnd(target: JsonSchema): JsonSchema {
  const types = getTypes(target) ?? (Object.hasOwn(target, 'properties') ? ['object'] : undefined)
  const title = getKeyword(target, 'title') ?? getKeyword(target, 'description')
  return compact({
    type: types?.length === 1 ? types[0] : types,
    description: `${typeof title === 'string' ? `${title} ${DASH} nests` : 'Nests'} further in the same way as above`,
  })
}

function joinSiblings(target: JsonSchema, siblings: JsonSchema): JsonSchema {
  if (Object.keys(siblings).every(isAnnotationKeyword)) return { ...target, ...siblings }
  const members = getKeyword(siblings, 'allOf')
  return { ...siblings, allOf: [target, ...(Array.isArray(members) ? (members as unknown[]) : [])] }
}

const OPENING_KEYWORDS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']
// Subschemas of these say something about the same value, not about a part of it.
const IN_PLACE_KEYWORDS = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'then',
  'else',
  'dependentSchemas',
])
const UNTOUCHED_KEYWORDS = new Set(['not', 'contains', 'propertyNames'])

/**
 * The schema as it is published: every object with `properties` is closed unless it says otherwise;
 * combined schemas are closed as a whole, so that they stay satisfiable.
 */
export function closeObjects(schema: JsonSchema): JsonSchema {
  const refs = createRefs(schema)
  const combined = findCombinedTargets(schema, refs)
  return closeNode({ refs, combined }, schema, combined.has(schema))
}

type CloseState = { readonly refs: SchemaRefs; readonly combined: ReadonlySet<AnySchema> }

function closeNode(work: CloseState, schema: JsonSchema, isMember: boolean): JsonSchema {
  const together = combinesProperties(schema, work.refs)
  const changed = mapSubschemas(schema, (subschema, keyword) => {
    if (typeof subschema === 'boolean' || UNTOUCHED_KEYWORDS.has(keyword)) return subschema
    if (IN_PLACE_KEYWORDS.has(keyword))
      return closeNode(work, subschema, isMember || together || !isUnionKeyword(keyword))
    return closeNode(work, subschema, work.combined.has(subschema))
  })
  if (isMember) return changed
  if (together)
    return isExplicitlyOpen(work.refs, schema)
      ? changed
      : { ...changed, unevaluatedProperties: false }
  const target = work.refs.follow(schema)
  // The target had to stay open because somebody else combines it.
  if (target !== undefined && typeof target !== 'boolean' && work.combined.has(target)) {
    return hasProperties(work.refs, target) && !isExplicitlyOpen(work.refs, target)
      ? { ...changed, unevaluatedProperties: false }
      : changed
  }
  return Object.hasOwn(schema, 'properties') && !hasOpeningKeyword(schema)
    ? { ...changed, additionalProperties: false }
    : changed
}

// True when the keys of one object are declared in more than one place.
function combinesProperties(schema: JsonSchema, refs: SchemaRefs): boolean {
  const target = refs.follow(schema)
  const always = [...getSchemaList(schema, 'allOf'), ...(target === undefined ? [] : [target])]
  const sometimes = [
    ...['if', 'then', 'else']
      .map((keyword) => getKeyword(schema, keyword) as AnySchema | undefined)
      .filter((each) => each !== undefined),
    ...getSchemaEntries(schema, 'dependentSchemas').map(([, dependent]) => dependent),
  ]
  const declares = (each: AnySchema) => hasProperties(refs, each)
  if (getSchemaList(schema, 'allOf').some(declares) || sometimes.some(declares)) return true
  const unions = ['anyOf', 'oneOf'].filter((keyword) =>
    getSchemaList(schema, keyword).some(declares),
  ).length
  const others = (Object.hasOwn(schema, 'properties') ? 1 : 0) + (always.some(declares) ? 1 : 0)
  return unions + others > 1
}

function hasProperties(refs: SchemaRefs, schema: AnySchema): boolean {
  return someInPlace(refs, schema, (piece) => Object.hasOwn(piece, 'properties'))
}

function isExplicitlyOpen(refs: SchemaRefs, schema: AnySchema): boolean {
  return someInPlace(refs, schema, hasOpeningKeyword)
}

function hasOpeningKeyword(schema: JsonSchema): boolean {
  return OPENING_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))
}

function someInPlace(
  refs: SchemaRefs,
  schema: AnySchema,
  test: (piece: JsonSchema) => boolean,
  seen = new Set<AnySchema>(),
): boolean {
  if (typeof schema === 'boolean' || seen.has(schema)) return false
  seen.add(schema)
  if (test(schema)) return true
  const target = refs.follow(schema)
  if (target !== undefined && someInPlace(refs, target, test, seen)) return true
  let found = false
  forEachSubschema(schema, (subschema, keyword) => {
    found ||= IN_PLACE_KEYWORDS.has(keyword) && someInPlace(refs, subschema, test, seen)
  })
  return found
}

function isUnionKeyword(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

// Definitions that are used as a part of a combined object: closing them would refuse the keys of
// the other parts.
function findCombinedTargets(root: JsonSchema, refs: SchemaRefs): Set<AnySchema> {
  const combined = new Set<AnySchema>()
  const seen = new Set<AnySchema>()
  const visit = (schema: AnySchema, isMember: boolean): void => {
    if (typeof schema === 'boolean') return
    const together = isMember || combinesProperties(schema, refs)
    const target = refs.follow(schema)
    if (together && target !== undefined && !combined.has(target)) {
      combined.add(target)
      visit(target, true)
    }
    if (seen.has(schema) && !isMember) return
    seen.add(schema)
    forEachSubschema(schema, (subschema, keyword) =>
      visit(subschema, IN_PLACE_KEYWORDS.has(keyword) && (together || !isUnionKeyword(keyword))),
    )
  }
  visit(root, false)
  return combined
}

// The patterns that libraries print beside these formats are long and say the same.
const SELF_EXPLANATORY_FORMATS = new Set([
  'email',
  'uri',
  'uuid',
  'date',
  'date-time',
  'time',
  'duration',
  'ipv4',
  'ipv6',
  'hostname',
])

/**
 * The JSON Schema of a library without what only costs tokens: bounds of safe integers, patterns of
 * known formats, keys that must be text.
 */
export function tidySchema(schema: JsonSchema): JsonSchema {
  const tidy = {
    ...mapSubschemas(schema, (subschema) =>
      typeof subschema === 'boolean' ? subschema : tidySchema(subschema),
    ),
  }
  if (tidy['minimum'] === Number.MIN_SAFE_INTEGER) delete tidy['minimum']
  if (tidy['maximum'] === Number.MAX_SAFE_INTEGER) delete tidy['maximum']
  if (SELF_EXPLANATORY_FORMATS.has(String(tidy['format']))) delete tidy['pattern']
  const names = tidy['propertyNames']
  if (isSchemaObject(names) && Object.keys(names).length === 1 && names['type'] === 'string')
    delete tidy['propertyNames']
  return splitTypes(foldLiterals(tidy))
}

/** The schema without our own marks, as callers see it. */
function removeDecodeMarks(schema: JsonSchema): JsonSchema {
  const { [DECODE_MARK]: _mark, ...rest } = mapSubschemas(schema, (subschema) =>
    typeof subschema === 'boolean' ? subschema : removeDecodeMarks(subschema),
  )
  return rest
}

// One spelling of "text or null", whichever version of a library wrote it.
function splitTypes({ type, ...rest }: JsonSchema): JsonSchema {
  if (Array.isArray(type) && Object.keys(rest).every(isAnnotationKeyword))
    return { anyOf: type.map((each: unknown) => ({ type: each })), ...rest }
  return type === undefined ? rest : { type, ...rest }
}

// A union of literals is an enumeration, and everybody who offers choices looks for one.
function foldLiterals(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || !Object.keys(rest).every(isAnnotationKeyword)) return schema
  const literals: unknown[] = []
  for (const branch of anyOf as unknown[]) {
    if (
      !isSchemaObject(branch) ||
      !Object.hasOwn(branch, 'const') ||
      Object.keys(branch).some((keyword) => keyword !== 'const' && keyword !== 'type')
    )
      return schema
    literals.push(branch['const'])
  }
  return {
    ...compact({
      type: literals.every((literal) => typeof literal === 'string') ? 'string' : undefined,
    }),
    enum: literals,
    ...rest,
  }
}

const ANNOTATION_KEYWORDS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  '$defs',
  'definitions',
])

/**
 * A deep copy of a schema in the words of draft 2020-12, whichever draft it was written in; the
 * copy carries no `$schema`.
 */
export function upgradeKeywords(schema: JsonSchema): JsonSchema {
  const draft = String(schema['$schema'] ?? '')
  const { $schema: _dropped, ...rest } = upgradeNode(schema, /draft-0[4-7]/.test(draft))
  return rest
}

/** True for a keyword that says something about a schema without deciding which values fit. */
function isAnnotationKeyword(keyword: string): boolean {
  return ANNOTATION_KEYWORDS.has(keyword)
}

function upgradeNode(schema: JsonSchema, isOldDraft: boolean): JsonSchema {
  const copy = {
    ...mapSubschemas(schema, (subschema: AnySchema) =>
      typeof subschema === 'boolean' ? subschema : upgradeNode(subschema, isOldDraft),
    ),
  }
  if (Array.isArray(copy['items'])) {
    copy['prefixItems'] = copy['items']
    if (copy['additionalItems'] === undefined) delete copy['items']
    else copy['items'] = copy['additionalItems']
  }
  delete copy['additionalItems']
  if (isSchemaObject(copy['dependencies'])) splitDependencies(copy, copy['dependencies'])
  if (isOldDraft) applyOldDraftRules(copy)
  return copy
}

function splitDependencies(
  copy: Record<string, unknown>,
  dependencies: Record<string, unknown>,
): void {
  const entries = Object.entries(dependencies)
  copy['dependentRequired'] = Object.fromEntries(
    entries.filter(([, value]) => Array.isArray(value)),
  )
  copy['dependentSchemas'] = Object.fromEntries(entries.filter(([, value]) => isSchema(value)))
  delete copy['dependencies']
}

function applyOldDraftRules(copy: Record<string, unknown>): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof copy[exclusive] !== 'boolean') continue
    if (copy[exclusive]) {
      copy[exclusive] = copy[limit]
      delete copy[limit]
    } else delete copy[exclusive]
  }
  // Before 2019-09 a $ref silenced what stood beside it.
  if (typeof copy['$ref'] === 'string')
    for (const keyword of Object.keys(copy))
      if (keyword !== '$ref' && !isAnnotationKeyword(keyword)) delete copy[keyword]
}

const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?$/

/**
 * Turns JSON into the values that a schema library wants where JSON has none of its own: ISO text
 * into `Date`, whole numbers into `bigint`. What does not decode stays as it is.
 */
export function decodeValue(lens: SchemaMatcher, schema: JsonSchema, value: unknown): unknown {
  return rewriteValue(lens, schema, value, (pieces, here) => {
    const mark = pieces.find((piece) => Object.hasOwn(piece, DECODE_MARK))?.[DECODE_MARK]
    if (mark === 'date' && typeof here === 'string') return parseIsoDate(here) ?? here
    if (mark === 'bigint' && Number.isSafeInteger(here)) return BigInt(here as number)
    return here
  })
}

/** True when some position of the schema has to be decoded. */
export function needsDecoding(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  let found = Object.hasOwn(schema, DECODE_MARK)
  forEachSubschema(schema, (subschema) => {
    found ||= needsDecoding(subschema)
  })
  return found
}

/**
 * The date that an ISO 8601 text names; undefined for other text and for days that do not exist.
 */
export function parseIsoDate(text: string): Date | undefined {
  const match = ISO_DATE.exec(text)
  if (!match) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  // Date rolls the 30th of February over into March instead of refusing it.
  if (month < 1 || month > 12 || day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate())
    return undefined
  const date = new Date(text.replace(' ', 'T'))
  return Number.isNaN(date.getTime()) ? undefined : date
}
