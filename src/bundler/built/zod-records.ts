/**
 * Stands in for zod in a built program: records how schemas are made, and lets zod make them when
 * one is used.
 */

import type { PreparedSchema } from '../../protocol/built-program.ts'
import { PREPARED_SCHEMA } from '../../protocol/built-program.ts'

/**
 * What the records ask: the library, loaded when it is needed, and what the build found out about
 * its schemas.
 */
type ZodSource = {
  load(): object
  /**
   * A line for each schema that the build knows: how it is made, a tab, and what is known as JSON.
   */
  table(): string
}

/**
 * What stands in the place of zod in a built program: it writes down how schemas are made, and lets
 * zod make them when somebody uses one. Whatever is not making a schema is asked of zod itself.
 */
export function recordZod(source: ZodSource): ZodFields {
  let loaded: ZodFields | undefined
  const zod = (): ZodFields => (loaded ??= source.load() as ZodFields)
  const stand = createStandInFactory(source)
  const make =
    (name: string) =>
    (...args: unknown[]): object =>
      stand(new ZodRecord(zod, undefined, name, args))
  const spaceOf = (space: string, names: ReadonlySet<string>): object =>
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
          value = spaceOf(key, ZOD_NAMESPACES[key]!)
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
      // `meta()` asks, `meta({...})` makes.
      if (typeof key === 'string' && ZOD_CHAIN_METHODS.has(key))
        return (...args: unknown[]) =>
          args.length === 0 && key === 'meta'
            ? callRealMethod(record, key, args)
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

// Only the line that is asked for is read: a program of many tools uses one of them.
function findPrepared(table: string, fingerprint: string | undefined): PreparedSchema | undefined {
  const start = fingerprint === undefined ? -1 : table.indexOf(`\n${fingerprint}\t`)
  if (fingerprint === undefined || start === -1) return undefined
  const at = start + fingerprint.length + 2
  return JSON.parse(table.slice(at, table.indexOf('\n', at))) as PreparedSchema
}

function callRealMethod(record: ZodRecord, key: string, args: readonly unknown[]): unknown {
  return (record.real()[key] as (...given: readonly unknown[]) => unknown)(...args)
}

// Methods work on the real thing, and get real things.
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

/** How a schema was made: a function of zod, or a method of another schema, and its arguments. */
export class ZodRecord {
  readonly zod: () => ZodFields
  readonly parent: ZodRecord | undefined
  readonly name: string
  readonly args: readonly unknown[]
  #real: { readonly schema: ZodFields } | undefined
  #fingerprint: { readonly text: string | undefined } | undefined

  constructor(
    zod: () => ZodFields,
    parent: ZodRecord | undefined,
    name: string,
    args: readonly unknown[],
  ) {
    this.zod = zod
    this.parent = parent
    this.name = name
    this.args = args
  }

  /** The schema itself, made by the library at the first question that only it can answer. */
  real(): ZodFields {
    return (this.#real ??= { schema: this.#make() }).schema
  }

  /**
   * How it was made as one line of text; undefined where that cannot be told: functions have none.
   */
  fingerprint(): string | undefined {
    return (this.#fingerprint ??= { text: toFingerprint(this) }).text
  }

  #make(): ZodFields {
    const args = this.args.map(unwrapRecords)
    if (this.parent)
      return (this.parent.real()[this.name] as ZodMethod).apply(
        this.parent.real(),
        args,
      ) as ZodFields
    const [space, method] = this.name.split('.') as [string, string?]
    const holder = method === undefined ? this.zod() : (this.zod()[space] as ZodFields)
    return (holder[method ?? space] as ZodMethod).apply(holder, args) as ZodFields
  }
}

type ZodFields = { [key: PropertyKey]: unknown }
type ZodMethod = (...args: unknown[]) => unknown

/** The record behind a schema that stands for one of zod. */
export const ZOD_RECORD = Symbol.for('toolable.record')

/**
 * The value as zod needs it: with real schemas in the place of records, in lists, in objects and in
 * what functions give.
 */
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
    // A getter stands for a schema that refers to itself.
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

/** The record of a value; undefined for everything else. */
export function getRecord(value: unknown): ZodRecord | undefined {
  return typeof value === 'object' && value !== null && ZOD_RECORD in value
    ? (value as { [ZOD_RECORD]: ZodRecord })[ZOD_RECORD]
    : undefined
}

// `z.lazy(() => Node)` gives a record. A class is left alone: it is called with `new`.
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

/** Functions of zod that make a schema and do nothing else. */
const ZOD_BUILDERS: ReadonlySet<string> = new Set([
  'string',
  'number',
  'int',
  'boolean',
  'bigint',
  'date',
  'any',
  'unknown',
  'never',
  'null',
  'undefined',
  'object',
  'strictObject',
  'looseObject',
  'array',
  'tuple',
  'record',
  'union',
  'discriminatedUnion',
  'intersection',
  'enum',
  'literal',
  'optional',
  'nullable',
  'nullish',
  'email',
  'url',
  'uuid',
  'lazy',
  'preprocess',
  'stringbool',
])

/** Objects of zod that hold such functions. */
const ZOD_NAMESPACES: { readonly [space: string]: ReadonlySet<string> } = {
  coerce: new Set(['string', 'number', 'boolean', 'bigint', 'date']),
  iso: new Set(['date', 'time', 'datetime', 'duration']),
}

/** Methods of schemas that give another schema and do nothing else. */
const ZOD_CHAIN_METHODS: ReadonlySet<string> = new Set([
  'describe',
  'meta',
  'optional',
  'nullable',
  'nullish',
  'default',
  'prefault',
  'min',
  'max',
  'length',
  'nonempty',
  'gt',
  'gte',
  'lt',
  'lte',
  'int',
  'positive',
  'negative',
  'nonnegative',
  'nonpositive',
  'multipleOf',
  'step',
  'finite',
  'safe',
  'email',
  'url',
  'uuid',
  'regex',
  'startsWith',
  'endsWith',
  'includes',
  'trim',
  'toLowerCase',
  'toUpperCase',
  'refine',
  'superRefine',
  'transform',
  'pipe',
  'or',
  'and',
  'array',
  'strict',
  'loose',
  'passthrough',
  'strip',
  'catchall',
  'extend',
  'pick',
  'omit',
  'partial',
  'required',
  'brand',
  'readonly',
  'catch',
])
