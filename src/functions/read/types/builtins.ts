import type ts from 'typescript'
import type { Conversion } from '../../manifest.ts'
import { Unreadable } from './work.ts'
import type { Reading, Work } from './work.ts'

type ReadBuiltin = (work: Work, args: readonly ts.Type[]) => Reading

const BYTES = { type: 'string', contentEncoding: 'base64' } as const

const BUILTINS: ReadonlyMap<string, ReadBuiltin> = new Map<string, ReadBuiltin>([
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
      schema: { type: 'string', ...(direction === 'input' && { format: 'uri' }) },
      convert: { text: 'url' },
    }),
  ],
  ['URLSearchParams', outputOnly('string')],
  ['RegExp', () => ({ schema: { type: 'string' }, convert: { text: 'regexp' } })],
  ['Buffer', () => ({ schema: BYTES, convert: { text: 'buffer' } })],
  ['Uint8Array', () => ({ schema: BYTES, convert: { text: 'bytes' } })],
  ['ArrayBuffer', outputOnly('string')],
  ['Set', readSet],
  ['ReadonlySet', readSet],
  ['Iterable', readIterable],
  ['ArrayLike', readIterable],
  ['AsyncIterable', refuse('stream', 'a source of values that come later')],
  ['Map', readMap],
  ['ReadonlyMap', readMap],
  ['Error', outputOnly('object')],
  ['String', () => ({ schema: { type: 'string' } })],
  ['Number', () => ({ schema: { type: 'number' } })],
  ['Boolean', () => ({ schema: { type: 'boolean' } })],
  ['Function', refuse('callback', 'a function')],
  ['Promise', refuse('promise', 'a promise')],
  ['WeakMap', refuse('class', 'a WeakMap')],
  ['WeakSet', refuse('class', 'a WeakSet')],
  ['AbortSignal', refuse('signal', 'an AbortSignal')],
  ['ReadableStream', refuse('stream', 'a stream')],
  ['WritableStream', refuse('stream', 'a stream')],
])

/** Reads the classes of the language and of node that JSON has a form for; undefined for every other type. */
export function readBuiltin(work: Work, type: ts.Type): Reading | undefined {
  const name = builtinName(work, type)
  const read = name === undefined ? undefined : BUILTINS.get(name)
  return read?.(work, work.checker.getTypeArguments(type as ts.TypeReference))
}

/** The name of a type that the language or node declares; undefined for types of others. */
export function builtinName({ program }: Pick<Work, 'program'>, type: ts.Type): string | undefined {
  const symbol = type.getSymbol()
  const file = symbol?.declarations?.[0]?.getSourceFile()
  if (!symbol || !file) return undefined
  return program.isSourceFileDefaultLibrary(file) ||
    /\/node_modules\/(@types\/(node|bun)|undici-types|buffer)\//.test(file.fileName)
    ? symbol.name
    : undefined
}

function readSet(work: Work, [item]: readonly ts.Type[]): Reading {
  const { schema, convert } = item ? work.read(item) : { schema: {}, convert: undefined }
  return {
    schema: { type: 'array', items: schema, uniqueItems: true },
    convert: { list: { to: 'set', ...(convert && { items: convert }) } },
  }
}

// A list is one. What comes out may be anything that gives values one by one.
function readIterable(work: Work, [item]: readonly ts.Type[]): Reading {
  if (work.direction === 'output') return { schema: {} }
  const { schema, convert } = item ? work.read(item) : { schema: {}, convert: undefined }
  return {
    schema: { type: 'array', items: schema },
    ...(convert && { convert: { list: { items: convert } } }),
  }
}

// Texts as keys make an object; every other map is a list of pairs.
function readMap(work: Work, [key, value]: readonly ts.Type[]): Reading {
  const keys = key ? work.read(key) : { schema: { type: 'string' } as const }
  const values: Reading = value ? work.read(value) : { schema: {} }
  const named =
    keys.convert === undefined &&
    (keys.schema['type'] === 'string' || Array.isArray(keys.schema['enum']))
  if (named) {
    const only = Array.isArray(keys.schema['enum']) ? { propertyNames: keys.schema } : {}
    return {
      schema: { type: 'object', additionalProperties: values.schema, ...only },
      convert: { object: { to: 'map', ...(values.convert && { values: values.convert }) } },
    }
  }
  const pair: Conversion = { list: { first: [keys.convert ?? null, values.convert ?? null] } }
  return {
    schema: {
      type: 'array',
      items: { type: 'array', prefixItems: [keys.schema, values.schema], minItems: 2, maxItems: 2 },
    },
    convert: { list: { to: 'map', ...((keys.convert ?? values.convert) && { items: pair }) } },
  }
}

function outputOnly(type: string): ReadBuiltin {
  return ({ direction }) => {
    if (direction === 'output') return { schema: { type } }
    throw new Unreadable(
      'class',
      'an object of a class of the language cannot be written as JSON',
      'Take a text or plain data instead',
    )
  }
}

function refuse(reason: string, what: string): ReadBuiltin {
  return ({ direction }) => {
    if (direction === 'output') return { schema: {} }
    throw new Unreadable(
      reason,
      `${what} cannot be written as JSON`,
      'Take data instead, or make it optional',
    )
  }
}
