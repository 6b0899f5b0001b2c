import type { JsonSchema } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import type { Conversion, ObjectConversion } from '../../manifest.ts'
import type { Reading } from './work.ts'

/** One conversion for several alternatives. Where a kind of JSON can mean two things, the one that leaves it alone wins: it is what the caller wrote. */
export function mergeConversions(readings: readonly Reading[]): Conversion | undefined {
  if (!readings.some(({ convert }) => convert)) return undefined
  if (readings.length === 1) return readings[0]!.convert
  const taking = (kind: string): readonly Reading[] =>
    readings.filter(
      ({ schema, convert }) => convert?.ref === undefined && kindsOf(schema).has(kind),
    )
  const texts = taking('string').filter(
    ({ schema, convert }) => !convert?.names && (convert || textsOf(schema) === undefined),
  )
  const text = only(texts.map(({ convert }) => convert?.text))
  const names = mergeNames(readings, text !== undefined)
  const number = only(taking('number').map(({ convert }) => convert?.number))
  const list = only(taking('array').map(({ convert }) => convert?.list))
  const object = mergeObjects(taking('object'))
  // A recursive type that is one of several stands for itself where nothing else is an object or a list.
  const ref = readings.find(({ convert }) => convert?.ref !== undefined)?.convert?.ref
  if (ref !== undefined && !names && !text && !number && !list && !object) return { ref }
  const merged: Conversion = {
    ...(names && { names }),
    ...(text && { text }),
    ...(number && { number }),
    ...(list && { list }),
    ...(object && { object }),
  }
  return Object.keys(merged).length > 0 ? merged : undefined
}

// Names of numbers stay names only where no other alternative takes the same text as it is. Where other texts are converted, literals have to be told apart from them.
function mergeNames(readings: readonly Reading[], isTextConverted: boolean): Conversion['names'] {
  const others = readings
    .filter(
      ({ schema, convert }) => !convert?.names && !convert?.text && kindsOf(schema).has('string'),
    )
    .map(({ schema }) => textsOf(schema))
  const names = readings
    .flatMap(({ convert }) => Object.entries(convert?.names ?? {}))
    .filter(([name]) => others.every((texts) => texts?.includes(name) === false))
  const literals = isTextConverted
    ? others
        .flatMap((texts) => texts ?? [])
        .filter((text) => typeof text === 'string')
        .map((text): [string, string] => [text, text])
    : []
  return names.length + literals.length > 0
    ? Object.fromEntries([...names, ...literals])
    : undefined
}

// The texts that a schema names; undefined where it takes others too.
function textsOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  return Array.isArray(schema['enum']) ? (schema['enum'] as readonly unknown[]) : undefined
}

// The one conversion that all of them want; undefined where one of them wants none.
function only<T>(wanted: readonly (T | undefined)[]): T | undefined {
  const [first] = wanted
  return first !== undefined &&
    wanted.every((other) => JSON.stringify(other) === JSON.stringify(first))
    ? first
    : undefined
}

function mergeObjects(readings: readonly Reading[]): ObjectConversion | undefined {
  const same = only(readings.map(({ convert }) => convert?.object))
  if (same || !readings.some(({ convert }) => convert?.object)) return same
  const property = findDiscriminant(readings.map(({ schema }) => schema))
  if (property === undefined) return undefined
  return {
    variants: readings.map(({ schema, convert }) => ({
      property,
      values: literalsOf(schema, property)!,
      convert: convert?.object ?? {},
    })),
  }
}

function findDiscriminant(schemas: readonly JsonSchema[]): string | undefined {
  const [first] = schemas
  const properties = first && isObject(first['properties']) ? Object.keys(first['properties']) : []
  return properties.find((property) =>
    schemas.every((schema) => literalsOf(schema, property) !== undefined),
  )
}

type Literal = string | number | boolean | null

function literalsOf(schema: JsonSchema, property: string): readonly Literal[] | undefined {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const field = Object.hasOwn(properties, property) ? properties[property] : undefined
  if (!isObject(field)) return undefined
  return Object.hasOwn(field, 'const')
    ? [field['const'] as Literal]
    : Array.isArray(field['enum'])
      ? (field['enum'] as Literal[])
      : undefined
}

function kindsOf(schema: JsonSchema): ReadonlySet<string> {
  if (Array.isArray(schema['anyOf']))
    return new Set((schema['anyOf'] as JsonSchema[]).flatMap((branch) => [...kindsOf(branch)]))
  if (Object.hasOwn(schema, 'const')) return new Set([typeof schema['const']])
  if (Array.isArray(schema['enum']))
    return new Set((schema['enum'] as unknown[]).map((value) => typeof value))
  return typeof schema['type'] === 'string'
    ? new Set([schema['type'] === 'integer' ? 'number' : schema['type']])
    : new Set(['string', 'number', 'array', 'object'])
}
