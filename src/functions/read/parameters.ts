import type ts from 'typescript'
import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { FlagOptions } from '../../contract/manifest.ts'
import type { FunctionParameter } from '../manifest.ts'
import { classifyParameter } from './classify-parameter.ts'
import type { Classified, ValueParameter } from './classify-parameter.ts'
import { describeValue } from './comments/describe-value.ts'
import type { FunctionComment } from './comments/function-comment.ts'
import type { ValueTags } from './comments/value-tags.ts'
import { propertyTags } from './comments/property-tags.ts'
import { listParameters } from './list-parameters.ts'
import { nameDefault } from './literal-value.ts'
import { nameFlags } from './name-flags.ts'
import type { Reader } from './reader.ts'
import { isSignal } from './types/objects.ts'
import type { Work } from './types/work.ts'

/** How a function is called: its input, and how that becomes arguments. */
export type Parameters = {
  readonly schema: JsonSchema
  readonly parameters: readonly FunctionParameter[]
  readonly positional: readonly string[]
  readonly flags: { readonly [field: string]: FlagOptions }
}

type Fields = Map<
  string,
  { readonly schema: JsonSchema; readonly required: boolean; readonly flag: FlagOptions }
>

/** Reads the parameters of a signature; throws Unreadable, naming the parameter, for what no JSON can stand for. */
export function readParameters(
  reader: Reader,
  work: Work,
  signature: ts.Signature,
  comment: FunctionComment,
): Parameters {
  const given = listParameters(work, signature)
  const all = given.map((each, index) =>
    classifyParameter(reader, work, each, { comment, isLast: index === given.length - 1, index }),
  )
  const spread = findSpread(all)
  const fields: Fields = new Map()
  const dependent: { [field: string]: readonly string[] } = {}
  // Names of parameters come first: a property of the same name gives way.
  for (const each of all)
    if (each.from === 'value' && each !== spread)
      fields.set(each.name, { schema: each.schema, required: each.required, flag: each.flag })
  const parameters = all.map((each): FunctionParameter => {
    if (each.from === 'empty') return { from: 'fields', fields: [], optional: false }
    if (each.from !== 'value') return { from: each.from }
    if (each === spread) return spreadObject(work, each, comment, fields, dependent)
    return {
      from: each.isRest ? 'rest' : 'field',
      field: each.name,
      ...(each.convert && { convert: each.convert }),
    }
  })
  const required = [...fields].filter(([, field]) => field.required).map(([name]) => name)
  const schema: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries([...fields].map(([name, field]) => [name, field.schema])),
    ...(required.length > 0 && { required }),
    ...(Object.keys(dependent).length > 0 && { dependentRequired: dependent }),
    additionalProperties: false,
  }
  return {
    schema,
    parameters: withoutTail(parameters),
    positional: findPositional(all, spread),
    flags: nameFlags(fields),
  }
}

// The last parameter, where it is the only object with known properties: `find(pattern, { root, depth })`.
function findSpread(all: readonly Classified[]): ValueParameter | undefined {
  const values = all.filter((each): each is ValueParameter => each.from === 'value')
  const objects = values.filter(
    ({ schema, isRest }) =>
      !isRest &&
      schema['type'] === 'object' &&
      isObject(schema['properties']) &&
      !Object.hasOwn(schema, 'additionalProperties'),
  )
  return objects.length === 1 && objects[0] === values.at(-1) ? objects[0] : undefined
}

function spreadObject(
  work: Work,
  { name, type, schema, convert, required, defaults, isTakenApart }: ValueParameter,
  comment: FunctionComment,
  fields: Fields,
  dependent: { [field: string]: readonly string[] },
): FunctionParameter {
  const needed = Array.isArray(schema['required']) ? (schema['required'] as readonly string[]) : []
  const own = Object.entries(
    schema['properties'] as { readonly [property: string]: JsonSchema },
  ).map(([property, given]) => {
    const said =
      comment.values.get(`${name}.${property}`) ??
      comment.values.get(property) ??
      (isTakenApart ? findInside(comment, property) : undefined)
    const conversion = convert?.object?.fields?.[property]
    const value = Object.hasOwn(defaults, property)
      ? { default: nameDefault(defaults[property], conversion) }
      : {}
    const described = describeValue(work, property, { ...given, ...value }, said)
    const symbol = work.checker.getNonNullableType(type).getProperty(property)
    const flag = symbol ? propertyTags(work.ts, symbol).flag : {}
    const field = fields.has(property) ? `${name}_${property}` : property
    fields.set(field, {
      schema: described,
      required: required && needed.includes(property) && !Object.hasOwn(described, 'default'),
      flag: { ...flag, ...said?.flag },
    })
    return { property, field, ...(conversion && { convert: conversion }) }
  })
  // An optional object may be left out whole; where one of its properties is given, so must be those that it needs.
  const must = own
    .filter(({ property }) => !required && needed.includes(property))
    .map(({ field }) => field)
  if (must.length > 0)
    for (const { field } of own)
      if (!must.includes(field) || must.length > 1)
        dependent[field] = must.filter((other) => other !== field)
  const signals = work.checker
    .getPropertiesOfType(work.checker.getNonNullableType(type))
    .filter((symbol) => isSignal(work, work.checker.getTypeOfSymbolAtLocation(symbol, work.at)))
    .map((symbol) => symbol.name)
  return {
    from: 'fields',
    fields: own,
    optional: !required,
    ...(signals.length > 0 && { signals }),
  }
}

// A parameter that is taken apart has no name; a comment gives it one.
function findInside(comment: FunctionComment, property: string): ValueTags | undefined {
  return [...comment.values].find(([name]) => name.endsWith(`.${property}`))?.[1]
}

// Texts and numbers that are expected stand first, and the first parameter of all even where it is not; one list may take all that follows.
function findPositional(
  all: readonly Classified[],
  spread: ValueParameter | undefined,
): readonly string[] {
  const positional: string[] = []
  let mayEnd = false
  for (const each of all) {
    if (each.from === 'context' || each.from === 'signal') continue
    if (each.from !== 'value' || each === spread || (mayEnd && each.required)) return positional
    const isList = each.schema['type'] === 'array'
    if (
      isList
        ? !(each.isRest || each.isExpected) || !isScalarList(each.schema)
        : (!each.isExpected && positional.length > 0) || !isScalar(each.schema)
    )
      return positional
    positional.push(each.name)
    if (isList) return positional
    mayEnd ||= !each.required
  }
  return positional
}

function isScalarList({ type, items, prefixItems }: JsonSchema): boolean {
  return (
    type === 'array' &&
    (items === undefined || (isObject(items) && isScalar(items))) &&
    (!Array.isArray(prefixItems) || prefixItems.every((item) => isObject(item) && isScalar(item)))
  )
}

// One word is enough for it, even where it could be more.
function isScalar(schema: JsonSchema): boolean {
  const branches = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as JsonSchema[]) : undefined
  if (branches)
    return (
      branches.some(isScalar) &&
      branches.every(
        (branch) =>
          isScalar(branch) ||
          isScalarList(branch) ||
          ['null', 'boolean'].includes(String(branch['type'])),
      )
    )
  return (
    ['string', 'number', 'integer'].includes(String(schema['type'])) ||
    Object.hasOwn(schema, 'const') ||
    Array.isArray(schema['enum'])
  )
}

// What nobody gives at the end need not be there at all.
function withoutTail(parameters: readonly FunctionParameter[]): readonly FunctionParameter[] {
  const last = parameters.findLastIndex(({ from }) => from !== 'nothing')
  return parameters.slice(0, last + 1)
}
