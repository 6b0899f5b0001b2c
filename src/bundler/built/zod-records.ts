/**
 * Stands in for zod in a built program: records how schemas are made, and lets zod make them when
 * one is used.
 */

import type { PreparedSchema } from '../../protocol/built-program.ts'
import { PREPARED_SCHEMA } from '../../protocol/built-program.ts'
import { listWords } from '../../util/text.ts'
import { once } from '../../util/values.ts'

/** The library, loaded on demand, and what the build knows about its schemas. */
type ZodSource = {
  load(): object
  /** A line for each known schema: its fingerprint, a tab, and the prepared schema as JSON. */
  table(): string
}

/** Replaces zod in a built program. Everything but the creation of schemas is forwarded to zod. */
export function recordZod(source: ZodSource): ZodFields {
  const zod = once(() => source.load() as ZodFields)
  const stand = createStandInFactory(source)
  const make =
    (name: string) =>
    (...args: unknown[]): object =>
      stand(new ZodRecord(zod, undefined, name, args))
  const createNamespace = (space: string, names: ReadonlySet<string>): object =>
    new Proxy(
      {},
      {
        get: (_target, key) =>
          typeof key === 'string' && names.has(key)
            ? make(`${space}.${key}`)
            : forwardProperty(zod()[space] as ZodFields, key),
      },
    )
  const known = new Map<PropertyKey, unknown>()
  return new Proxy(
    {},
    {
      get(_target, key) {
        if (known.has(key)) return known.get(key)
        let value: unknown
        if (typeof key === 'string' && ZOD_BUILDERS.has(key)) value = make(key)
        else if (typeof key === 'string' && Object.hasOwn(ZOD_NAMESPACES, key))
          value = createNamespace(key, ZOD_NAMESPACES[key]!)
        else return forwardProperty(zod(), key)
        known.set(key, value)
        return value
      },
      has: (_target, key) => key in zod(),
      ownKeys: () => Reflect.ownKeys(zod()),
      getOwnPropertyDescriptor: (_target, key) => toConfigurableDescriptor(zod(), key),
    },
  )
}

function createStandInFactory({ table }: ZodSource): (record: ZodRecord) => object {
  const handler: ProxyHandler<ZodRecord> = {
    get(record, key) {
      if (key === ZOD_RECORD) return record
      if (key === PREPARED_SCHEMA) return () => prepared(record)
      // `meta()` reads, `meta({...})` creates a schema.
      if (typeof key === 'string' && ZOD_CHAIN_METHODS.has(key))
        return (...args: unknown[]) =>
          args.length === 0 && key === 'meta'
            ? (record.real()[key] as ZodMethod)()
            : stand(new ZodRecord(record.zod, record, key, args))
      return forwardProperty(record.real(), key)
    },
    has: (record, key) => key === ZOD_RECORD || key === PREPARED_SCHEMA || key in record.real(),
    set: (record, key, value) => Reflect.set(record.real(), key, value),
    defineProperty: (record, key, descriptor) =>
      Reflect.defineProperty(record.real(), key, descriptor),
    deleteProperty: (record, key) => Reflect.deleteProperty(record.real(), key),
    ownKeys: (record) => Reflect.ownKeys(record.real()),
    getOwnPropertyDescriptor: (record, key) => toConfigurableDescriptor(record.real(), key),
    getPrototypeOf: (record) => Reflect.getPrototypeOf(record.real()),
  }
  const known = new WeakMap<ZodRecord, PreparedSchema>()
  const prepared = (record: ZodRecord): PreparedSchema | undefined => {
    const read = known.get(record) ?? findPrepared(table(), record.fingerprint())
    if (read) known.set(record, read)
    return read
  }
  const stand = (record: ZodRecord): object => new Proxy(record, handler)
  return stand
}

// Parses only the line that is needed, because a call uses one of many tools.
function findPrepared(table: string, fingerprint: string | undefined): PreparedSchema | undefined {
  const start = fingerprint === undefined ? -1 : table.indexOf(`\n${fingerprint}\t`)
  if (fingerprint === undefined || start === -1) return undefined
  const at = start + fingerprint.length + 2
  return JSON.parse(table.slice(at, table.indexOf('\n', at))) as PreparedSchema
}

// Methods of zod get real schemas, and are called on real schemas.
function forwardProperty(real: ZodFields, key: PropertyKey): unknown {
  const value = Reflect.get(real, key)
  if (typeof value !== 'function' || isClassKey(key)) return value
  return (...args: unknown[]) =>
    Reflect.apply(
      value,
      real,
      args.map((arg) => (getRecord(arg) ? unwrapRecords(arg) : arg)),
    )
}

function isClassKey(key: PropertyKey): boolean {
  return typeof key !== 'string' || /^[$A-Z]/.test(key) || key === 'constructor'
}

function toConfigurableDescriptor(
  real: ZodFields,
  key: PropertyKey,
): PropertyDescriptor | undefined {
  const descriptor = Reflect.getOwnPropertyDescriptor(real, key)
  return descriptor && { ...descriptor, configurable: true }
}

/** How a schema was created: a function of zod, or a method of another schema, and its arguments. */
export class ZodRecord {
  #real: ZodFields | undefined
  #fingerprint: { readonly text: string | undefined } | undefined

