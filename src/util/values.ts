/**
 * Plain values: the JSON types, and the checks that every subsystem makes on values it did not
 * create.
 *
 * This is the one `util` file on the path of every call, so small generic helpers (`compact`,
 * `once`) belong here and not in files of their own.
 */

/** A value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object of unknown contents. */
export type JsonObject = { readonly [key: string]: unknown }

/** A JSON Schema object (draft 2020-12 or 07). Boolean schemas appear only below the root. */
export type JsonSchema = { readonly [keyword: string]: unknown }

declare const valueType: unique symbol
/** Plain JSON Schema that carries a type for the compiler: what `jsonSchema<T>()` gives. */
export type TypedJsonSchema<T> = JsonSchema & { readonly [valueType]?: T }

/** True for plain objects, false for arrays, null and everything else. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * True for a value with more levels of objects and lists than that: most of what is done with one
 * would end in a stack overflow.
 */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner))
}

/** The value when it is a text, else undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The value when it is a plain object, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** The value when it is a list, else an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The object that a text is in JSON; undefined for everything else. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * A regular expression that is made at its first use, for those over classes of Unicode (`\p{L}`):
 * node checks every literal while it reads a
 * file, and those take long to check. Not for global ones that keep a position.
 */
export function lazyRegExp(source: string, flags = 'u'): () => RegExp {
  let made: RegExp | undefined
  return () => (made ??= new RegExp(source, flags))
}

/** The fields that a value itself has, without inherited ones; none for what is no object. */
export function ownFields(value: unknown): JsonObject {
  return Object.assign(Object.create(null) as JsonObject, isObject(value) ? value : {})
}

/** An object whose fields that may be undefined are optional instead. */
export type Compacted<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name]
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<
    Fields[Name],
    undefined
  >
}

/** Copies an object without the fields whose value is undefined. */
export function compact<const Fields extends object>(fields: Fields): Compacted<Fields> {
  const kept: Record<string, unknown> = {}
  for (const name in fields) {
    const value = fields[name]
    if (value !== undefined) kept[name] = value
  }
  return kept as Compacted<Fields>
}

/** The value if it is a string. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The value if it is a number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Sets a field as the object's own, also one called `__proto__`, which assigning would not. */
export function setOwnField(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

/** Creates a value on first use and keeps it. */
export function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined
  return () => (created ??= { value: create() }).value
}

/** Parses JSON. Returns undefined for text that is not JSON; `null` is a value. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Writes JSON with the keys of every object in order, so that equal values are equal texts. */
export function toStableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => sortKeys(inner)) ?? 'null'
}

function sortKeys(value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)),
  )
}
