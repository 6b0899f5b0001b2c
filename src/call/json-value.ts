import { ToolError } from '../contract/tool-error.ts'

/** The result as JSON can carry it, with warnings for what was changed. Throws INTERNAL, naming the place, for what JSON cannot carry. */
export function toJsonValue(result: unknown): {
  readonly value: unknown
  readonly warnings: readonly string[]
} {
  if (isPlainly(result, DEEPEST_PLAIN)) return { value: result, warnings: NONE }
  const warnings: string[] = []
  const value = convert(
    result === undefined ? null : result,
    { key: 'result' },
    new Set(),
    warnings,
  )
  return { value, warnings }
}

const MOST_ITEMS_UNSEEN = 1_000_000
/** Whoever works with a value calls itself for each level, and has room for some thousands. */
const DEEPEST = 1000

const DEEPEST_PLAIN = 20
const LONGEST_PLAIN = 100
const NONE: readonly string[] = []

// Most results are small and plain JSON already: that is seen without any book-keeping.
function isPlainly(value: unknown, depth: number): boolean {
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
  if (Array.isArray(value)) return isPlainList(value, depth)
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key of Object.keys(value))
    if (!isPlainly((value as { readonly [key: string]: unknown })[key], depth - 1)) return false
  return true
}

function isPlainList(list: readonly unknown[], depth: number): boolean {
  if (list.length > LONGEST_PLAIN) return false
  for (const item of list) if (!isPlainly(item, depth - 1)) return false
  return true
}

// Where a value stands, as links to the root: spelled out only for errors and warnings.
type Place = { readonly key: string | number; readonly parent?: Place }

function convert(value: unknown, place: Place, above: Set<object>, warnings: string[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      warnings.push(`${spell(place)} was ${value}, which JSON cannot carry; it is null`)
      return null
    case 'bigint':
      throw refuse(place, 'a BigInt', 'return it as a string or a number')
    case 'function':
      throw refuse(place, 'a function', 'return data')
    case 'symbol':
      throw refuse(place, 'a symbol', 'return data')
    case 'undefined':
      return undefined
    case 'object':
      return value === null ? null : convertObject(value, place, above, warnings)
  }
}

function convertObject(
  value: object,
  place: Place,
  above: Set<object>,
  warnings: string[],
): unknown {
  if (above.has(value))
    throw refuse(place, 'a reference to something that contains it', 'return a tree')
  if (value instanceof Date && Number.isNaN(value.getTime()))
    throw refuse(place, 'an invalid date', 'return a valid date or null')
  // Before toJSON, because a Buffer would become a list of numbers.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    throw refuse(
      place,
      'binary data',
      'return it as base64 text, or write a file and report it as an artifact',
    )
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return convertToJson(value as WithToJson, place, above, warnings)
  return convertPlain(value, place, above, warnings)
}

type WithToJson = { toJSON(key: string): unknown }

// As JSON.stringify does: what toJSON gives is not asked again.
function convertToJson(
  value: WithToJson,
  place: Place,
  above: Set<object>,
  warnings: string[],
): unknown {
  const given = callToJson(value, place)
  if (typeof given !== 'object' || given === null) return convert(given, place, above, warnings)
  if (above.has(given))
    throw refuse(place, 'a reference to something that contains it', 'return a tree')
  return convertPlain(given, place, above, warnings)
}

function convertPlain(
  value: object,
  place: Place,
  above: Set<object>,
  warnings: string[],
): unknown {
  if (value instanceof Map) throw refuse(place, 'a Map', 'return Object.fromEntries(map)')
  if (value instanceof Set) throw refuse(place, 'a Set', 'return [...set]')
  if (value instanceof Promise) throw refuse(place, 'a promise', 'await it')
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (above.size >= DEEPEST)
    throw refuse(
      { key: 'result' },
      `something that is nested more than ${DEEPEST} levels deep`,
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
  place: Place,
  above: Set<object>,
  warnings: string[],
): readonly unknown[] {
  // Walking through billions of holes would stop the host.
  if (list.length > MOST_ITEMS_UNSEEN && Object.keys(list).length < list.length)
    throw refuse(place, 'a list with holes', 'return a dense list')
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const converted =
      convert(
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
  place: Place,
  above: Set<object>,
  warnings: string[],
): object {
  let copy: Record<string, unknown> | undefined
  for (const [key, field] of Object.entries(fields)) {
    const converted = convert(
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

function callToJson(value: WithToJson, place: Place): unknown {
  try {
    return value.toJSON(String(place.key))
  } catch (error) {
    throw refuse(
      place,
      `an object whose toJSON throws${error instanceof Error ? ` (${error.message})` : ''}`,
      'return plain data',
    )
  }
}

function refuse(place: Place, what: string, fix: string): ToolError {
  return new ToolError(
    'INTERNAL',
    `the tool returned ${what} at ${spell(place)}, which JSON cannot carry`,
    { suggestion: { action: 'abort', fix: `The author of the tool should ${fix}` } },
  )
}

function spell({ key, parent }: Place): string {
  if (!parent) return String(key)
  return typeof key === 'number' ? `${spell(parent)}[${key}]` : `${spell(parent)}.${key}`
}
