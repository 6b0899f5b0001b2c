/**
 * Calls a function with a checked input: JSON values become arguments, and what the function
 * returns or yields becomes plain JSON. Loaded by the first call.
 */

import { isReply } from '../core/result.ts'
import { stream } from '../define/results.ts'
import type { Context } from '../protocol/context.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject, setOwnField } from '../util/values.ts'
import type {
  Conversion,
  FunctionManifest,
  FunctionParameter,
  ObjectConversion,
  TextConversion,
} from './manifest.ts'

type FunctionFields = { readonly [field: string]: unknown }

/**
 * Calls the function of a manifest with a checked input, and gives a result that JSON can carry, or
 * the generator that comes to it.
 */
export async function callFunction(
  manifest: FunctionManifest,
  exported: object,
  fields: FunctionFields,
  ctx: Context,
): Promise<unknown> {
  const { owner, member } = findExportedFunction(manifest.export, exported)
  const args = createArguments(manifest, fields, ctx)
  const returned: unknown = await member.apply(owner, args)
  return manifest.yields ? streamYields(toIterator(returned), manifest) : toPlainResult(returned)
}

function toPlainResult(returned: unknown): unknown {
  return isReply(returned)
    ? { ...returned, result: toPlainValue(returned.result) }
    : toPlainValue(returned)
}

type ExportedMembers = { readonly [key: string]: unknown }
type AnyFunction = (...args: unknown[]) => unknown

function findExportedFunction(
  path: string,
  exported: object,
): { readonly owner: unknown; readonly member: AnyFunction } {
  let owner: unknown
  let member: unknown = exported
  // What CommonJS exports has not always a name of its own: then it is found in the default export.
  const keys = path.split('.')
  for (const key of (exported as ExportedMembers)[keys[0]!] === undefined
    ? ['default', ...keys]
    : keys) {
    owner = member
    member = (member as ExportedMembers | null | undefined)?.[key]
  }
  if (typeof member !== 'function')
    throw new ToolError('CONFIG', `the module exports no function '${path}' any more`, {
      suggestion: 'Its types say that there is one: build them together',
    })
  return { owner: owner === exported ? undefined : owner, member: member as AnyFunction }
}

function createArguments(
  { parameters, conversions = {} }: FunctionManifest,
  fields: FunctionFields,
  ctx: Context,
): unknown[] {
  const args: unknown[] = []
  // What is not given at the end is not there at all: some functions count their arguments.
  let length = 0
  for (const parameter of parameters) {
    if (parameter.from === 'rest') {
      const rest = getField(fields, parameter.field)
      if (Array.isArray(rest))
        args.push(
          ...rest.map((item, index) =>
            toArgument(item, parameter.convert, conversions, `${parameter.field}.${index}`),
          ),
        )
      return args.slice(0, Array.isArray(rest) && rest.length > 0 ? args.length : length)
    }
    const argument = createArgument(parameter, fields, ctx, conversions)
    args.push(argument)
    if (argument !== undefined) length = args.length
  }
  return args.slice(0, length)
}

function createArgument(
  parameter: Exclude<FunctionParameter, { from: 'rest' }>,
  fields: FunctionFields,
  ctx: Context,
  conversions: NonNullable<FunctionManifest['conversions']>,
): unknown {
  switch (parameter.from) {
    case 'field':
      return toArgument(
        getField(fields, parameter.field),
        parameter.convert,
        conversions,
        parameter.field,
      )
    case 'context':
      return ctx
    case 'signal':
      return ctx.signal
    case 'nothing':
      return undefined
    case 'fields': {
      const { signals = [] } = parameter
      const given = parameter.fields.filter(({ field }) => getField(fields, field) !== undefined)
      if (given.length === 0 && parameter.optional && signals.length === 0) return undefined
      return Object.fromEntries([
        ...given.map(({ property, field, convert }): [string, unknown] => [
          property,
          toArgument(getField(fields, field), convert, conversions, field),
        ]),
        ...signals.map((property): [string, unknown] => [property, ctx.signal]),
      ])
    }
  }
}

function getField(fields: FunctionFields, field: string): unknown {
  return Object.hasOwn(fields, field) ? fields[field] : undefined
}

type AnyIterator = { next(value?: unknown): unknown; return?(value?: unknown): unknown }

const EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'progress',
  'log',
  'artifact',
  'item',
  'result',
  'session_start',
  'awaiting_input',
  'session_end',
])

/**
 * The generator that the call pipeline drives: events go through as they are, other values are
 * items. Where the function returns nothing, its items are the result.
 */
async function* streamYields(
  iterator: AnyIterator,
  { yields, collects }: Pick<FunctionManifest, 'yields' | 'collects'>,
): AsyncGenerator<unknown, unknown, unknown> {
  const items: unknown[] = []
  let over = false
  let reply: unknown
  let said = false
  try {
    for (;;) {
      const step = (await iterator.next(reply)) as IteratorResult<unknown, unknown>
      if (step.done) {
        over = true
        if (step.value === undefined) return collects && !said ? items : undefined
        return toPlainResult(step.value)
      }
      if (yields === 'events' || (yields === 'both' && isToolEvent(step.value))) {
        said ||= (step.value as { readonly type?: unknown } | undefined)?.type === 'result'
        reply = yield step.value
      } else {
        const item = toPlainValue(step.value)
        if (collects) items.push(item)
        reply = yield stream.item(item)
      }
    }
  } finally {
    // Whoever stops listening ends the function's own clean-up too.
    if (!over) await iterator.return?.()
  }
}

/** The iterator of anything that gives values one by one; what gives none is its own only value. */
function toIterator(value: unknown): AnyIterator {
  if (typeof value === 'object' && value !== null) {
    if (Symbol.asyncIterator in value)
      return (value as AsyncIterable<unknown>)[Symbol.asyncIterator]()
    if (Symbol.iterator in value) return (value as Iterable<unknown>)[Symbol.iterator]()
    if ('next' in value && typeof value.next === 'function') return value as AnyIterator
  }
  return [value][Symbol.iterator]()
}

function isToolEvent(value: unknown): boolean {
  return isObject(value) && EVENT_TYPES.has(value['type'])
}

type NamedConversions = { readonly [name: string]: Conversion }

/**
 * A JSON value as the function takes it; throws INVALID_INPUT, naming the place, for a text that
 * cannot become what it should. The given value is not changed.
 */
function toArgument(
  value: unknown,
  convert: Conversion | undefined,
  named: NamedConversions,
  place: string,
): unknown {
  if (convert === undefined || value === undefined || value === null) return value
  const { names, text, number, list, object } =
    convert.ref === undefined ? convert : (named[convert.ref] ?? {})
  if (typeof value === 'string' && names && Object.hasOwn(names, value)) return names[value]
  if (typeof value === 'string') return text ? convertText(text, value, place) : value
  if (number === 'date' && typeof value === 'number') return new Date(value)
  if (number === 'bigint' && typeof value === 'number')
    return convertText('bigint', String(value), place)
  if (Array.isArray(value)) return list ? convertListArgument(value, list, named, place) : value
  return object && isObject(value) ? convertObjectArgument(value, object, named, place) : value
}

type TextReader = { readonly wanted: string; make(text: string): unknown }

const TEXT_READERS: { readonly [to in TextConversion]: TextReader } = {
  date: { wanted: 'a date such as 2026-01-31 or 2026-01-31T12:00:00Z', make: parseDate },
  url: { wanted: 'an address such as https://example.org/', make: (text) => new URL(text) },
  regexp: { wanted: 'a regular expression such as a+ or /a+/gi', make: parseRegExp },
  bigint: { wanted: 'a whole number', make: BigInt },
  bytes: { wanted: 'base64', make: (text) => new Uint8Array(parseBase64(text)) },
  buffer: { wanted: 'base64', make: parseBase64 },
}

function convertText(to: TextConversion, text: string, place: string): unknown {
  const { wanted, make } = TEXT_READERS[to]
  try {
    return make(text)
  } catch {
    throw new ToolError(
      'INVALID_INPUT',
      `${place}: must be ${wanted}, got ${JSON.stringify(text.slice(0, 80))}`,
      { field: place },
    )
  }
}

