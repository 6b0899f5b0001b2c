/**
 * Types as JSON Schema, with the conversion that a value needs before the function gets it. Reads
 * any type, and what a function returns.
 */

import type ts from 'typescript'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Conversion, FunctionManifest } from '../manifest.ts'
import type { ModuleReader, TypeReadContext, TypeReading } from './reader.ts'
import { isToolableType, UnreadableTypeError } from './reader.ts'
import { getBuiltinName, readBuiltin, readObject } from './type-objects.ts'
import { readPrimitive, readUnion } from './type-unions.ts'

const MAX_TYPE_DEPTH = 24
const MAX_TYPES = 4000
const MAX_SAME_TYPE_DEPTH = 3

type TypeReadOptions = Omit<TypeReadContext, 'read' | 'definitions' | 'conversions'>

/** Makes ready to read the types of one function. */
export function createTypeReadContext(given: TypeReadOptions): TypeReadContext {
  const path: TypePathStep[] = []
  let count = 0
  const work: TypeReadContext = {
    ...given,
    definitions: new Map(),
    conversions: new Map(),
    read(type) {
      count += 1
      // A type that grows with every level has no end: what is too deep is left open.
      if (
        path.length > MAX_TYPE_DEPTH ||
        count > MAX_TYPES ||
        countEnclosing(work, path, type) >= MAX_SAME_TYPE_DEPTH
      )
        return { schema: {} }
      const repeated = path.find((step) => step.type === type)
      if (repeated) return referToType(work, repeated)
      const step: TypePathStep = { type, name: undefined }
      const isNamed = isObjectType(work, type)
      if (isNamed) path.push(step)
      try {
        const reading = readSingleType(work, type)
        return step.name === undefined ? reading : defineType(work, step.name, reading)
      } finally {
        if (isNamed) path.pop()
      }
    },
  }
  return work
}

// How often a type of the same name, with other arguments, is around this one.
function countEnclosing(
  { checker }: TypeReadContext,
  path: readonly TypePathStep[],
  type: ts.Type,
): number {
  const symbol = type.aliasSymbol ?? type.getSymbol()
  if (
    !symbol ||
    symbol.name.startsWith('__') ||
    checker.isArrayType(type) ||
    checker.isTupleType(type)
  )
    return 0
  return path.filter(
    (step) => step.type !== type && (step.type.aliasSymbol ?? step.type.getSymbol()) === symbol,
  ).length
}

type TypePathStep = { readonly type: ts.Type; name: string | undefined }

function referToType(work: TypeReadContext, step: TypePathStep): TypeReading {
  step.name ??= reserveName(work, step.type)
  return { schema: { $ref: `#/$defs/${step.name}` }, convert: { ref: step.name } }
}

function defineType(
  work: TypeReadContext,
  name: string,
  { schema, convert, optional }: TypeReading,
): TypeReading {
  work.definitions.set(name, schema)
  // A reference to a conversion that does nothing is harmless.
  work.conversions.set(name, convert ?? {})
  return compact({ schema: { $ref: `#/$defs/${name}` }, convert: { ref: name }, optional })
}

