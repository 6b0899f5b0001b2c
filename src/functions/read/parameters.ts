/**
 * How a function is called: which fields its input has, how they become arguments, and their flags
 * on the command line.
 */

import type ts from 'typescript'
import { toFlagName } from '../../define/argv.ts'
import { suggestFlagName } from '../../define/checks.ts'
import type { FlagOptions } from '../../protocol/manifest.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { Conversion, FunctionParameter } from '../manifest.ts'
import type { FunctionComment, ValueTags } from './comments.ts'
import {
  describeValue,
  getComment,
  parseComment,
  readPropertyTags,
  readValueTags,
} from './comments.ts'
import { readLiteralValue, toShownDefault } from './literals.ts'
import type { ModuleReader, TypeReadContext } from './reader.ts'
import { isToolableType, UnreadableTypeError } from './reader.ts'
import { isAbortSignal } from './type-objects.ts'

/** How a function is called: its input, and how that becomes arguments. */
type ReadParameters = {
  readonly schema: JsonSchema
  readonly parameters: readonly FunctionParameter[]
  readonly positional: readonly string[]
  readonly flags: { readonly [field: string]: FlagOptions }
}

type ParameterFields = Map<
  string,
  { readonly schema: JsonSchema; readonly required: boolean; readonly flag: FlagOptions }
>

/**
 * Reads the parameters of a signature; throws Unreadable, naming the parameter, for what no JSON
 * can stand for.
 */
export function readParameters(
  reader: ModuleReader,
  work: TypeReadContext,
  signature: ts.Signature,
  comment: FunctionComment,
): ReadParameters {
  const given = listParameters(work, signature)
  const all = given.map((each, index) =>
    classifyParameter(reader, work, each, { comment, isLast: index === given.length - 1, index }),
  )
  const spread = findSpreadParameter(all)
  const fields: ParameterFields = new Map()
  const dependent: { [field: string]: readonly string[] } = {}
  // Names of parameters come first: a property of the same name gives way.
  for (const each of all)
    if (each.from === 'value' && each !== spread)
      fields.set(each.name, { schema: each.schema, required: each.required, flag: each.flag })
  const parameters = all.map((each): FunctionParameter => {
    if (each.from === 'empty') return { from: 'fields', fields: [], optional: false }
    if (each.from !== 'value') return { from: each.from }
    if (each === spread) return spreadObjectParameter(work, each, comment, fields, dependent)
    return compact({
      from: each.isRest ? 'rest' : 'field',
      field: each.name,
      convert: each.convert,
    })
  })
  const required = [...fields].filter(([, field]) => field.required).map(([name]) => name)
  const schema: JsonSchema = compact({
    type: 'object',
    properties: Object.fromEntries([...fields].map(([name, field]) => [name, field.schema])),
    required: required.length > 0 ? required : undefined,
    dependentRequired: Object.keys(dependent).length > 0 ? dependent : undefined,
    additionalProperties: false,
  })
  return {
    schema,
    parameters: dropUnusedTail(parameters),
    positional: findPositional(all, spread),
    flags: nameFlags(fields),
  }
}

