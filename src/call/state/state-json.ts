import { isObject } from '../../contract/json.ts'
import type { StateJson } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { Items } from './items.ts'

const VERSION = 1

/** A state in JSON; throws CONFIG, naming slice and item, for what JSON would not give back as it is. */
export function writeState(
  id: string,
  slices: Iterable<readonly [string, 'state' | 'log', Items<unknown>]>,
): StateJson {
  const written: { [key: string]: { kind: 'state' | 'log'; items: unknown[] } } = Object.create(
    null,
  ) as never
  for (const [key, kind, items] of slices)
    written[key] = {
      kind,
      items: items.all.map((item, index) => copyJson(item, `item ${index + 1} of slice '${key}'`)),
    }
  return { version: VERSION, id, slices: written }
}

/** Reads what `writeState` wrote; throws CONFIG for anything else, and for another version. */
export function readState(json: unknown): {
  readonly id: string
  readonly slices: ReadonlyMap<
    string,
    { readonly kind: 'state' | 'log'; readonly items: Items<unknown> }
  >
} {
  if (!isObject(json) || !isObject(json['slices']))
    throw new ToolError('CONFIG', 'this is no state: it needs { version, id, slices }')
  if (json['version'] !== VERSION)
    throw new ToolError(
      'CONFIG',
      `this state is of version ${JSON.stringify(json['version']) ?? 'none'}; only version ${VERSION} can be read`,
      { details: { version: json['version'] ?? null, supported: [VERSION] } },
    )
  if (typeof json['id'] !== 'string' || json['id'] === '')
    throw new ToolError('CONFIG', 'this is no state: its id must be a text')
  return {
    id: json['id'],
    slices: new Map(
      Object.entries(json['slices']).map(([key, slice]) => [key, readSlice(key, slice)]),
    ),
  }
}

function readSlice(
  key: string,
  slice: unknown,
): { readonly kind: 'state' | 'log'; readonly items: Items<unknown> } {
  const { kind, items } = isObject(slice) ? slice : {}
  if ((kind !== 'state' && kind !== 'log') || !Array.isArray(items))
    throw new ToolError(
      'CONFIG',
      `slice '${key}' of this state is none: it needs { kind: 'state' or 'log', items: [...] }`,
    )
  return {
    kind,
    items: Items.unchecked(items.map((item: unknown) => copyJson(item, `slice '${key}'`))),
  }
}

// Whatever JSON.stringify would drop or change without a word is refused.
function copyJson(value: unknown, place: string, above: readonly object[] = []): unknown {
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
    return value
  const refuse = (what: string): ToolError =>
    new ToolError('CONFIG', `${place} cannot be kept as JSON: it holds ${what}`)
  if (typeof value !== 'object')
    throw refuse(
      value === undefined
        ? 'undefined'
        : typeof value === 'number'
          ? String(value)
          : `a ${typeof value}`,
    )
  if (above.includes(value)) throw refuse('itself')
  if (above.length >= 200) throw refuse('more than 200 levels')
  const inside = [...above, value]
  if (Array.isArray(value)) return Array.from(value, (inner) => copyJson(inner, place, inside))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw refuse(`an object of the class ${value.constructor?.name || 'without a name'}`)
  // An absent field and one that is undefined are the same to whoever reads it.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      inner === undefined ? [] : [[key, copyJson(inner, place, inside)]],
    ),
  )
}
