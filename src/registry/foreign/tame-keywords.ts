import { isObject } from '../../contract/json.ts'
import { cleanText } from './clean-text.ts'
import { tamePattern } from './tame-pattern.ts'

const LONGEST_TEXT = 4000
// More than this nobody reads, and nobody should have to check.
const MOST_VALUES = 2000
const DIRECTIONS: readonly unknown[] = ['in', 'out', 'inout']

/** Tells what could not be taken as it was. */
export type OnNote = (note: string) => void

/** Makes the value of a keyword usable; undefined leaves the keyword out. */
type Tame = (value: unknown, note: OnNote) => unknown

const number: Tame = (value) => {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined
}
const count: Tame = (value, note) => {
  const read = number(value, note) as number | undefined
  return read !== undefined && read >= 0 ? Math.floor(read) : undefined
}
const flag: Tame = (value) => (typeof value === 'boolean' ? value : undefined)
const text: Tame = (value) => cleanText(value, LONGEST_TEXT)
const anything: Tame = (value) => value

/** The keywords that hold no schemas, and how each is tamed. What is in neither list is left out. */
export const SIMPLE_KEYWORDS: { readonly [keyword: string]: Tame } = {
  title: text,
  description: text,
  default: anything,
  examples: (value) => (Array.isArray(value) ? value.slice(0, 5) : undefined),
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  const: anything,
  enum: (value, note) => {
    if (Array.isArray(value) && value.length > 0 && value.length <= MOST_VALUES) return value
    note(
      Array.isArray(value)
        ? `an enum of ${value.length} values was left out`
        : 'an enum that is no list was left out',
    )
    return undefined
  },
  minimum: number,
  maximum: number,
  exclusiveMinimum: (value, note) => flag(value, note) ?? number(value, note),
  exclusiveMaximum: (value, note) => flag(value, note) ?? number(value, note),
  multipleOf: (value, note) => {
    const read = number(value, note) as number | undefined
    return read !== undefined && read > 0 ? read : undefined
  },
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  uniqueItems: flag,
  // Validators look formats up by name in plain objects.
  format: (value) =>
    typeof value === 'string' && /^[a-z][a-z0-9-]{0,40}$/i.test(value) && !(value in {})
      ? value
      : undefined,
  pattern: (value, note) => {
    const pattern = typeof value === 'string' ? tamePattern(value) : undefined
    if (pattern === undefined) note('a pattern that JavaScript does not understand was left out')
    return pattern
  },
  contentEncoding: text,
  contentMediaType: text,
  required: (value) =>
    Array.isArray(value)
      ? [...new Set(value.filter((name) => typeof name === 'string'))]
      : typeof value === 'string'
        ? [value]
        : undefined,
  dependentRequired: (value) =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).filter(
            ([, names]) => Array.isArray(names) && names.every((name) => typeof name === 'string'),
          ),
        )
      : undefined,
  // Only where a path goes: what a path has to be is for its owner to check.
  'x-toolable-path': (value) =>
    isObject(value) && DIRECTIONS.includes(value['direction'])
      ? { direction: value['direction'] }
      : undefined,
}
