/** What a function returned, as JSON can carry it: dates and addresses as text, sets as lists, maps as objects, bytes as base64. What is plain already is the same value. */
export function toPlain(value: unknown): unknown {
  return visit(value, new Set())
}

const MOST_LEVELS = 1000

// What contains itself is left as it is: the call pipeline says so, and where.
function visit(value: unknown, above: Set<object>): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null || above.has(value) || above.size > MOST_LEVELS)
    return value
  above.add(value)
  const plain = convert(value, above)
  above.delete(value)
  return plain
}

function convert(value: object, above: Set<object>): unknown {
  if (Array.isArray(value)) return convertList(value as readonly unknown[], above)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return convertFields(value, above)
  // An invalid date stays one, so that it is told.
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : value.toISOString()
  if (value instanceof RegExp || value instanceof URLSearchParams) return String(value)
  if (value instanceof Set) return Array.from(value, (item) => visit(item, above))
  if (value instanceof Map) return convertMap(value, above)
  if (ArrayBuffer.isView(value))
    return isBytes(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
      : Array.from(value as unknown as ArrayLike<unknown>, (item) => visit(item, above))
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64')
  if ('toJSON' in value && typeof value.toJSON === 'function') return visit(value.toJSON(''), above)
  if (value instanceof Error)
    return convertFields({ ...value, name: value.name, message: value.message }, above)
  if (value instanceof Promise) return value
  if (typeof (value as { readonly [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function')
    return Array.from(value as Iterable<unknown>, (item) => visit(item, above))
  // Data of a class is data; its methods are not.
  return convertFields({ ...value }, above)
}

function isBytes(view: ArrayBufferView): boolean {
  return view instanceof Uint8Array || view instanceof Uint8ClampedArray || view instanceof DataView
}

function convertList(list: readonly unknown[], above: Set<object>): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const plain =
      typeof list[index] === 'function' || list[index] === undefined
        ? null
        : visit(list[index], above)
    if (plain !== list[index]) (copy ??= list.slice())[index] = plain
  }
  return copy ?? list
}

// Methods are no data; a `render` of the value's own is read by the pipeline.
function convertFields(fields: object, above: Set<object>): object {
  let copy: Record<string, unknown> | undefined
  for (const [key, field] of Object.entries(fields)) {
    const isData = typeof field !== 'symbol' && (typeof field !== 'function' || key === 'render')
    const plain = isData ? visit(field, above) : undefined
    if (plain === field) continue
    copy ??= Object.fromEntries(Object.entries(fields))
    if (isData)
      Object.defineProperty(copy, key, {
        value: plain,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    else delete copy[key]
  }
  return copy ?? fields
}

function convertMap(map: ReadonlyMap<unknown, unknown>, above: Set<object>): unknown {
  const entries = Array.from(map, ([key, value]): [unknown, unknown] => [
    visit(key, above),
    visit(value, above),
  ])
  return entries.every(([key]) => typeof key === 'string')
    ? Object.fromEntries(entries as [string, unknown][])
    : entries
}
