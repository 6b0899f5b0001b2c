/**
 * Checks configuration files against a small description of their shape, so that a valid file costs
 * no schema library.
 */

import { findClosest, shorten } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
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

const EXPECTED_WORDS = {
  text: 'a text',
  switch: 'true or false',
  count: 'a whole number above 0',
} as const

type ShapeTest<Kind extends ConfigShape['is']> = (
  shape: Extract<ConfigShape, { readonly is: Kind }>,
  value: unknown,
  path: KeyPath,
) => ConfigMismatch | undefined

const SHAPE_TESTS: { readonly [Kind in ConfigShape['is']]: ShapeTest<Kind> } = {
  anything: () => undefined,
  text: (_shape, value, path) =>
    typeof value === 'string' && value !== ''
      ? undefined
      : reportWrongValue(path, EXPECTED_WORDS.text, value),
  switch: (_shape, value, path) =>
    typeof value === 'boolean' ? undefined : reportWrongValue(path, EXPECTED_WORDS.switch, value),
  count: (_shape, value, path) =>
    Number.isInteger(value) && Number(value) > 0
      ? undefined
      : reportWrongValue(path, EXPECTED_WORDS.count, value),
  list: ({ of }, value, path) =>
    Array.isArray(value)
      ? findFirstMismatch(
          value.map((item, index) => [index, item] as const),
          path,
          () => of,
        )
      : reportWrongValue(path, 'a list', value),
  map: ({ of }, value, path) =>
    isObject(value)
      ? findFirstMismatch(Object.entries(value), path, () => of)
      : reportWrongValue(path, 'an object', value),
  either: ({ short, long }, value, path) =>
    isObject(value)
      ? findConfigMismatch(long, value, path)
      : typeof value === 'string'
        ? findConfigMismatch(short, value, path)
        : reportWrongValue(path, 'a text or an object', value),
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
  shapeOf: () => ConfigShape,
): ConfigMismatch | undefined {
  for (const [key, item] of entries) {
    const misfit = findConfigMismatch(shapeOf(), item, [...path, key])
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
  const got =
    value === null
      ? 'nothing'
      : Array.isArray(value)
        ? 'a list'
        : typeof value === 'object'
          ? 'an object'
          : JSON.stringify(value).slice(0, 60)
  return { path, message: `${formatKeyPath(path)} must be ${wanted}; got ${got}` }
}

function formatKeyPath(path: KeyPath): string {
  return path.length === 0
    ? 'the file'
    : `'${path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('')}'`
}
