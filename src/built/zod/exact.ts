import { recordOf } from './recorded.ts'
import type { Recorded } from './recorded.ts'

// What the JSON Schema of each says is all there is to it. A method that is not named here may mean more.
const PLAIN: { readonly [builder: string]: readonly string[] } = {
  string: ['min', 'max'],
  number: [
    'min',
    'max',
    'gt',
    'gte',
    'lt',
    'lte',
    'int',
    'positive',
    'negative',
    'nonnegative',
    'nonpositive',
  ],
  int: [
    'min',
    'max',
    'gt',
    'gte',
    'lt',
    'lte',
    'positive',
    'negative',
    'nonnegative',
    'nonpositive',
  ],
  boolean: [],
  enum: [],
  literal: [],
  array: ['min', 'max'],
  object: ['strict'],
  strictObject: [],
}
const TOLD = ['describe', 'meta']
const CLOSING = ['optional', 'default']

/** True when the JSON Schema of a schema says everything about it: no transforms, no rules in code, no reading of one type as another. */
export function isExact(record: Recorded): boolean {
  const steps = stepsOf(record)
  const [made, ...further] = steps as [Recorded, ...Recorded[]]
  const allowed = Object.hasOwn(PLAIN, made.name) ? PLAIN[made.name]! : undefined
  if (!allowed || !hasExactArguments(made)) return false
  // Behind `optional` and `default` only words may follow: together they mean different things in different orders.
  const closing = further.findIndex(({ name }) => CLOSING.includes(name))
  const open = closing === -1 ? further : further.slice(0, closing)
  const rest = closing === -1 ? [] : further.slice(closing + 1)
  return (
    open.every(({ name }) => allowed.includes(name) || TOLD.includes(name)) &&
    rest.every(({ name }) => TOLD.includes(name))
  )
}

function stepsOf(record: Recorded): readonly Recorded[] {
  return record.parent ? [...stepsOf(record.parent), record] : [record]
}

function hasExactArguments({ name, args: [first] }: Recorded): boolean {
  if (name === 'array') return isExactRecord(first)
  if (name === 'object' || name === 'strictObject')
    return typeof first === 'object' && first !== null && Object.values(first).every(isExactRecord)
  if (name === 'enum') return Array.isArray(first)
  return name !== 'literal' || ['string', 'number', 'boolean'].includes(typeof first)
}

function isExactRecord(value: unknown): boolean {
  const record = recordOf(value)
  return record !== undefined && isExact(record)
}
