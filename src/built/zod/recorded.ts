/** How a schema was made: a function of zod, or a method of another schema, and its arguments. */
export class Recorded {
  readonly zod: () => Fields
  readonly parent: Recorded | undefined
  readonly name: string
  readonly args: readonly unknown[]
  #real: { readonly schema: Fields } | undefined
  #fingerprint: { readonly text: string | undefined } | undefined

  constructor(
    zod: () => Fields,
    parent: Recorded | undefined,
    name: string,
    args: readonly unknown[],
  ) {
    this.zod = zod
    this.parent = parent
    this.name = name
    this.args = args
  }

  /** The schema itself, made by the library at the first question that only it can answer. */
  real(): Fields {
    return (this.#real ??= { schema: this.#make() }).schema
  }

  /** How it was made as one line of text; undefined where that cannot be told: functions have none. */
  fingerprint(): string | undefined {
    return (this.#fingerprint ??= { text: writeRecorded(this) }).text
  }

  #make(): Fields {
    const args = this.args.map(unwrap)
    if (this.parent)
      return (this.parent.real()[this.name] as Method).apply(this.parent.real(), args) as Fields
    const [space, method] = this.name.split('.') as [string, string?]
    const holder = method === undefined ? this.zod() : (this.zod()[space] as Fields)
    return (holder[method ?? space] as Method).apply(holder, args) as Fields
  }
}

export type Fields = { [key: PropertyKey]: unknown }
type Method = (...args: unknown[]) => unknown

/** The record behind a schema that stands for one of zod. */
export const RECORD = Symbol.for('toolable.record')

/** The value as zod needs it: with real schemas in the place of records, in lists, in objects and in what functions give. */
export function unwrap(value: unknown): unknown {
  const record = recordOf(value)
  if (record) return record.real()
  if (typeof value === 'function') return unwrapResult(value as Method)
  if (Array.isArray(value)) return value.map(unwrap)
  if (!isPlain(value)) return value
  const copy = {}
  for (const [key, { value: given, get, ...rest }] of Object.entries(
    Object.getOwnPropertyDescriptors(value),
  )) {
    // A getter stands for a schema that refers to itself.
    Object.defineProperty(
      copy,
      key,
      get ? { ...rest, get: () => unwrap(get.call(value)) } : { ...rest, value: unwrap(given) },
    )
  }
  return copy
}

/** The record of a value; undefined for everything else. */
export function recordOf(value: unknown): Recorded | undefined {
  return typeof value === 'object' && value !== null && RECORD in value
    ? (value as { [RECORD]: Recorded })[RECORD]
    : undefined
}

// `z.lazy(() => Node)` gives a record. A class is left alone: it is called with `new`.
function unwrapResult(given: Method): Method {
  if (/^class\b/.test(Function.prototype.toString.call(given))) return given
  return function (this: unknown, ...args) {
    const result = given.apply(this, args)
    return recordOf(result)?.real() ?? result
  }
}

function writeRecorded({ parent, name, args }: Recorded): string | undefined {
  const before = parent ? parent.fingerprint() : 'z'
  const words = before === undefined ? undefined : args.map(writeArgument)
  return !words || words.includes(undefined) ? undefined : `${before}.${name}(${words.join(',')})`
}

function writeArgument(value: unknown): string | undefined {
  const record = recordOf(value)
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
  const parts = Array.isArray(value)
    ? value.map(writeArgument)
    : isPlain(value)
      ? Object.entries(Object.getOwnPropertyDescriptors(value)).map(writeField)
      : [undefined]
  if (parts.includes(undefined)) return undefined
  return Array.isArray(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`
}

function writeField([key, { value, get }]: [string, PropertyDescriptor]): string | undefined {
  const written = get ? undefined : writeArgument(value)
  return written === undefined ? undefined : `${JSON.stringify(key)}:${written}`
}

function isPlain(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
