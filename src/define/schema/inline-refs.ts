import type { JsonSchema } from '../../contract/json.ts'
import { DASH } from '../../contract/wide-characters.ts'
import { indexRefs, refOf } from './refs.ts'
import type { Refs } from './refs.ts'
import { mapSubschemas, ownKeyword, typesOf } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'
import { isAnnotation } from './upgrade-keywords.ts'

// A recursive type is written out this many times; with many of them in one schema, only once.
const DEPTHS = [3, 1]
const MOST_NODES = 2000
const DROPPED = new Set([
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

/** A self-contained schema without `$ref` and `$defs`. Recursive types are written out a few times and then end open; the size stays bounded. */
export function inlineRefs(schema: JsonSchema, refs: Refs = indexRefs(schema)): JsonSchema {
  for (const depth of DEPTHS) {
    const work: Work = { refs, depth, nodes: 0, isStrict: true }
    const inlined = inline(work, schema, [schema])
    if (work.nodes <= MOST_NODES) return inlined
  }
  return inline({ refs, depth: 1, nodes: 0, isStrict: false }, schema, [schema])
}

type Work = {
  readonly refs: Refs
  readonly depth: number
  nodes: number
  readonly isStrict: boolean
}

function inline(work: Work, schema: JsonSchema, within: readonly AnySchema[]): JsonSchema {
  work.nodes += 1
  // The attempt is lost already; finishing it would only take time.
  if (work.isStrict && work.nodes > MOST_NODES) return {}
  const changed = mapSubschemas(schema, (subschema, keyword) => {
    if (typeof subschema === 'boolean' || DROPPED.has(keyword)) return subschema
    return inline(work, subschema, within)
  })
  const siblings = Object.fromEntries(
    Object.entries(changed).filter(([keyword]) => !DROPPED.has(keyword)),
  )
  if (refOf(schema) === undefined) return siblings
  const target = work.refs.follow(schema)
  if (target === undefined || target === true) return siblings
  if (target === false) return { ...siblings, not: {} }
  return join(expand(work, target, within), siblings)
}

function expand(work: Work, target: JsonSchema, within: readonly AnySchema[]): JsonSchema {
  const times = within.filter((each) => each === target).length
  if (times >= work.depth || (!work.isStrict && work.nodes > MOST_NODES)) return endOpen(target)
  return inline(work, target, [...within, target])
}

function endOpen(target: JsonSchema): JsonSchema {
  const types = typesOf(target) ?? (Object.hasOwn(target, 'properties') ? ['object'] : undefined)
  const title = ownKeyword(target, 'title') ?? ownKeyword(target, 'description')
  return {
    ...(types && { type: types.length === 1 ? types[0] : types }),
    description: `${typeof title === 'string' ? `${title} ${DASH} nests` : 'Nests'} further in the same way as above`,
  }
}

function join(target: JsonSchema, siblings: JsonSchema): JsonSchema {
  if (Object.keys(siblings).every(isAnnotation)) return { ...target, ...siblings }
  const members = ownKeyword(siblings, 'allOf')
  return { ...siblings, allOf: [target, ...(Array.isArray(members) ? (members as unknown[]) : [])] }
}
