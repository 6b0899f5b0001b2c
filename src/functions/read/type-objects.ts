/**
 * Object types and the classes of the language and of Node as JSON Schema.
 */

import type ts from 'typescript'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Conversion } from '../manifest.ts'
import type { TypeReadContext, TypeReading } from './reader.ts'
import { isPrivateMember, UnreadableTypeError } from './reader.ts'

/** One property of an object type that JSON has a form for. */
type JsonProperty = {
  readonly name: string
  readonly schema: JsonSchema
  readonly convert?: Conversion
  readonly required: boolean
}

/**
 * Reads a type with properties. Optional ones that JSON has no form for are left out; a required
 * one makes the whole type unreadable.
 */
export function readObject(work: TypeReadContext, type: ts.Type): TypeReading {
  rejectClass(work, type)
  const toJson = work.direction === 'output' ? readToJsonType(work, type) : undefined
  if (toJson) return toJson
  const properties = readProperties(work, type)
  const values = readIndexSignature(work, type)
  const fields = Object.fromEntries(
    properties.flatMap(({ name, convert }): [string, Conversion][] =>
      convert ? [[name, convert]] : [],
    ),
  )
  const required = properties.filter((property) => property.required).map(({ name }) => name)
  if (properties.length === 0 && !values)
    return {
      schema:
        work.checker.getPropertiesOfType(type).length === 0
          ? {}
          : compact({ type: 'object', properties: work.direction === 'input' ? {} : undefined }),
    }
  const object = compact({
    fields: Object.keys(fields).length > 0 ? fields : undefined,
    values: values?.convert,
  })
  // A value may always have more properties than its type says; only a caller has to know what it
  // gives.
  const open = work.direction === 'output' ? true : undefined
  return compact({
    schema: compact({
      type: 'object',
      properties:
        properties.length > 0
          ? Object.fromEntries(properties.map(({ name, schema }) => [name, schema]))
          : undefined,
      required: required.length > 0 ? required : undefined,
      additionalProperties: values ? values.schema : open,
    }),
    convert: Object.keys(object).length > 0 ? { object } : undefined,
  })
}

/** The properties of an object type, in the order in which they are written. */
function readProperties(work: TypeReadContext, type: ts.Type): readonly JsonProperty[] {
  return work.checker.getPropertiesOfType(type).flatMap((symbol) => {
    const property = readProperty(work, symbol)
    return property ? [property] : []
  })
}

function readProperty(work: TypeReadContext, symbol: ts.Symbol): JsonProperty | undefined {
  const { ts, checker } = work
  // Symbols and private names are no names of JSON.
  if (symbol.name.startsWith('__@') || isPrivateMember(work, symbol)) return undefined
  const type = checker.getTypeOfSymbolAtLocation(symbol, work.at)
  const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0
  if (work.direction === 'output' && isFunctionType(work, type)) return undefined
  // The signal of the call is given where the object is made; nobody can write one.
  if (isAbortSignal(work, type)) return undefined
  try {
    const { schema, convert, optional } = work.read(type)
    const required = !isOptional && !optional
    const described = work.describe(symbol, schema)
    if (Object.hasOwn(described, 'not')) return undefined
    return compact({
      name: symbol.name,
      schema: described,
      required: required && !Object.hasOwn(described, 'default'),
      convert,
    })
  } catch (error) {
    if (!(error instanceof UnreadableTypeError)) throw error
    if (!isOptional && !includesUndefined(work, type))
      throw new UnreadableTypeError(error.reason, `${symbol.name}: ${error.message}`, error.fix)
    work.note('left-out', `the property '${symbol.name}' is left out: ${error.message}`)
    return undefined
  }
}

/** True for the type of a signal that ends work. */
export function isAbortSignal(
  work: Pick<TypeReadContext, 'program' | 'checker'>,
  type: ts.Type,
): boolean {
  return getBuiltinName(work, work.checker.getNonNullableType(type)) === 'AbortSignal'
}

function readIndexSignature(work: TypeReadContext, type: ts.Type): TypeReading | undefined {
  const { checker } = work
  const index = checker
    .getIndexInfosOfType(type)
    .find(
      ({ keyType }) =>
        keyType.flags &
        (work.ts.TypeFlags.String | work.ts.TypeFlags.Number | work.ts.TypeFlags.TemplateLiteral),
    )
  return index && work.read(index.type)
}

function isFunctionType({ checker }: TypeReadContext, type: ts.Type): boolean {
  return checker.getNonNullableType(type).getCallSignatures().length > 0
}

function includesUndefined({ ts }: TypeReadContext, type: ts.Type): boolean {
  return type.isUnion() && type.types.some(({ flags }) => flags & ts.TypeFlags.Undefined)
}

// What has methods needs them: a plain object in its place would fail somewhere inside.
function rejectClass(work: TypeReadContext, type: ts.Type): void {
  if (work.direction === 'output' || !((type.getSymbol()?.flags ?? 0) & work.ts.SymbolFlags.Class))
    return
  const needs = work.checker
    .getPropertiesOfType(type)
    .find(
      (symbol) =>
        isPrivateMember(work, symbol) ||
        isFunctionType(work, work.checker.getTypeOfSymbolAtLocation(symbol, work.at)),
    )
  const name = work.checker.typeToString(type)
  if (needs)
    throw new UnreadableTypeError(
      'class',
      `an object of the class ${name} cannot be written as JSON`,
      'Take plain data, and make the object inside',
    )
}

// As JSON writes it.
function readToJsonType(work: TypeReadContext, type: ts.Type): TypeReading | undefined {
  const method = type.getProperty('toJSON')
  const [signature] = method
    ? work.checker.getTypeOfSymbolAtLocation(method, work.at).getCallSignatures()
    : []
  return signature && work.read(signature.getReturnType())
}

