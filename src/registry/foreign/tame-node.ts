import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { findMisfit } from '../../define/early/misfit.ts'
import { isRisky } from '../../define/schema/pattern-risk.ts'
import { cleanText } from './clean-text.ts'
import { SIMPLE_KEYWORDS } from './tame-keywords.ts'
import type { OnNote } from './tame-keywords.ts'
import { tamePattern } from './tame-pattern.ts'
import { readTypeWord } from './type-words.ts'

type Members = { [keyword: string]: unknown }
/** A schema below the root. */
export type TamedNode = JsonSchema | boolean

const ONE = [
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'unevaluatedItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]
const LISTS = ['prefixItems', 'allOf', 'anyOf', 'oneOf']

/** A schema of somebody else in plain, valid draft 2020-12. It is finite and has no references any more. */
export function tameNode(given: unknown, note: OnNote): TamedNode {
  if (typeof given === 'boolean') return given
  if (typeof given === 'string') return readTypeWord(given) ?? describe(given)
  if (Array.isArray(given))
    return given.length > 0 ? { anyOf: given.map((branch) => tameNode(branch, note)) } : {}
  if (!isObject(given)) return {}
  const node: Members = {}
  for (const [keyword, tame] of Object.entries(SIMPLE_KEYWORDS)) {
    const value = Object.hasOwn(given, keyword) ? tame(given[keyword], note) : undefined
    if (value !== undefined) node[keyword] = value
  }
  tameSubschemas(node, given, note)
  tameType(node, given, note)
  tameBounds(node)
  liftRequired(node, given)
  dropMisfits(node, note)
  return unwrap(node)
}

function describe(text: string): JsonSchema {
  const description = cleanText(text, 1000)
  return description === undefined ? {} : { description }
}

function tameSubschemas(node: Members, given: JsonSchema, note: OnNote): void {
  for (const keyword of ONE) {
    const value = Object.hasOwn(given, keyword) ? given[keyword] : undefined
    if (keyword === 'items' && Array.isArray(value))
      node['prefixItems'] = value.map((item) => tameNode(item, note))
    else if (isObject(value) || typeof value === 'boolean') node[keyword] = tameNode(value, note)
    else if (keyword === 'items' && typeof value === 'string') node[keyword] = tameNode(value, note)
  }
  if (Array.isArray(given['items']) && given['additionalItems'] === false) node['items'] = false
  for (const keyword of LISTS) {
    const value = Object.hasOwn(given, keyword) ? given[keyword] : undefined
    const members = Array.isArray(value) ? value : isObject(value) ? [value] : []
    const tamed = members.map((member) => tameNode(member, note))
    if (members.length > 0)
      node[keyword] = keyword === 'allOf' || keyword === 'anyOf' ? flatten(keyword, tamed) : tamed
  }
  const { properties, patternProperties, dependentSchemas, dependencies } = given
  if (isObject(properties))
    node['properties'] = mapMembers(properties, (member) => tameNode(member, note))
  else if (Array.isArray(properties)) node['properties'] = listedProperties(properties, note)
  if (isObject(patternProperties))
    node['patternProperties'] = tamePatterned(patternProperties, note)
  const dependent = {
    ...(isObject(dependencies) && dependencies),
    ...(isObject(dependentSchemas) && dependentSchemas),
  }
  const schemas = Object.entries(dependent).filter(([, value]) => isObject(value))
  if (schemas.length > 0)
    node['dependentSchemas'] = Object.fromEntries(
      schemas.map(([key, value]) => [key, tameNode(value, note)]),
    )
}

// Members that are nothing but another list of the same kind are taken into this one, and nothing stands in it twice: so references that multiply fold together again.
function flatten(keyword: 'allOf' | 'anyOf', members: readonly TamedNode[]): readonly TamedNode[] {
  const flat = members.flatMap((member) =>
    isObject(member) && Array.isArray(member[keyword]) && Object.keys(member).length === 1
      ? (member[keyword] as TamedNode[])
      : [member],
  )
  return flat.length < 2
    ? flat
    : [...new Map(flat.map((member) => [JSON.stringify(member), member])).values()]
}

function unwrap(node: Members): TamedNode {
  const [only, ...others] = Array.isArray(node['allOf']) ? (node['allOf'] as TamedNode[]) : []
  return isObject(only) && others.length === 0 && Object.keys(node).length === 1 ? only : node
}

// `properties: [{name: 'a', type: 'string'}, …]`, as some write it.
function listedProperties(list: readonly unknown[], note: OnNote): JsonSchema {
  return Object.fromEntries(
    list
      .filter(isObject)
      .flatMap(({ name, ...schema }) =>
        typeof name === 'string' ? [[name, tameNode(schema, note)] as const] : [],
      ),
  )
}

function tamePatterned(given: JsonSchema, note: OnNote): JsonSchema {
  return Object.fromEntries(
    Object.entries(given).flatMap(([pattern, member]) => {
      const tamed = tamePattern(pattern)
      // Without its pattern any key has to pass.
      if (tamed === undefined)
        note('a pattern of keys that JavaScript does not understand was left out')
      return [[tamed ?? '', tamed === undefined ? {} : tameNode(member, note)] as const]
    }),
  )
}

function tameType(node: Members, given: JsonSchema, note: OnNote): void {
  const { type, nullable } = given
  const words = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const read = words.map((word) =>
    typeof word === 'string' ? readTypeWord(word) : isObject(word) ? {} : undefined,
  )
  words.forEach(
    (word, index) =>
      read[index] === undefined &&
      note(`the type ${JSON.stringify(word)?.slice(0, 40)} is not known and was left out`),
  )
  const known = read.filter((schema) => schema !== undefined)
  if (known.length > 0 && known.every((schema) => schema['type'] !== undefined)) {
    const types = [...new Set(known.flatMap((schema) => schema['type'] as string | string[]))]
    if (nullable === true && !types.includes('null')) types.push('null')
    node['type'] = types.length === 1 ? types[0] : types
    if (known.length === 1)
      for (const [keyword, value] of Object.entries(known[0]!))
        if (keyword !== 'type') node[keyword] ??= value
  }
  if (nullable === true && Array.isArray(node['enum']) && !node['enum'].includes(null))
    node['enum'] = [...(node['enum'] as unknown[]), null]
}

// Draft 4 said `minimum: 3, exclusiveMinimum: true`.
function tameBounds(node: Members): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof node[exclusive] !== 'boolean') continue
    if (node[exclusive] && node[limit] !== undefined) {
      node[exclusive] = node[limit]
      delete node[limit]
    } else delete node[exclusive]
  }
}

