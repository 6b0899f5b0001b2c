/**
 * Values as JSON can carry them: most results are plain already and are returned as they are, the
 * others are converted, with a warning or an error that names the place.
 */

import { ToolError } from '../protocol/tool-error.ts'

/**
 * The result as JSON can carry it, with warnings for what was changed. Throws INTERNAL, naming the
 * place, for what JSON cannot carry.
 */
export function toJsonValue(result: unknown): {
  readonly value: unknown
  readonly warnings: readonly string[]
} {
  if (isPlainJson(result, MAX_PLAIN_DEPTH)) return { value: result, warnings: NO_WARNINGS }
  const warnings: string[] = []
  const value = convertValue(
    result === undefined ? null : result,
    { key: 'result' },
    new Set(),
    warnings,
  )
  return { value, warnings }
}

const MAX_UNCHECKED_ITEMS = 1_000_000
/** Whoever works with a value calls itself for each level, and has room for some thousands. */
const MAX_DEPTH = 1000

const MAX_PLAIN_DEPTH = 20
const MAX_PLAIN_ITEMS = 100
const NO_WARNINGS: readonly string[] = []

// Most results are small and plain JSON already: that is seen without any book-keeping.
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

function convertValue(
  value: unknown,
  place: ValuePath,
  above: Set<object>,
  warnings: string[],
): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      warnings.push(`${formatValuePath(place)} was ${value}, which JSON cannot carry; it is null`)
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
      return value === null ? null : convertObject(value, place, above, warnings)
  }
}

function convertObject(
  value: object,
  place: ValuePath,
  above: Set<object>,
  warnings: string[],
): unknown {
  if (above.has(value))
    throw createNotJsonError(place, 'a reference to something that contains it', 'return a tree')
  if (value instanceof Date && Number.isNaN(value.getTime()))
    throw createNotJsonError(place, 'an invalid date', 'return a valid date or null')
  // Before toJSON, because a Buffer would become a list of numbers.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    throw createNotJsonError(
      place,
      'binary data',
      'return it as base64 text, or write a file and report it as an artifact',
    )
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return convertByToJson(value as HasToJson, place, above, warnings)
  return convertPlainObject(value, place, above, warnings)
}

type HasToJson = { toJSON(key: string): unknown }

// As JSON.stringify does: what toJSON gives is not asked again.
function convertByToJson(
  value: HasToJson,
  place: ValuePath,
  above: Set<object>,
  warnings: string[],
): unknown {
  const given = callToJson(value, place)
  if (typeof given !== 'object' || given === null)
    return convertValue(given, place, above, warnings)
  if (above.has(given))
    throw createNotJsonError(place, 'a reference to something that contains it', 'return a tree')
  return convertPlainObject(given, place, above, warnings)
}

function convertPlainObject(
  value: object,
  place: ValuePath,
  above: Set<object>,
  warnings: string[],
): unknown {
  if (value instanceof Map)
    throw createNotJsonError(place, 'a Map', 'return Object.fromEntries(map)')
  if (value instanceof Set) throw createNotJsonError(place, 'a Set', 'return [...set]')
  if (value instanceof Promise) throw createNotJsonError(place, 'a promise', 'await it')
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (above.size >= MAX_DEPTH)
    throw createNotJsonError(
      { key: 'result' },
      `something that is nested more than ${MAX_DEPTH} levels deep`,
      'return a flatter tree',
    )
  above.add(value)
  const copy = Array.isArray(value)
    ? convertItems(value, place, above, warnings)
    : convertFields(value, place, above, warnings)
  above.delete(value)
  return copy
}

// Trees without anything to change are returned as they are: no copy of large results.
function convertItems(
  list: readonly unknown[],
  place: ValuePath,
  above: Set<object>,
  warnings: string[],
): readonly unknown[] {
  // Walking through billions of holes would stop the host.
  if (list.length > MAX_UNCHECKED_ITEMS && Object.keys(list).length < list.length)
    throw createNotJsonError(place, 'a list with holes', 'return a dense list')
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const converted =
      convertValue(
        list[index],
        typeof list[index] === 'string' ? place : { key: index, parent: place },
        above,
        warnings,
      ) ?? null
    if (converted !== list[index]) (copy ??= list.slice())[index] = converted
  }
  return copy ?? list
}

function convertFields(
  fields: object,
  place: ValuePath,
  above: Set<object>,
  warnings: string[],
): object {
  let copy: Record<string, unknown> | undefined
  for (const [key, field] of Object.entries(fields)) {
    const converted = convertValue(
      field,
      typeof field === 'string' ? place : { key, parent: place },
      above,
      warnings,
    )
    if (converted === field && field !== undefined) continue
    // Not by spreading: a key `__proto__` has to stay a key.
    copy ??= Object.fromEntries(Object.entries(fields))
    if (converted === undefined) delete copy[key]
    else
      Object.defineProperty(copy, key, {
        value: converted,
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
  return copy ?? fields
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
  return new ToolError(
    'INTERNAL',
    `the tool returned ${what} at ${formatValuePath(place)}, which JSON cannot carry`,
    { suggestion: { action: 'abort', fix: `The author of the tool should ${fix}` } },
  )
}

function formatValuePath({ key, parent }: ValuePath): string {
  if (!parent) return String(key)
  return typeof key === 'number'
    ? `${formatValuePath(parent)}[${key}]`
    : `${formatValuePath(parent)}.${key}`
}