type BuiltinReader = (work: TypeReadContext, args: readonly ts.Type[]) => TypeReading

const BYTES_SCHEMA = { type: 'string', contentEncoding: 'base64' } as const

const BUILTIN_READERS: ReadonlyMap<string, BuiltinReader> = new Map<string, BuiltinReader>([
  // A person writes the day alone; what comes out is always the whole moment.
  [
    'Date',
    ({ direction }) =>
      direction === 'output'
        ? { schema: { type: 'string', format: 'date-time' } }
        : {
            schema: {
              anyOf: [
                { type: 'string', format: 'date-time' },
                { type: 'string', format: 'date' },
              ],
            },
            convert: { text: 'date' },
          },
  ],
  [
    'URL',
    ({ direction }) => ({
      schema: compact({ type: 'string', format: direction === 'input' ? 'uri' : undefined }),
      convert: { text: 'url' },
    }),
  ],
  ['URLSearchParams', outputOnly('string')],
  ['RegExp', () => ({ schema: { type: 'string' }, convert: { text: 'regexp' } })],
  ['Buffer', () => ({ schema: BYTES_SCHEMA, convert: { text: 'buffer' } })],
  ['Uint8Array', () => ({ schema: BYTES_SCHEMA, convert: { text: 'bytes' } })],
  ['ArrayBuffer', outputOnly('string')],
  ['Set', readSet],
  ['ReadonlySet', readSet],
  ['Iterable', readIterable],
  ['ArrayLike', readIterable],
  ['AsyncIterable', rejectInput('stream', 'a source of values that come later')],
  ['Map', readMap],
  ['ReadonlyMap', readMap],
  ['Error', outputOnly('object')],
  ['String', () => ({ schema: { type: 'string' } })],
  ['Number', () => ({ schema: { type: 'number' } })],
  ['Boolean', () => ({ schema: { type: 'boolean' } })],
  ['Function', rejectInput('callback', 'a function')],
  ['Promise', rejectInput('promise', 'a promise')],
  ['WeakMap', rejectInput('class', 'a WeakMap')],
  ['WeakSet', rejectInput('class', 'a WeakSet')],
  ['AbortSignal', rejectInput('signal', 'an AbortSignal')],
  ['ReadableStream', rejectInput('stream', 'a stream')],
  ['WritableStream', rejectInput('stream', 'a stream')],
])

/**
 * Reads the classes of the language and of node that JSON has a form for; undefined for every other
 * type.
 */
export function readBuiltin(work: TypeReadContext, type: ts.Type): TypeReading | undefined {
  const name = getBuiltinName(work, type)
  const read = name === undefined ? undefined : BUILTIN_READERS.get(name)
  return read?.(work, work.checker.getTypeArguments(type as ts.TypeReference))
}

/** The name of a type that the language or node declares; undefined for types of others. */
export function getBuiltinName(
  { program }: Pick<TypeReadContext, 'program'>,
  type: ts.Type,
): string | undefined {
  const symbol = type.getSymbol()
  const file = symbol?.declarations?.[0]?.getSourceFile()
  if (!symbol || !file) return undefined
  return program.isSourceFileDefaultLibrary(file) ||
    /\/node_modules\/(@types\/(node|bun)|undici-types|buffer)\//.test(file.fileName)
    ? symbol.name
    : undefined
}

function readSet(work: TypeReadContext, [item]: readonly ts.Type[]): TypeReading {
  const { schema, convert } = item ? work.read(item) : { schema: {}, convert: undefined }
  return {
    schema: { type: 'array', items: schema, uniqueItems: true },
    convert: { list: compact({ to: 'set', items: convert }) },
  }
}

// A list is one. What comes out may be anything that gives values one by one.
function readIterable(work: TypeReadContext, [item]: readonly ts.Type[]): TypeReading {
  if (work.direction === 'output') return { schema: {} }
  const { schema, convert } = item ? work.read(item) : { schema: {}, convert: undefined }
  return compact({
    schema: { type: 'array', items: schema },
    convert: convert ? { list: { items: convert } } : undefined,
  })
}

// Texts as keys make an object; every other map is a list of pairs.
function readMap(work: TypeReadContext, [key, value]: readonly ts.Type[]): TypeReading {
  const keys = key ? work.read(key) : { schema: { type: 'string' } as const }
  const values: TypeReading = value ? work.read(value) : { schema: {} }
  const named =
    keys.convert === undefined &&
    (keys.schema['type'] === 'string' || Array.isArray(keys.schema['enum']))
  if (named) {
    const only = Array.isArray(keys.schema['enum']) ? { propertyNames: keys.schema } : {}
    return {
      schema: { type: 'object', additionalProperties: values.schema, ...only },
      convert: { object: compact({ to: 'map', values: values.convert }) },
    }
  }
  const pair: Conversion = { list: { first: [keys.convert ?? null, values.convert ?? null] } }
  return {
    schema: {
      type: 'array',
      items: { type: 'array', prefixItems: [keys.schema, values.schema], minItems: 2, maxItems: 2 },
    },
    convert: {
      list: compact({ to: 'map', items: (keys.convert ?? values.convert) ? pair : undefined }),
    },
  }
}

function outputOnly(type: string): BuiltinReader {
  return ({ direction }) => {
    if (direction === 'output') return { schema: { type } }
    throw new UnreadableTypeError(
      'class',
      'an object of a class of the language cannot be written as JSON',
      'Take a text or plain data instead',
    )
  }
}

function rejectInput(reason: string, what: string): BuiltinReader {
  return ({ direction }) => {
    if (direction === 'output') return { schema: {} }
    throw new UnreadableTypeError(
      reason,
      `${what} cannot be written as JSON`,
      'Take data instead, or make it optional',
    )
  }
}
