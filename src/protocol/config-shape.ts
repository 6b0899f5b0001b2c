/**
 * Checks configuration files against a small description of their shape, so that a valid file costs
 * no schema library; and writes the JSON Schema of a shape for editors.
 */

import { findClosest, shorten } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { KeyPath } from './documents.ts'

/**
 * What a value of a configuration has to look like. Small, so that a good file costs no schema
 * library.
 */
export type ConfigShape = ConfigShapeKind & {
  /** What editors are told besides: a description, and bounds that the reader checks in words of its own. */ readonly schema?: JsonSchema
}

type ConfigShapeKind =
  | { readonly is: 'text' | 'switch' | 'count' | 'anything' }
  | { readonly is: 'list' | 'map'; readonly of: ConfigShape }
  | {
      readonly is: 'object'
      readonly keys: { readonly [key: string]: ConfigShape }
      readonly required?: readonly string[]
      /** Keys of others are let through, unless they look misspelt. */ readonly open?: true
    }
  | { readonly is: 'either'; readonly short: ConfigShape; readonly long: ConfigShape }

export const TEXT_SHAPE: ConfigShape = { is: 'text' }
export const TEXTS_SHAPE: ConfigShape = { is: 'list', of: TEXT_SHAPE }
export const SWITCH_SHAPE: ConfigShape = { is: 'switch' }
export const COUNT_SHAPE: ConfigShape = { is: 'count' }
export const ANYTHING_SHAPE: ConfigShape = { is: 'anything' }
/** Environment variables or headers: any values by name. */
export const VARIABLES_SHAPE: ConfigShape = { is: 'map', of: ANYTHING_SHAPE }

/** A list of objects, each of which may be written as a text instead: the value of its first key. */
export function createListShape(keys: { readonly [key: string]: ConfigShape }): ConfigShape {
  const required = Object.keys(keys).slice(0, 1)
  return {
    is: 'list',
    of: { is: 'either', short: TEXT_SHAPE, long: { is: 'object', keys, required } },
  }
}

/** What does not fit, and where. */
export type ConfigMismatch = {
  readonly path: KeyPath
  readonly message: string
  readonly fix?: string
}

/** The first thing in a value that does not fit its shape; undefined where all fits. */
export function findConfigMismatch(
  shape: ConfigShape,
  value: unknown,
  path: KeyPath = [],
): ConfigMismatch | undefined {
  return SHAPE_TESTS[shape.is](shape as never, value, path)
}

type ShapeTest<Kind extends ConfigShape['is']> = (
  shape: Extract<ConfigShape, { readonly is: Kind }>,
  value: unknown,
  path: KeyPath,
) => ConfigMismatch | undefined

const SHAPE_TESTS: { readonly [Kind in ConfigShape['is']]: ShapeTest<Kind> } = {
  anything: () => undefined,
  text: (_shape, value, path) =>
    typeof value === 'string' && value !== '' ? undefined : reportWrongValue(path, 'a text', value),
  switch: (_shape, value, path) =>
    typeof value === 'boolean' ? undefined : reportWrongValue(path, 'true or false', value),
  count: (_shape, value, path) =>
    Number.isInteger(value) && Number(value) > 0
      ? undefined
      : reportWrongValue(path, 'a whole number above 0', value),
  list: ({ of }, value, path) =>
    Array.isArray(value)
      ? findFirstMismatch([...value.entries()], path, of)
      : reportWrongValue(path, 'a list', value),
  map: ({ of }, value, path) =>
    isObject(value)
      ? findFirstMismatch(Object.entries(value), path, of)
      : reportWrongValue(path, 'an object', value),
  either({ short, long }, value, path) {
    if (isObject(value)) return findConfigMismatch(long, value, path)
    return typeof value === 'string'
      ? findConfigMismatch(short, value, path)
      : reportWrongValue(path, 'a text or an object', value)
  },
  object({ keys, required = [], open }, value, path) {
    if (!isObject(value)) return reportWrongValue(path, 'an object', value)
    for (const key of Object.keys(value)) {
      const misfit = Object.hasOwn(keys, key)
        ? findConfigMismatch(keys[key]!, value[key], [...path, key])
        : reportUnknownKey(
            key,
            Object.keys(keys).filter((known) => !Object.hasOwn(value, known)),
            path,
            open,
          )
      if (misfit) return misfit
    }
    const missing = required.find((key) => !Object.hasOwn(value, key))
    return missing === undefined
      ? undefined
      : { path, message: `${formatKeyPath(path)} needs '${missing}'` }
  },
}

function findFirstMismatch(
  entries: readonly (readonly [string | number, unknown])[],
  path: KeyPath,
  shape: ConfigShape,
): ConfigMismatch | undefined {
  for (const [key, item] of entries) {
    const misfit = findConfigMismatch(shape, item, [...path, key])
    if (misfit) return misfit
  }
  return undefined
}

function reportUnknownKey(
  key: string,
  free: readonly string[],
  path: KeyPath,
  open: true | undefined,
): ConfigMismatch | undefined {
  const meant = findClosest(key, free)
  if (meant === undefined && open) return undefined
  const inside = path.length === 0 ? '' : ` in ${formatKeyPath(path)}`
  return {
    path: [...path, key],
    message: `unknown key '${shorten(key, 60)}'${inside}${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
    fix: meant === undefined ? `The keys are ${free.join(', ')}` : `Write ${meant}`,
  }
}

function reportWrongValue(path: KeyPath, wanted: string, value: unknown): ConfigMismatch {
  return { path, message: `${formatKeyPath(path)} must be ${wanted}; got ${describeValue(value)}` }
}

function describeValue(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : JSON.stringify(value).slice(0, 60)
}

function formatKeyPath(path: KeyPath): string {
  if (path.length === 0) return 'the file'
  const parts = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
  return `'${parts.join('').replace(/^\./, '')}'`
}

/**
 * The JSON Schema of a shape, for editors: what the reader of a configuration accepts, from the
 * same description.
 */
export function toConfigSchema(shape: ConfigShape): JsonSchema {
  return { ...SCHEMA_WRITERS[shape.is](shape as never), ...shape.schema }
}

type ConfigSchemaWriter<Kind extends ConfigShape['is']> = (
  shape: Extract<ConfigShape, { readonly is: Kind }>,
) => JsonSchema

const SCHEMA_WRITERS: { readonly [Kind in ConfigShape['is']]: ConfigSchemaWriter<Kind> } = {
  anything: () => ({}),
  text: () => ({ type: 'string', minLength: 1 }),
  switch: () => ({ type: 'boolean' }),
  count: () => ({ type: 'integer', minimum: 1 }),
  list: ({ of }) => ({ type: 'array', items: toConfigSchema(of) }),
  map: ({ of }) => ({ type: 'object', additionalProperties: toConfigSchema(of) }),
  either: ({ short, long }) => ({ anyOf: [toConfigSchema(short), toConfigSchema(long)] }),
  object: ({ keys, required, open }) =>
    compact({
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(keys).map(([key, of]) => [key, toConfigSchema(of)]),
      ),
      required,
      additionalProperties: !open ? false : undefined,
    }),
}