function convertListArgument(
  values: readonly unknown[],
  { to, first = [], items }: NonNullable<Conversion['list']>,
  named: NamedConversions,
  place: string,
): unknown {
  const converted = values.map((value, index) =>
    toArgument(
      value,
      index < first.length ? (first[index] ?? undefined) : items,
      named,
      `${place}.${index}`,
    ),
  )
  if (to === 'set') return new Set(converted)
  return to === 'map' ? new Map(converted as [unknown, unknown][]) : converted
}

function convertObjectArgument(
  value: Record<string, unknown>,
  convert: ObjectConversion,
  named: NamedConversions,
  place: string,
): unknown {
  const variant = convert.variants?.find(({ property, values }) =>
    (values as readonly unknown[]).includes(value[property]),
  )?.convert
  const { fields = {}, values, to } = variant ?? convert
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    toArgument(item, Object.hasOwn(fields, key) ? fields[key] : values, named, `${place}.${key}`),
  ])
  return to === 'map' ? new Map(entries) : Object.fromEntries(entries)
}

function parseDate(text: string): Date {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw new RangeError('no date')
  return date
}

// `/a+/gi` with its flags, or the pattern alone.
function parseRegExp(text: string): RegExp {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [undefined, text, '']
  return new RegExp(pattern ?? text, flags)
}

function parseBase64(text: string): Buffer {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new RangeError('no base64')
  return Buffer.from(text, 'base64')
}

/**
 * What a function returned, as JSON can carry it: dates and addresses as text, sets as lists, maps
 * as objects, bytes as base64. What is plain already is the same value.
 */
function toPlainValue(value: unknown): unknown {
  return convertNested(value, new Set())
}

const MAX_DEPTH = 1000

// What contains itself is left as it is: the call pipeline says so, and where.
function convertNested(value: unknown, above: Set<object>): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null || above.has(value) || above.size > MAX_DEPTH)
    return value
  above.add(value)
  const plain = convertObject(value, above)
  above.delete(value)
  return plain
}

function convertObject(value: object, above: Set<object>): unknown {
  if (Array.isArray(value)) return convertList(value as readonly unknown[], above)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return convertFields(value, above)
  // An invalid date stays one, so that it is told.
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : value.toISOString()
  if (value instanceof RegExp || value instanceof URLSearchParams) return String(value)
  if (value instanceof Set) return Array.from(value, (item) => convertNested(item, above))
  if (value instanceof Map) return convertMap(value, above)
  if (ArrayBuffer.isView(value))
    return isByteView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
      : Array.from(value as unknown as ArrayLike<unknown>, (item) => convertNested(item, above))
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64')
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return convertNested(value.toJSON(''), above)
  if (value instanceof Error)
    return convertFields({ ...value, name: value.name, message: value.message }, above)
  if (value instanceof Promise) return value
  if (typeof (value as { readonly [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function')
    return Array.from(value as Iterable<unknown>, (item) => convertNested(item, above))
  // Data of a class is data; its methods are not.
  return convertFields({ ...value }, above)
}

function isByteView(view: ArrayBufferView): boolean {
  return view instanceof Uint8Array || view instanceof Uint8ClampedArray || view instanceof DataView
}

function convertList(list: readonly unknown[], above: Set<object>): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const plain =
      typeof list[index] === 'function' || list[index] === undefined
        ? null
        : convertNested(list[index], above)
    if (plain !== list[index]) (copy ??= list.slice())[index] = plain
  }
  return copy ?? list
}

// Methods are no data; a `render` of the value's own is read by the pipeline.
function convertFields(fields: object, above: Set<object>): object {
  let copy: Record<string, unknown> | undefined
  for (const [key, field] of Object.entries(fields)) {
    const isData = typeof field !== 'symbol' && (typeof field !== 'function' || key === 'render')
    const plain = isData ? convertNested(field, above) : undefined
    if (plain === field) continue
    copy ??= Object.fromEntries(Object.entries(fields))
    if (isData) setOwnField(copy, key, plain)
    else delete copy[key]
  }
  return copy ?? fields
}

function convertMap(map: ReadonlyMap<unknown, unknown>, above: Set<object>): unknown {
  const entries = Array.from(map, ([key, value]): [unknown, unknown] => [
    convertNested(key, above),
    convertNested(value, above),
  ])
  return entries.every(([key]) => typeof key === 'string')
    ? Object.fromEntries(entries as [string, unknown][])
    : entries
}