// The last parameter, where it is the only object with known properties: `find(pattern, { root,
// depth })`.
function findSpreadParameter(all: readonly ClassifiedParameter[]): ValueParameter | undefined {
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

function spreadObjectParameter(
  work: TypeReadContext,
  { name, type, schema, convert, required, defaults, isTakenApart }: ValueParameter,
  comment: FunctionComment,
  fields: ParameterFields,
  dependent: { [field: string]: readonly string[] },
): FunctionParameter {
  const needed = Array.isArray(schema['required']) ? (schema['required'] as readonly string[]) : []
  const own = Object.entries(
    schema['properties'] as { readonly [property: string]: JsonSchema },
  ).map(([property, given]) => {
    const said =
      comment.values.get(`${name}.${property}`) ??
      comment.values.get(property) ??
      (isTakenApart ? findNestedTags(comment, property) : undefined)
    const conversion = convert?.object?.fields?.[property]
    const value = Object.hasOwn(defaults, property)
      ? { default: toShownDefault(defaults[property], conversion) }
      : {}
    const described = describeValue(work, property, { ...given, ...value }, said)
    const symbol = work.checker.getNonNullableType(type).getProperty(property)
    const flag = symbol ? readPropertyTags(work.ts, symbol).flag : {}
    const field = fields.has(property) ? `${name}_${property}` : property
    fields.set(field, {
      schema: described,
      required: required && needed.includes(property) && !Object.hasOwn(described, 'default'),
      flag: { ...flag, ...said?.flag },
    })
    return compact({ property, field, convert: conversion })
  })
  // An optional object may be left out whole; where one of its properties is given, so must be
  // those that it needs.
  const must = own
    .filter(({ property }) => !required && needed.includes(property))
    .map(({ field }) => field)
  if (must.length > 0)
    for (const { field } of own)
      if (!must.includes(field) || must.length > 1)
        dependent[field] = must.filter((other) => other !== field)
  const signals = work.checker
    .getPropertiesOfType(work.checker.getNonNullableType(type))
    .filter((symbol) =>
      isAbortSignal(work, work.checker.getTypeOfSymbolAtLocation(symbol, work.at)),
    )
    .map((symbol) => symbol.name)
  return compact({
    from: 'fields',
    fields: own,
    optional: !required,
    signals: signals.length > 0 ? signals : undefined,
  })
}

// A parameter that is taken apart has no name; a comment gives it one.
function findNestedTags(comment: FunctionComment, property: string): ValueTags | undefined {
  return [...comment.values].find(([name]) => name.endsWith(`.${property}`))?.[1]
}

// Texts and numbers that are expected stand first, and the first parameter of all even where it is
// not; one list may take all that follows.
function findPositional(
  all: readonly ClassifiedParameter[],
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
function dropUnusedTail(parameters: readonly FunctionParameter[]): readonly FunctionParameter[] {
  const last = parameters.findLastIndex(({ from }) => from !== 'nothing')
  return parameters.slice(0, last + 1)
}

/** A parameter that the input gives. */
type ValueParameter = {
  readonly from: 'value'
  readonly name: string
  readonly type: ts.Type
  readonly schema: JsonSchema
  readonly convert: Conversion | undefined
  readonly required: boolean
  /** It has no question mark and no default, whatever its type says. */
  readonly isExpected: boolean
  readonly isRest: boolean
  readonly flag: FlagOptions
  /** Its properties are named in the parameter list, and it is not. */
  readonly isTakenApart: boolean
  /** Of properties that are taken apart in the parameter list. */
  readonly defaults: { readonly [property: string]: unknown }
}

type ClassifiedParameter =
  ValueParameter | { readonly from: 'context' | 'signal' | 'nothing' | 'empty' }

type ParameterPlace = {
  readonly comment: FunctionComment
  readonly isLast: boolean
  readonly index: number
}

const CONTEXT_TYPES = ['Context', 'ToolContext', 'ReadingContext']

/**
 * Finds out what a parameter is for, and reads its type. Throws Unreadable, naming it, where it has
 * to be given and cannot.
 */
function classifyParameter(
  reader: ModuleReader,
  work: TypeReadContext,
  { name: own, declaration, type, isOptional, isRest }: DeclaredParameter,
  { comment, isLast, index }: ParameterPlace,
): ClassifiedParameter {
  const { ts } = work
  if (isLast && !isRest && isContextParameter(reader, work, type, own)) return { from: 'context' }
  if (isAbortSignal(work, type)) return { from: 'signal' }
  const name = declaration && !ts.isIdentifier(declaration.name) ? `arg${index + 1}` : own
  try {
    const { schema, convert, optional } = work.read(type)
    // All that it could hold are functions: there is nothing to give.
    if (isEmptyObjectSchema(schema)) return { from: isOptional ? 'nothing' : 'empty' }
    const above = declaration && readParameterTags(ts, declaration)
    const said = comment.values.get(name)
    const literal = declaration?.initializer && readLiteralValue(work, declaration.initializer)
    const isTakenApart = declaration !== undefined && ts.isObjectBindingPattern(declaration.name)
    const described = describeValue(
      work,
      name,
      {
        ...schema,
        ...compact({
          default:
            literal && !isTakenApart && !isEmptyObject(literal.value)
              ? toShownDefault(literal.value, convert)
              : undefined,
        }),
      },
      above,
      said,
    )
    return {
      from: 'value',
      name,
      type,
      convert,
      isRest,
      isExpected: !isOptional,
      isTakenApart,
      schema: described,
      // A list of further arguments may be empty, unless its type names the first of them.
      required:
        (isRest ? Number(schema['minItems'] ?? 0) > 0 : !isOptional && !optional) &&
        !Object.hasOwn(described, 'default'),
      flag: { ...above?.flag, ...said?.flag },
      defaults: declaration ? readBindingDefaults(work, declaration) : {},
    }
  } catch (error) {
    if (!(error instanceof UnreadableTypeError)) throw error
    if (!isOptional)
      throw new UnreadableTypeError(
        error.reason,
        `the parameter '${own}' cannot be given: ${error.message}`,
        error.fix,
      )
    work.note('left-out', `the parameter '${own}' is left out: ${error.message}`)
    return { from: 'nothing' }
  }
}

function readParameterTags(
  ts: TypeReadContext['ts'],
  declaration: ts.ParameterDeclaration,
): ValueTags {
  const { text, blocks } = parseComment(getComment(ts, declaration))
  return readValueTags(blocks, text)
}

// `({ root = '.', depth = 3 })`: the defaults stand in the pattern.
function readBindingDefaults(work: TypeReadContext, { name }: ts.ParameterDeclaration): JsonObject {
  const { ts } = work
  if (!ts.isObjectBindingPattern(name)) return {}
  return Object.fromEntries(
    name.elements.flatMap((element): [string, unknown][] => {
      const key = element.propertyName ?? element.name
      const literal = element.initializer && readLiteralValue(work, element.initializer)
      return literal && ts.isIdentifier(key) ? [[key.text, literal.value]] : []
    }),
  )
}

// By its type; by its name where the type is not known, and where it wants nothing that the context
// has not.
function isContextParameter(
  reader: ModuleReader,
  { ts, checker }: TypeReadContext,
  type: ts.Type,
  name: string,
): boolean {
  const present = checker.getNonNullableType(type)
  if (isToolableType(reader, present, CONTEXT_TYPES)) return true
  if (
    present.aliasTypeArguments?.some((argument) => isToolableType(reader, argument, CONTEXT_TYPES))
  )
    return true
  return /^(ctx|context)$/.test(name) && (present.flags & ts.TypeFlags.Any) !== 0
}

function isEmptyObjectSchema({ type, properties }: JsonSchema): boolean {
  return type === 'object' && isEmptyObject(properties)
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}

/** A parameter as a caller sees it. */
type DeclaredParameter = {
  readonly name: string
  readonly declaration: ts.ParameterDeclaration | undefined
  readonly type: ts.Type
  readonly isOptional: boolean
  readonly isRest: boolean
}

/**
 * The parameters of a signature. Those of a wrapped function, `(...args: Parameters<typeof
 * wrapped>)`, stand for themselves. Throws Unreadable for a method that needs its object.
 */
function listParameters(
  work: TypeReadContext,
  signature: ts.Signature,
): readonly DeclaredParameter[] {
  const { ts, checker, at } = work
  rejectMethod(work, signature)
  const all = signature.getParameters().map((symbol): DeclaredParameter => {
    const declaration =
      symbol.valueDeclaration && ts.isParameter(symbol.valueDeclaration)
        ? symbol.valueDeclaration
        : undefined
    const isRest = declaration?.dotDotDotToken !== undefined
    const isOptional =
      isRest ||
      (declaration !== undefined &&
        (checker.isOptionalParameter(declaration) || declaration.initializer !== undefined)) ||
      (symbol.flags & ts.SymbolFlags.Optional) !== 0
    return {
      name: symbol.name,
      declaration,
      type: checker.getTypeOfSymbolAtLocation(symbol, declaration ?? at),
      isOptional,
      isRest,
    }
  })
  const last = all.at(-1)
  const inside =
    last?.isRest && checker.isTupleType(last.type)
      ? expandTuple(work, last.type as ts.TupleTypeReference, all.length)
      : undefined
  return inside ? [...all.slice(0, -1), ...inside] : all
}

// Only where they are known by name, and none takes the rest. One that is taken apart has no name.
function expandTuple(
  { ts, checker }: TypeReadContext,
  type: ts.TupleTypeReference,
  place: number,
): readonly DeclaredParameter[] | undefined {
  const { labeledElementDeclarations: labels, elementFlags } = type.target
  const found = checker.getTypeArguments(type).map((item, index): DeclaredParameter | undefined => {
    const label = labels?.[index]
    const flags = elementFlags[index]!
    if (flags & ts.ElementFlags.Variable) return undefined
    const declaration = label && ts.isParameter(label) ? label : undefined
    return {
      name: label && ts.isIdentifier(label.name) ? label.name.text : `arg${place + index}`,
      declaration,
      type: item,
      isOptional: (flags & ts.ElementFlags.Optional) !== 0,
      isRest: false,
    }
  })
  return labels?.some((label) => label) && found.every((each) => each !== undefined)
    ? found
    : undefined
}

function rejectMethod({ ts, checker }: TypeReadContext, { declaration }: ts.Signature): void {
  const [first] = declaration?.parameters ?? []
  if (!first || !ts.isIdentifier(first.name) || first.name.text !== 'this') return
  if (
    checker.getTypeAtLocation(first).flags &
    (ts.TypeFlags.Void | ts.TypeFlags.Undefined | ts.TypeFlags.Any | ts.TypeFlags.Unknown)
  )
    return
  throw new UnreadableTypeError(
    'this',
    "it is a method: it needs an object as 'this'",
    'Write a function that takes the object, or makes it',
  )
}

/**
 * The flags of fields that need one of their own: because a comment says so, or because every tool
 * has one of that name already.
 */
function nameFlags(
  fields: ReadonlyMap<string, { readonly schema: JsonSchema; readonly flag: FlagOptions }>,
): { readonly [field: string]: FlagOptions } {
  const flags: [string, FlagOptions][] = []
  const taken = new Set<string>()
  for (const [field, { schema, flag }] of fields) {
    const wanted = flag.name ?? (toFlagName(field) || 'value')
    const free = suggestFlagName(wanted, schema['type'] === 'boolean') ?? wanted
    const name = taken.has(free) ? `other-${free}` : free
    taken.add(name)
    const options = { ...flag, ...compact({ name: name !== toFlagName(field) ? name : undefined }) }
    if (Object.keys(options).length > 0) flags.push([field, options])
  }
  return Object.fromEntries(flags)
}