// `required: true` on a field is what draft 3 said, and what many still write. What is required has to be a field.
function liftRequired(node: Members, given: JsonSchema): void {
  const { properties } = given
  const marked = isObject(properties)
    ? Object.entries(properties)
        .filter(([, member]) => isObject(member) && member['required'] === true)
        .map(([key]) => key)
    : []
  const named = Array.isArray(node['required']) ? (node['required'] as string[]) : []
  const required = [...new Set([...named, ...marked])]
  if (required.length > 0) node['required'] = required
  else delete node['required']
  if (!isObject(node['properties'])) return
  const missing = required.filter((key) => !Object.hasOwn(node['properties'] as object, key))
  if (missing.length > 0)
    node['properties'] = {
      ...node['properties'],
      ...Object.fromEntries(missing.map((key) => [key, {}])),
    }
}

// A default that does not fit would make every call fail that relies on it.
function dropMisfits(node: Members, note: OnNote): void {
  if (!Object.hasOwn(node, 'default') || fits(node, node['default'])) return
  delete node['default']
  note('a default that does not fit its own schema was left out')
}

function fits(schema: JsonSchema, value: unknown): boolean {
  if (findMisfit(schema, value) !== undefined) return false
  const { type, const: constant, anyOf, oneOf, allOf, not, pattern } = schema
  if (
    Array.isArray(type) &&
    !type.some((each: string) => findMisfit({ type: each }, value) === undefined)
  )
    return false
  if (Object.hasOwn(schema, 'const') && JSON.stringify(constant) !== JSON.stringify(value))
    return false
  if (
    not !== undefined ||
    (typeof pattern === 'string' &&
      (isRisky(pattern) || !new RegExp(pattern, 'u').test(String(value))))
  )
    return false
  for (const union of [anyOf, oneOf])
    if (
      Array.isArray(union) &&
      !union.some((branch) => branch === true || (isObject(branch) && fits(branch, value)))
    )
      return false
  return (
    !Array.isArray(allOf) ||
    allOf.every((branch) => branch === true || (isObject(branch) && fits(branch, value)))
  )
}

function mapMembers(members: JsonSchema, change: (member: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, change(member)]))
}
