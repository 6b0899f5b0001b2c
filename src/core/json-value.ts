/**
 * Values as JSON can carry them: most results are plain already and are returned as they are, the
 * others are converted, with a warning or an error that names the place.
 */

import type { ToolError } from '../protocol/tool-error.ts'
import { setOwnField } from '../util/values.ts'
import { createAuthorError } from './errors.ts'

/**
 * The result as JSON can carry it, with warnings for what was changed. Throws INTERNAL, naming the
 * place, for what JSON cannot carry.
 */
export function toJsonValue(result: unknown): {
  readonly value: unknown
  readonly warnings: readonly string[]
} {
  if (isPlainJson(result, MAX_PLAIN_DEPTH)) return { value: result, warnings: NO_WARNINGS }
  const converter = new JsonConverter()
  const value = converter.convert(result === undefined ? null : result, { key: 'result' })
  return { value, warnings: converter.warnings }
}

const MAX_UNCHECKED_ITEMS = 1_000_000
/** Readers of a value recurse for each level, and the stack has room for some thousands. */
const MAX_DEPTH = 1000

const MAX_PLAIN_DEPTH = 20
const MAX_PLAIN_ITEMS = 100
const NO_WARNINGS: readonly string[] = []

// Most results are small and plain JSON already; this check needs no bookkeeping.
function isPlainJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth === 0) return false
  if ('toJSON' in value) return false
  if (Array.isArray(value)) return isPlainJsonList(value, depth)
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key of Object.keys(value))
    if (!isPlainJson((value as { readonly [key: string]: unknown })[key], depth - 1)) return false
  return true
}

function isPlainJsonList(list: readonly unknown[], depth: number): boolean {
  if (list.length > MAX_PLAIN_ITEMS) return false
  for (const item of list) if (!isPlainJson(item, depth - 1)) return false
  return true
}

// Where a value stands, as links to the root: spelled out only for errors and warnings.
type ValuePath = { readonly key: string | number; readonly parent?: ValuePath }

type HasToJson = { toJSON(key: string): unknown }

/** Converts one result. Trees without anything to change are returned as they are, not copied. */
class JsonConverter {
  readonly warnings: string[] = []
  readonly #above = new Set<object>()

  convert(value: unknown, place: ValuePath): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        if (Number.isFinite(value)) return value
        this.warnings.push(
          `${formatValuePath(place)} was ${value}, which JSON cannot carry; it is null`,
        )
        return null
      case 'bigint':
        throw createNotJsonError(place, 'a BigInt', 'return it as a string or a number')
      case 'function':
        throw createNotJsonError(place, 'a function', 'return data')
      case 'symbol':
        throw createNotJsonError(place, 'a symbol', 'return data')
      case 'undefined':
        return undefined
      case 'object':
        return value === null ? null : this.#convertObject(value, place)
    }
  }

  #convertObject(value: object, place: ValuePath): unknown {
    this.#rejectCycle(value, place)
    if (value instanceof Date && Number.isNaN(value.getTime()))
      throw createNotJsonError(place, 'an invalid date', 'return a valid date or null')
    // Before toJSON, because a Buffer would become a list of numbers.
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      throw createNotJsonError(
        place,
        'binary data',
        'return it as base64 text, or write a file and report it as an artifact',
      )
    if (!('toJSON' in value) || typeof value.toJSON !== 'function')
      return this.#convertPlainObject(value, place)
    // As JSON.stringify does: the toJSON of what toJSON returns is not called.
    const plain = callToJson(value as HasToJson, place)
    if (typeof plain !== 'object' || plain === null) return this.convert(plain, place)
    this.#rejectCycle(plain, place)
    return this.#convertPlainObject(plain, place)
  }

  #rejectCycle(value: object, place: ValuePath): void {
    if (this.#above.has(value))
      throw createNotJsonError(place, 'a reference to something that contains it', 'return a tree')
  }

  #convertPlainObject(value: object, place: ValuePath): unknown {
    if (value instanceof Map)
      throw createNotJsonError(place, 'a Map', 'return Object.fromEntries(map)')
    if (value instanceof Set) throw createNotJsonError(place, 'a Set', 'return [...set]')
    if (value instanceof Promise) throw createNotJsonError(place, 'a promise', 'await it')
    if (value instanceof Error) return { name: value.name, message: value.message }
    if (this.#above.size >= MAX_DEPTH)
      throw createNotJsonError(
        { key: 'result' },
        `something that is nested more than ${MAX_DEPTH} levels deep`,
        'return a flatter tree',
      )
    this.#above.add(value)
    const copy = Array.isArray(value)
      ? this.#convertItems(value, place)
      : this.#convertFields(value, place)
    this.#above.delete(value)
    return copy
  }

  #convertItems(list: readonly unknown[], place: ValuePath): readonly unknown[] {
    // Walking through billions of holes would stop the host.
    if (list.length > MAX_UNCHECKED_ITEMS && Object.keys(list).length < list.length)
      throw createNotJsonError(place, 'a list with holes', 'return a dense list')
    let copy: unknown[] | undefined
    for (let index = 0; index < list.length; index++) {
      const item = list[index]
      const converted = this.#convertInner(item, place, index) ?? null
      if (converted !== item) (copy ??= list.slice())[index] = converted
    }
    return copy ?? list
  }

  #convertFields(fields: object, place: ValuePath): object {
    let copy: Record<string, unknown> | undefined
    for (const [key, field] of Object.entries(fields)) {
      const converted = this.#convertInner(field, place, key)
      if (converted === field && field !== undefined) continue
      // Not by spreading: a key `__proto__` has to stay a key.
      copy ??= Object.fromEntries(Object.entries(fields))
      if (converted === undefined) delete copy[key]
      else setOwnField(copy, key, converted)
    }
    return copy ?? fields
  }

  // A text needs no conversion, and so no place either.
  #convertInner(value: unknown, parent: ValuePath, key: string | number): unknown {
    return typeof value === 'string' ? value : this.convert(value, { key, parent })
  }
}

function callToJson(value: HasToJson, place: ValuePath): unknown {
  try {
    return value.toJSON(String(place.key))
  } catch (error) {
    throw createNotJsonError(
      place,
      `an object whose toJSON throws${error instanceof Error ? ` (${error.message})` : ''}`,
      'return plain data',
    )
  }
}

function createNotJsonError(place: ValuePath, what: string, fix: string): ToolError {
  return createAuthorError(
    `the tool returned ${what} at ${formatValuePath(place)}, which JSON cannot carry`,
    `The author of the tool should ${fix}`,
  )
}

function formatValuePath({ key, parent }: ValuePath): string {
  if (!parent) return String(key)
  return typeof key === 'number'
    ? `${formatValuePath(parent)}[${key}]`
    : `${formatValuePath(parent)}.${key}`
}
