import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Conversion, ObjectConversion, TextConversion } from '../manifest.ts'

type Named = { readonly [name: string]: Conversion }

/** A JSON value as the function takes it; throws INVALID_INPUT, naming the place, for a text that cannot become what it should. The given value is not changed. */
export function toArgument(
  value: unknown,
  convert: Conversion | undefined,
  named: Named,
  place: string,
): unknown {
  if (convert === undefined || value === undefined || value === null) return value
  const { names, text, number, list, object } =
    convert.ref === undefined ? convert : (named[convert.ref] ?? {})
  if (typeof value === 'string' && names && Object.hasOwn(names, value)) return names[value]
  if (typeof value === 'string') return text ? attempt(text, value, place) : value
  if (typeof value === 'number')
    return number === 'date'
      ? new Date(value)
      : number === 'bigint'
        ? attempt('bigint', String(value), place)
        : value
  if (Array.isArray(value)) return list ? toList(value, list, named, place) : value
  return object && isObject(value) ? toObject(value, object, named, place) : value
}

type Reading = { readonly wanted: string; make(text: string): unknown }

const TEXTS: { readonly [to in TextConversion]: Reading } = {
  date: { wanted: 'a date such as 2026-01-31 or 2026-01-31T12:00:00Z', make: toDate },
  url: { wanted: 'an address such as https://example.org/', make: (text) => new URL(text) },
  regexp: { wanted: 'a regular expression such as a+ or /a+/gi', make: toRegExp },
  bigint: { wanted: 'a whole number', make: BigInt },
  bytes: { wanted: 'base64', make: (text) => new Uint8Array(toBuffer(text)) },
  buffer: { wanted: 'base64', make: toBuffer },
}

function attempt(to: TextConversion, text: string, place: string): unknown {
  const { wanted, make } = TEXTS[to]
  try {
    return make(text)
  } catch {
    throw new ToolError(
      'INVALID_INPUT',
      `${place}: must be ${wanted}, got ${JSON.stringify(text.slice(0, 80))}`,
      { field: place },
    )
  }
}

function toList(
  values: readonly unknown[],
  { to, first = [], items }: NonNullable<Conversion['list']>,
  named: Named,
  place: string,
): unknown {
  const converted = values.map((value, index) =>
    toArgument(
      value,
      index < first.length ? (first[index] ?? undefined) : items,
      named,
      `${place}.${index}`,
    ),
  )
  if (to === 'set') return new Set(converted)
  return to === 'map' ? new Map(converted as [unknown, unknown][]) : converted
}

function toObject(
  value: Record<string, unknown>,
  convert: ObjectConversion,
  named: Named,
  place: string,
): unknown {
  const variant = convert.variants?.find(({ property, values }) =>
    (values as readonly unknown[]).includes(value[property]),
  )?.convert
  const { fields = {}, values, to } = variant ?? convert
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    toArgument(item, Object.hasOwn(fields, key) ? fields[key] : values, named, `${place}.${key}`),
  ])
  return to === 'map' ? new Map(entries) : Object.fromEntries(entries)
}

function toDate(text: string): Date {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw new RangeError('no date')
  return date
}

// `/a+/gi` with its flags, or the pattern alone.
function toRegExp(text: string): RegExp {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [undefined, text, '']
  return new RegExp(pattern ?? text, flags)
}

function toBuffer(text: string): Buffer {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new RangeError('no base64')
  return Buffer.from(text, 'base64')
}