  constructor(
    readonly zod: () => ZodFields,
    readonly parent: ZodRecord | undefined,
    readonly name: string,
    readonly args: readonly unknown[],
  ) {}

  /** The real schema, created on first use. */
  real(): ZodFields {
    return (this.#real ??= this.#make())
  }

  /** How it was created, as one line of text; undefined with functions among the arguments. */
  fingerprint(): string | undefined {
    return (this.#fingerprint ??= { text: toFingerprint(this) }).text
  }

  #make(): ZodFields {
    const args = this.args.map(unwrapRecords)
    if (this.parent) return callMethod(this.parent.real(), this.name, args)
    const [space, method] = this.name.split('.') as [string, string?]
    const holder = method === undefined ? this.zod() : (this.zod()[space] as ZodFields)
    return callMethod(holder, method ?? space, args)
  }
}

function callMethod(holder: ZodFields, name: string, args: unknown[]): ZodFields {
  return (holder[name] as ZodMethod).apply(holder, args) as ZodFields
}

type ZodFields = { [key: PropertyKey]: unknown }
type ZodMethod = (...args: unknown[]) => unknown

/** The key of the record behind a recorded schema. */
const ZOD_RECORD = Symbol.for('toolable.record')

/** Replaces records by real schemas, also in lists, in objects and in results of functions. */
function unwrapRecords(value: unknown): unknown {
  const record = getRecord(value)
  if (record) return record.real()
  if (typeof value === 'function') return unwrapResult(value as ZodMethod)
  if (Array.isArray(value)) return value.map(unwrapRecords)
  if (!isPlainObject(value)) return value
  const copy = {}
  for (const [key, { value: given, get, ...rest }] of Object.entries(
    Object.getOwnPropertyDescriptors(value),
  )) {
    // A getter is how a schema refers to itself.
    Object.defineProperty(
      copy,
      key,
      get
        ? { ...rest, get: () => unwrapRecords(get.call(value)) }
        : { ...rest, value: unwrapRecords(given) },
    )
  }
  return copy
}

/** Returns the record of a recorded schema; undefined for everything else. */
export function getRecord(value: unknown): ZodRecord | undefined {
  return typeof value === 'object' && value !== null && ZOD_RECORD in value
    ? (value as { [ZOD_RECORD]: ZodRecord })[ZOD_RECORD]
    : undefined
}

// `z.lazy(() => Node)` returns a record. Classes are called with `new`, so they stay.
function unwrapResult(given: ZodMethod): ZodMethod {
  if (/^class\b/.test(Function.prototype.toString.call(given))) return given
  return function (this: unknown, ...args) {
    const result = given.apply(this, args)
    return getRecord(result)?.real() ?? result
  }
}

function toFingerprint({ parent, name, args }: ZodRecord): string | undefined {
  const before = parent ? parent.fingerprint() : 'z'
  const words = before === undefined ? undefined : args.map(toFingerprintArgument)
  return !words || words.includes(undefined) ? undefined : `${before}.${name}(${words.join(',')})`
}

function toFingerprintArgument(value: unknown): string | undefined {
  const record = getRecord(value)
  if (record) return record.fingerprint()
  if (value instanceof RegExp) return JSON.stringify(String(value)).replace(/^"|"$/g, '/')
  if (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    value === null ||
    (typeof value === 'number' && Number.isFinite(value))
  )
    return JSON.stringify(value)
  if (value === undefined) return 'undefined'
  if (Array.isArray(value)) {
    const items = value.map(toFingerprintArgument)
    return items.includes(undefined) ? undefined : `[${items.join(',')}]`
  }
  if (!isPlainObject(value)) return undefined
  const fields = Object.entries(Object.getOwnPropertyDescriptors(value)).map(toFingerprintField)
  return fields.includes(undefined) ? undefined : `{${fields.join(',')}}`
}

function toFingerprintField([key, { value, get }]: [string, PropertyDescriptor]):
  string | undefined {
  const written = get ? undefined : toFingerprintArgument(value)
  return written === undefined ? undefined : `${JSON.stringify(key)}:${written}`
}

function isPlainObject(value: unknown): value is ZodFields {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Functions of zod that only create a schema. */
const ZOD_BUILDERS = toWordSet(`
  string number int boolean bigint date any unknown never null undefined object strictObject
  looseObject array tuple record union discriminatedUnion intersection enum literal optional nullable
  nullish email url uuid lazy preprocess stringbool`)

/** Objects of zod with such functions. */
const ZOD_NAMESPACES: { readonly [space: string]: ReadonlySet<string> } = {
  coerce: toWordSet('string number boolean bigint date'),
  iso: toWordSet('date time datetime duration'),
}

/** Methods of schemas that only create another schema. */
const ZOD_CHAIN_METHODS = toWordSet(`
  describe meta optional nullable nullish default prefault min max length nonempty gt gte lt lte int
  positive negative nonnegative nonpositive multipleOf step finite safe email url uuid regex startsWith
  endsWith includes trim toLowerCase toUpperCase refine superRefine transform pipe or and array strict
  loose passthrough strip catchall extend pick omit partial required brand readonly catch`)

function toWordSet(text: string): ReadonlySet<string> {
  return new Set(listWords(text))
}