function reserveName({ definitions, checker }: TypeReadContext, type: ts.Type): string {
  const wanted =
    checker
      .typeToString(type)
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 40) || 'Type'
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`
    if (!definitions.has(name)) {
      // Taken from now on, before it is known what it is.
      definitions.set(name, {})
      return name
    }
  }
}

function isObjectType({ ts }: TypeReadContext, type: ts.Type): boolean {
  return (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.UnionOrIntersection)) !== 0
}

function readSingleType(work: TypeReadContext, type: ts.Type): TypeReading {
  const { TypeFlags } = work.ts
  const { flags } = type
  if (flags & TypeFlags.Any) return readAny(work, type)
  if (flags & TypeFlags.Unknown) return createOpenSchema(work)
  if (flags & (TypeFlags.Undefined | TypeFlags.Void))
    return { schema: { type: 'null' }, optional: true }
  if (flags & TypeFlags.Never)
    return work.direction === 'output'
      ? createOpenSchema(work)
      : { schema: { not: {} }, optional: true }
  if (type.isUnion()) return readUnion(work, type)
  const literal = readPrimitive(work, type)
  if (literal) return literal
  if (flags & TypeFlags.NonPrimitive) return { schema: { type: 'object' } }
  if (type.isIntersection()) return readIntersection(work, type)
  if (flags & TypeFlags.Object) return readObjectType(work, type)
  return readDeferred(work, type)
}

function readAny(work: TypeReadContext, type: ts.Type): TypeReading {
  if (work.direction === 'input' && isUnresolved(work, type))
    throw new UnreadableTypeError(
      'unresolved',
      'its type cannot be found',
      'Declare or import the type that it names, and see that the import leads to a file',
    )
  if (work.direction === 'input' && work.strict)
    throw new UnreadableTypeError(
      'any',
      'nothing is known about its type (any)',
      'Give it a type; `unknown` where any value will do',
    )
  return createOpenSchema(work)
}

// The compiler takes a type that it cannot find for `any`, which nobody has written. Packages of
// others are taken as they come.
function isUnresolved({ at }: TypeReadContext, type: ts.Type): boolean {
  return (
    (type as { readonly intrinsicName?: string }).intrinsicName === 'error' &&
    !at.getSourceFile().fileName.includes('/node_modules/')
  )
}

// Anything may be nothing: a property of a result may be missing.
function createOpenSchema({ direction }: TypeReadContext): TypeReading {
  return compact({ schema: {}, optional: direction === 'output' || undefined })
}

function readObjectType(work: TypeReadContext, type: ts.Type): TypeReading {
  const known = readBuiltin(work, type) ?? readList(work, type)
  if (known) return known
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) {
    if (work.direction === 'output') return { schema: {} }
    throw new UnreadableTypeError(
      'callback',
      'a function cannot be written as JSON',
      'Take data instead, or make the parameter optional',
    )
  }
  return readObject(work, type)
}

// A branded text (`string & { __brand: 'id' }`) is a text; everything else is one object with all
// properties.
function readIntersection(work: TypeReadContext, type: ts.IntersectionType): TypeReading {
  const { TypeFlags } = work.ts
  const primitive = type.types.find(
    ({ flags }) =>
      flags &
      (TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BooleanLike | TypeFlags.BigIntLike),
  )
  if (primitive) return work.read(primitive)
  const list = type.types.find(
    (member) => work.checker.isArrayType(member) || work.checker.isTupleType(member),
  )
  return list ? work.read(list) : readObject(work, type)
}

// Type parameters, indexed access and conditional types are as wide as what they are bound to.
function readDeferred(work: TypeReadContext, type: ts.Type): TypeReading {
  const bound = work.checker.getBaseConstraintOfType(type)
  if (bound && bound !== type) return work.read(bound)
  const fallback = type.isTypeParameter() ? type.getDefault() : undefined
  return fallback ? work.read(fallback) : createOpenSchema(work)
}

/** A schema with the recursive types that it refers to. */
export function withDefinitions(
  schema: JsonSchema,
  definitions: ReadonlyMap<string, JsonSchema>,
): JsonSchema {
  const used = new Map<string, JsonSchema>()
  const collect = (part: JsonSchema): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/\$defs\/([A-Za-z0-9_]+)"/g)) {
      const definition = definitions.get(name!)
      if (used.has(name!) || !definition) continue
      used.set(name!, definition)
      collect(definition)
    }
  }
  collect(schema)
  return used.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(used) }
}

/** Reads arrays and tuples; undefined for every other type. */
function readList(work: TypeReadContext, type: ts.Type): TypeReading | undefined {
  const { checker } = work
  if (checker.isTupleType(type)) return readTuple(work, type as ts.TupleTypeReference)
  if (!checker.isArrayType(type)) return undefined
  const [item] = checker.getTypeArguments(type as ts.TypeReference)
  const { schema, convert } = item ? readListItem(work, item) : { schema: {}, convert: undefined }
  return compact({
    schema: { type: 'array', items: schema },
    convert: convert ? { list: { items: convert } } : undefined,
  })
}

function readTuple(work: TypeReadContext, type: ts.TupleTypeReference): TypeReading {
  const { ElementFlags } = work.ts
  const { elementFlags } = type.target
  const items = work.checker.getTypeArguments(type).map((item) => readListItem(work, item))
  const restAt = elementFlags.findIndex((flags) => (flags & ElementFlags.Variable) !== 0)
  const first = restAt === -1 ? items : items.slice(0, restAt)
  const rest = restAt === -1 ? undefined : items[restAt]!
  const required = elementFlags.filter((flags) => (flags & ElementFlags.Required) !== 0).length
  // What follows a rest element cannot be said in place; it is one of the items all the same.
  const behind = restAt === -1 ? [] : items.slice(restAt + 1)
  const others = rest && [rest, ...behind].map(({ schema }) => schema)
  const schema = {
    type: 'array',
    ...compact({ prefixItems: first.length > 0 ? first.map((item) => item.schema) : undefined }),
    ...(others
      ? { items: others.length === 1 ? others[0] : { anyOf: others } }
      : { maxItems: first.length }),
    ...compact({ minItems: required > 0 ? required : undefined }),
  }
  const converts = first.some(({ convert }) => convert) || rest?.convert
  const convert: Conversion = {
    list: compact({
      first: first.map((item) => item.convert ?? null),
      items: rest?.convert ? rest.convert : undefined,
    }),
  }
  return compact({ schema, convert: converts ? convert : undefined })
}

// JSON has no `undefined` in lists: it comes out as null.
function readListItem(work: TypeReadContext, type: ts.Type): TypeReading {
  const { schema, convert, optional } = work.read(type)
  const nullable =
    optional && work.direction === 'output' ? { anyOf: [schema, { type: 'null' }] } : schema
  return compact({ schema: nullable, convert })
}

const GENERATOR_TYPES = [
  'Generator',
  'AsyncGenerator',
  'Iterator',
  'AsyncIterator',
  'Iterable',
  'AsyncIterable',
  'IterableIterator',
  'AsyncIterableIterator',
  'IteratorObject',
  'AsyncIteratorObject',
  'ReadableStream',
]
const EVENT_TYPES = [
  'ProgressEvent',
  'LogEvent',
  'ArtifactEvent',
  'ItemEvent',
  'ResultYield',
  'SessionStartEvent',
  'AwaitingInputEvent',
  'SessionEndEvent',
]
const QUESTION_EVENT_TYPES = ['SessionStartEvent', 'AwaitingInputEvent']

/** What a function gives. */
type FunctionReturns = Pick<FunctionManifest, 'output' | 'yields' | 'collects' | 'session'>

/**
 * Reads what a function returns. Where nothing exact can be said there is no schema: a good result
 * is never refused for a type that was not understood.
 */
export function readReturns(
  reader: ModuleReader,
  work: TypeReadContext,
  signature: ts.Signature,
  description: string | undefined,
): FunctionReturns {
  const { ts, checker } = work
  const type = checker.getAwaitedType(signature.getReturnType()) ?? signature.getReturnType()
  if (type.getCallSignatures().length > 0)
    throw new UnreadableTypeError(
      'callback',
      'it returns a function, which JSON cannot carry',
      'Write a function that calls it and returns what comes of it',
    )
  const generator = findGenerator(work, type)
  const describe = (schema: JsonSchema | undefined): Pick<FunctionReturns, 'output'> =>
    schema && isTrustedSignature(reader, signature)
      ? { output: { ...schema, ...compact({ description: description || undefined }) } }
      : {}
  if (!generator) return describe(readResultSchema(reader, work, type))
  const [item, result] = checker.getTypeArguments(generator as ts.TypeReference)
  const yields = item ? classifyYields(reader, work, item) : { yields: 'both' as const }
  const returnsNothing =
    result === undefined ||
    (result.flags & (ts.TypeFlags.VoidLike | ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0
  if (!returnsNothing) return { ...yields, ...describe(readResultSchema(reader, work, result)) }
  if (yields.yields === 'events') return yields
  const items = yields.yields === 'items' && item ? readResultSchema(reader, work, item) : undefined
  return { ...yields, collects: true, ...describe(items && { type: 'array', items }) }
}

function readResultSchema(
  reader: ModuleReader,
  work: TypeReadContext,
  type: ts.Type,
): JsonSchema | undefined {
  const reply = isToolableType(reader, type, ['Reply']) ? type.aliasTypeArguments?.[0] : undefined
  try {
    const { schema, optional } = work.read(reply ?? type)
    if (Object.keys(schema).length === 0 || schema['type'] === 'null') return undefined
    return withDefinitions(
      optional && !allowsNull(schema) ? { anyOf: [schema, { type: 'null' }] } : schema,
      work.definitions,
    )
  } catch (error) {
    if (error instanceof UnreadableTypeError) return undefined
    throw error
  }
}

function allowsNull(schema: JsonSchema): boolean {
  return (
    Array.isArray(schema['anyOf']) &&
    (schema['anyOf'] as JsonSchema[]).some(({ type }) => type === 'null')
  )
}

function findGenerator(work: TypeReadContext, type: ts.Type): ts.Type | undefined {
  const members = type.isUnion() ? type.types : [type]
  const generators = members.filter((member) =>
    GENERATOR_TYPES.includes(getBuiltinName(work, member) ?? ''),
  )
  return generators.length === members.length ? generators[0] : undefined
}

function classifyYields(
  reader: ModuleReader,
  { ts }: TypeReadContext,
  type: ts.Type,
): Pick<FunctionReturns, 'yields' | 'session'> {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return { yields: 'both' }
  const members = type.isUnion() ? type.types : [type]
  const events = members.filter((member) => isToolableType(reader, member, EVENT_TYPES))
  if (events.length === 0) return { yields: 'items' }
  const isSession =
    members.length < EVENT_TYPES.length &&
    members.some((member) => isToolableType(reader, member, QUESTION_EVENT_TYPES))
  return compact({
    yields: events.length === members.length ? 'events' : 'both',
    session: isSession || undefined,
  })
}

// Types that somebody else wrote beside the code may be wrong, and so may be what the compiler
// guesses of JavaScript.
function isTrustedSignature({ ts, entry }: ModuleReader, signature: ts.Signature): boolean {
  const file = signature.declaration?.getSourceFile() ?? entry
  if (/\/node_modules\/@types\//.test(file.fileName)) return false
  if (!/\.[cm]?jsx?$/.test(file.fileName)) return true
  return (
    signature.declaration !== undefined &&
    !ts.isJSDocSignature(signature.declaration) &&
    ts.getJSDocReturnType(signature.declaration) !== undefined
  )
}
