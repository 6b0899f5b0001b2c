import { PREPARED } from '../../contract/prepared.ts'
import type { Prepared } from '../../contract/prepared.ts'
import { BUILDERS, CHAIN, SPACES } from './names.ts'
import { RECORD, Recorded, recordOf, unwrap } from './recorded.ts'
import type { Fields } from './recorded.ts'

/** What the records ask: the library, loaded when it is needed, and what the build found out about its schemas. */
export type ZodSource = {
  load(): object
  /** A line for each schema that the build knows: how it is made, a tab, and what is known as JSON. */
  table(): string
}

/** What stands in the place of zod in a built program: it writes down how schemas are made, and lets zod make them when somebody uses one. Whatever is not making a schema is asked of zod itself. */
export function recordZod(source: ZodSource): Fields {
  let loaded: Fields | undefined
  const zod = (): Fields => (loaded ??= source.load() as Fields)
  const stand = standIns(source)
  const make =
    (name: string) =>
    (...args: unknown[]): object =>
      stand(new Recorded(zod, undefined, name, args))
  const spaceOf = (space: string, names: ReadonlySet<string>): object =>
    new Proxy(
      {},
      {
        get: (_target, key) =>
          typeof key === 'string' && names.has(key)
            ? make(`${space}.${key}`)
            : forward(zod()[space] as Fields, key),
      },
    )
  const known = new Map<PropertyKey, unknown>()
  return new Proxy(
    {},
    {
      get(_target, key) {
        if (known.has(key)) return known.get(key)
        const value =
          typeof key !== 'string'
            ? undefined
            : BUILDERS.has(key)
              ? make(key)
              : Object.hasOwn(SPACES, key)
                ? spaceOf(key, SPACES[key]!)
                : undefined
        if (value === undefined) return forward(zod(), key)
        known.set(key, value)
        return value
      },
      has: (_target, key) => key in zod(),
      ownKeys: () => Reflect.ownKeys(zod()),
      getOwnPropertyDescriptor: (_target, key) => configurable(zod(), key),
    },
  )
}

function standIns({ table }: ZodSource): (record: Recorded) => object {
  const handler: ProxyHandler<Recorded> = {
    get(record, key) {
      if (key === RECORD) return record
      if (key === PREPARED) return () => prepared(record)
      // `meta()` asks, `meta({...})` makes.
      if (typeof key === 'string' && CHAIN.has(key))
        return (...args: unknown[]) =>
          args.length === 0 && key === 'meta'
            ? call(record, key, args)
            : stand(new Recorded(record.zod, record, key, args))
      return forward(record.real(), key)
    },
    has: (record, key) => key === RECORD || key === PREPARED || key in record.real(),
    set: (record, key, value) => Reflect.set(record.real(), key, value),
    defineProperty: (record, key, descriptor) =>
      Reflect.defineProperty(record.real(), key, descriptor),
    deleteProperty: (record, key) => Reflect.deleteProperty(record.real(), key),
    ownKeys: (record) => Reflect.ownKeys(record.real()),
    getOwnPropertyDescriptor: (record, key) => configurable(record.real(), key),
    getPrototypeOf: (record) => Reflect.getPrototypeOf(record.real()),
  }
  const known = new WeakMap<Recorded, Prepared>()
  const prepared = (record: Recorded): Prepared | undefined => {
    const read = known.get(record) ?? findLine(table(), record.fingerprint())
    if (read) known.set(record, read)
    return read
  }
  const stand = (record: Recorded): object => new Proxy(record, handler)
  return stand
}

// Only the line that is asked for is read: a program of many tools uses one of them.
function findLine(table: string, fingerprint: string | undefined): Prepared | undefined {
  const start = fingerprint === undefined ? -1 : table.indexOf(`\n${fingerprint}\t`)
  if (fingerprint === undefined || start === -1) return undefined
  const at = start + fingerprint.length + 2
  return JSON.parse(table.slice(at, table.indexOf('\n', at))) as Prepared
}

function call(record: Recorded, key: string, args: readonly unknown[]): unknown {
  return (record.real()[key] as (...given: readonly unknown[]) => unknown)(...args)
}

// Methods work on the real thing, and get real things.
function forward(real: Fields, key: PropertyKey): unknown {
  const value = Reflect.get(real, key)
  if (typeof value !== 'function' || isClass(key)) return value
  return (...args: unknown[]) =>
    Reflect.apply(
      value,
      real,
      args.map((arg) => (recordOf(arg) ? unwrap(arg) : arg)),
    )
}

function isClass(key: PropertyKey): boolean {
  return typeof key !== 'string' || /^[$A-Z]/.test(key) || key === 'constructor'
}

function configurable(real: Fields, key: PropertyKey): PropertyDescriptor | undefined {
  const descriptor = Reflect.getOwnPropertyDescriptor(real, key)
  return descriptor && { ...descriptor, configurable: true }
}
