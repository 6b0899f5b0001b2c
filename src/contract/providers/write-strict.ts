import type { JsonSchema } from '../json.ts'
import { alternatives, defaultOf, withNotes } from './alternatives.ts'
import type { Alternative } from './alternatives.ts'
import { describeWith } from './hints.ts'
import { isOpen } from './shape.ts'
import type { Shape } from './shape.ts'

// The limits that OpenAI documents for structured outputs.
const DEEPEST = 10
const MOST_PROPERTIES = 5000
const MOST_VALUES = 1000
const MOST_CHARACTERS = 120_000
const LONG_ENUM = { values: 250, characters: 15_000 }
const FORMATS = new Set<unknown>([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])
const KEPT = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
])

/** A shape in the strict form of OpenAI, or why it has none. */
export type Strict = { readonly schema: JsonSchema } | { readonly problem: string }

/** Writes the shape of an input so that a model can be held to it: objects closed, every field required, what is optional may be null instead. */
export function writeStrict(shape: Shape): Strict {
  const work: Work = { problem: undefined, properties: 0, values: 0, characters: 0 }
  const schema = write(work, shape, 1, false, '')
  if (work.properties > MOST_PROPERTIES)
    work.problem ??= `it has more than ${MOST_PROPERTIES} fields`
  if (work.values > MOST_VALUES) work.problem ??= `it has more than ${MOST_VALUES} enum values`
  if (work.characters > MOST_CHARACTERS)
    work.problem ??= `its names and enum values have more than ${MOST_CHARACTERS} characters`
  return work.problem === undefined ? { schema } : { problem: work.problem }
}

type Work = { problem: string | undefined; properties: number; values: number; characters: number }

function write(
  work: Work,
  shape: Shape,
  depth: number,
  isOptional: boolean,
  path: string,
): JsonSchema {
  if (depth > DEEPEST) work.problem ??= `'${path}' is nested deeper than ${DEEPEST} levels`
  if (work.problem !== undefined) return {}
  const branches = alternatives(shape)
  const isNullable = shape.nullable || isOptional
  if (branches.length === 1 && !isNullable)
    return writeBranch(work, withNotes(branches[0]!, shape), depth, path)
  const description = describeWith(shape.description, defaultOf(shape.limits))
  return {
    ...(description !== undefined && { description }),
    anyOf: [
      ...branches.map((branch) => writeBranch(work, branch, depth, path)),
      ...(isNullable ? [{ type: 'null' }] : []),
    ],
  }
}

function writeBranch(work: Work, shape: Alternative, depth: number, path: string): JsonSchema {
  const [type] = shape.types ?? []
  const at = path === '' ? 'the input' : `'${path}'`
  if (type === undefined) {
    work.problem ??= `${at} may hold anything`
    return {}
  }
  const { kept, said } = sortLimits(shape)
  const description = describeWith(shape.description, said)
  return {
    type,
    ...(description !== undefined && { description }),
    ...(shape.values && writeValues(work, shape.values, at)),
    ...kept,
    ...(type === 'object' && writeObject(work, shape, depth, path, at)),
    ...(type === 'array' && writeArray(work, shape, depth, path, at)),
  }
}

function writeObject(
  work: Work,
  shape: Alternative,
  depth: number,
  path: string,
  at: string,
): JsonSchema {
  if (isOpen(shape)) work.problem ??= `${at} is open: it may have fields that nobody described`
  work.properties += shape.properties.size
  for (const key of shape.properties.keys()) work.characters += key.length
  const unknown = [...shape.required].find((key) => !shape.properties.has(key))
  if (unknown !== undefined) work.problem ??= `${at} requires '${unknown}', which nobody described`
  return {
    properties: Object.fromEntries(
      [...shape.properties].map(([key, inner]) => [
        key,
        write(
          work,
          inner,
          depth + 1,
          !shape.required.has(key),
          path === '' ? key : `${path}.${key}`,
        ),
      ]),
    ),
    required: [...shape.properties.keys()],
    additionalProperties: false,
  }
}

function writeArray(
  work: Work,
  { items, prefix }: Alternative,
  depth: number,
  path: string,
  at: string,
): JsonSchema {
  const kinds = [...(prefix ?? []), ...(items ? [items] : [])].map((inner) =>
    write(work, inner, depth + 1, false, `${path}[]`),
  )
  if (kinds.length === 0) work.problem ??= `the items of ${at} may be anything`
  return { items: kinds.length === 1 ? kinds[0] : { anyOf: kinds } }
}

function writeValues(work: Work, values: readonly unknown[], at: string): JsonSchema {
  const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0)
  work.values += values.length
  work.characters += characters
  if (values.some((value) => typeof value === 'object'))
    work.problem ??= `${at} is one of several objects or lists`
  if (values.length > LONG_ENUM.values && characters > LONG_ENUM.characters)
    work.problem ??= `the enum of ${at} has more than ${LONG_ENUM.characters} characters`
  return { enum: values }
}

function sortLimits({ limits }: Alternative): {
  readonly kept: JsonSchema
  readonly said: JsonSchema
} {
  const isKept = (keyword: string): boolean => {
    if (keyword === 'format') return FORMATS.has(limits[keyword])
    if (keyword === 'pattern') return isPlainPattern(limits[keyword])
    return KEPT.has(keyword) && typeof limits[keyword] === 'number'
  }
  return { kept: pick(limits, isKept), said: pick(limits, (keyword) => !isKept(keyword)) }
}

// Look-around, back references and Unicode classes are refused with the whole request.
function isPlainPattern(pattern: unknown): boolean {
  return (
    typeof pattern === 'string' && pattern.length <= 500 && !/\(\?(?!:)|\\[1-9kpPbBu]/.test(pattern)
  )
}

function pick(limits: JsonSchema, keeps: (keyword: string) => boolean): JsonSchema {
  return Object.fromEntries(Object.entries(limits).filter(([keyword]) => keeps(keyword)))
}
