import { closest } from '../did-you-mean.ts'
import { isObject } from '../json.ts'
import type { JsonSchema } from '../json.ts'
import { shorten } from '../shorten.ts'
import type { KeyPath } from './document.ts'

/** What a value of a configuration has to look like. Small, so that a good file costs no schema library. */
export type Shape = ShapeKind & {
  /** What editors are told besides: a description, and bounds that the reader checks in words of its own. */ readonly schema?: JsonSchema
}

type ShapeKind =
  | { readonly is: 'text' | 'switch' | 'count' | 'anything' }
  | { readonly is: 'list' | 'map'; readonly of: Shape }
  | {
      readonly is: 'object'
      readonly keys: { readonly [key: string]: Shape }
      readonly required?: readonly string[]
      /** Keys of others are let through, unless they look misspelt. */ readonly open?: true
    }
  | { readonly is: 'either'; readonly short: Shape; readonly long: Shape }

/** What does not fit, and where. */
export type Misfit = { readonly path: KeyPath; readonly message: string; readonly fix?: string }

/** The first thing in a value that does not fit its shape; undefined where all fits. */
export function findMisfit(shape: Shape, value: unknown, path: KeyPath = []): Misfit | undefined {
  return TESTS[shape.is](shape as never, value, path)
}

const WORDS = { text: 'a text', switch: 'true or false', count: 'a whole number above 0' } as const

type Test<Kind extends Shape['is']> = (
  shape: Extract<Shape, { readonly is: Kind }>,
  value: unknown,
  path: KeyPath,
) => Misfit | undefined

const TESTS: { readonly [Kind in Shape['is']]: Test<Kind> } = {
  anything: () => undefined,
  text: (_shape, value, path) =>
    typeof value === 'string' && value !== '' ? undefined : wrong(path, WORDS.text, value),
  switch: (_shape, value, path) =>
    typeof value === 'boolean' ? undefined : wrong(path, WORDS.switch, value),
  count: (_shape, value, path) =>
    Number.isInteger(value) && Number(value) > 0 ? undefined : wrong(path, WORDS.count, value),
  list: ({ of }, value, path) =>
    Array.isArray(value)
      ? first(
          value.map((item, index) => [index, item] as const),
          path,
          () => of,
        )
      : wrong(path, 'a list', value),
  map: ({ of }, value, path) =>
    isObject(value)
      ? first(Object.entries(value), path, () => of)
      : wrong(path, 'an object', value),
  either: ({ short, long }, value, path) =>
    isObject(value)
      ? findMisfit(long, value, path)
      : typeof value === 'string'
        ? findMisfit(short, value, path)
        : wrong(path, 'a text or an object', value),
  object({ keys, required = [], open }, value, path) {
    if (!isObject(value)) return wrong(path, 'an object', value)
    for (const key of Object.keys(value)) {
      const misfit = Object.hasOwn(keys, key)
        ? findMisfit(keys[key]!, value[key], [...path, key])
        : unknownKey(
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
      : { path, message: `${nameOf(path)} needs '${missing}'` }
  },
}

function first(
  entries: readonly (readonly [string | number, unknown])[],
  path: KeyPath,
  shapeOf: () => Shape,
): Misfit | undefined {
  for (const [key, item] of entries) {
    const misfit = findMisfit(shapeOf(), item, [...path, key])
    if (misfit) return misfit
  }
  return undefined
}

function unknownKey(
  key: string,
  free: readonly string[],
  path: KeyPath,
  open: true | undefined,
): Misfit | undefined {
  const meant = closest(key, free)
  if (meant === undefined && open) return undefined
  const inside = path.length === 0 ? '' : ` in ${nameOf(path)}`
  return {
    path: [...path, key],
    message: `unknown key '${shorten(key, 60)}'${inside}${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
    fix: meant === undefined ? `The keys are ${free.join(', ')}` : `Write ${meant}`,
  }
}

function wrong(path: KeyPath, wanted: string, value: unknown): Misfit {
  const got =
    value === null
      ? 'nothing'
      : Array.isArray(value)
        ? 'a list'
        : typeof value === 'object'
          ? 'an object'
          : JSON.stringify(value).slice(0, 60)
  return { path, message: `${nameOf(path)} must be ${wanted}; got ${got}` }
}

function nameOf(path: KeyPath): string {
  return path.length === 0
    ? 'the file'
    : `'${path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('')}'`
}
