import { closest } from '../../contract/did-you-mean.ts'
import { ELLIPSIS } from '../../contract/wide-characters.ts'

const LONGEST_SHOWN = 80
const MOST_CHOICES = 20

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['null', 'null'],
  ['object', 'an object'],
  ['array', 'a list'],
])

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['email', 'an email address'],
  ['idn-email', 'an email address'],
  ['uri', 'a URL'],
  ['url', 'a URL'],
  ['uuid', 'a UUID'],
  ['guid', 'a UUID'],
  ['date', 'a date such as 2024-12-31'],
  ['date-time', 'a date and time such as 2024-12-31T23:59:59Z'],
  ['datetime', 'a date and time such as 2024-12-31T23:59:59Z'],
  ['time', 'a time such as 23:59:59Z'],
  ['duration', 'a duration such as PT5M'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
  ['hostname', 'a host name'],
  ['regex', 'a regular expression'],
  ['json-pointer', 'a JSON pointer'],
])

/** A value as messages show it: JSON, cut to about 80 characters; never throws. */
export function showValue(value: unknown): string {
  if (typeof value === 'string')
    return cut(
      JSON.stringify(value.slice(0, LONGEST_SHOWN + 1)),
      value.length > LONGEST_SHOWN ? `${ELLIPSIS}"` : '"',
    )
  if (value === undefined) return 'nothing'
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint') return cut(`${value}n`)
  if (typeof value === 'symbol') return 'a symbol'
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString()
  if (typeof value !== 'object' || value === null) return String(value)
  return cut(JSON.stringify(prune(value, 0)) ?? 'a value')
}

/** `a whole number`. */
export function nameType(type: string): string {
  return TYPE_WORDS.get(type) ?? type
}

/** `must be a whole number, got "abc"`. */
export function sayType(types: readonly string[], value: unknown): string {
  return `must be ${joinWith('or', types.map(nameType))}, got ${showValue(value)}`
}

/** `must be an email address, got "x"`. */
export function sayFormat(format: string, value: unknown): string {
  return `must be ${FORMAT_WORDS.get(format) ?? `of the format ${format}`}, got ${showValue(value)}`
}

/** `must be one of table, csv; got "tabel"; did you mean 'table'?` and what was probably meant. */
export function sayChoices(
  allowed: readonly unknown[],
  value: unknown,
): { message: string; meant?: string } {
  if (allowed.length === 1)
    return withMeant(`must be ${showValue(allowed[0])}, got ${showValue(value)}`, allowed, value)
  const shown = allowed
    .slice(0, MOST_CHOICES)
    .map((choice) => (typeof choice === 'string' ? cut(choice) : showValue(choice)))
  if (allowed.length > MOST_CHOICES) shown.push(`and ${allowed.length - MOST_CHOICES} more`)
  return withMeant(`must be one of ${shown.join(', ')}; got ${showValue(value)}`, allowed, value)
}

/** `1 item`, `2 items`. */
export function count(number: unknown, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`
}

/** `a, b or c`. */
export function joinWith(word: 'and' | 'or', parts: readonly string[]): string {
  return parts.length < 2
    ? parts.join('')
    : `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`
}

function withMeant(
  message: string,
  allowed: readonly unknown[],
  value: unknown,
): { message: string; meant?: string } {
  const meant =
    typeof value === 'string'
      ? closest(
          value,
          allowed.filter((choice) => typeof choice === 'string'),
        )
      : undefined
  return meant === undefined
    ? { message }
    : { message: `${message}; did you mean '${meant}'?`, meant }
}

function cut(text: string, ending = ELLIPSIS): string {
  return text.length <= LONGEST_SHOWN ? text : text.slice(0, LONGEST_SHOWN - ending.length) + ending
}

// Bounded before it is stringified: a message must not cost as much as its value is large.
function prune(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, LONGEST_SHOWN)
  if (typeof value === 'bigint' || typeof value === 'function') return showValue(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return showValue(value)
  if (depth > 2) return ELLIPSIS
  if (Array.isArray(value)) return value.slice(0, 20).map((item: unknown) => prune(item, depth + 1))
  return Object.fromEntries(
    Object.keys(value)
      .slice(0, 20)
      .map((key) => [key, prune((value as Record<string, unknown>)[key], depth + 1)]),
  )
}
