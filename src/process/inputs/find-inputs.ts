import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { closest } from '../../contract/did-you-mean.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** A declared input that stands among the arguments. */
export type FoundInput = {
  readonly field: string
  /** Undefined for a flag without a value. */
  readonly text: string | undefined
  /** Writes another text in its place. */
  put(text: string): void
}

type Properties = { readonly [field: string]: unknown }

/** The declared inputs among arguments, and a copy of the arguments that they can be changed in: `--name value`, `--name=value`, `_` and `-` alike, and by their place where that is declared. Behind `--` nothing is looked at. */
export function findInputs(
  args: readonly string[],
  properties: Properties,
  positional: readonly string[],
): { readonly found: readonly FoundInput[]; readonly prepared: string[] } {
  const names = new Map(Object.keys(properties).map((field) => [nameOf(field), field]))
  const places = positional.filter((field) => Object.hasOwn(properties, field))
  const prepared = [...args]
  const found: FoundInput[] = []
  const take = (field: string, text: string | undefined, at: number, before = ''): void =>
    void found.push({
      field,
      text,
      put: (other) => {
        prepared[at] = before + other
      },
    })
  // A word behind a flag that nobody declared is probably its value.
  let isFree = true
  for (let at = 0; at < args.length && args[at] !== '--'; at += 1) {
    const argument = args[at]!
    const [, flag, value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argument) ?? []
    const field = flag === undefined ? undefined : names.get(nameOf(flag))
    if (field !== undefined) {
      if (value !== undefined) take(field, value, at, `--${flag}=`)
      else if (isSwitch(properties[field])) take(field, undefined, at)
      else take(field, valueOf(args, field, ++at), at)
      isFree = true
    } else if (argument.startsWith('-') && argument !== '-') {
      isFree = value !== undefined
    } else {
      const next = isFree ? places[0] : undefined
      if (next !== undefined) take(next, argument, at)
      if (next !== undefined && !isList(properties[next])) places.shift()
      isFree = true
    }
  }
  return { found, prepared }
}

/** Throws MISSING_PARAM for the first field that is required and not there; among `args` it may be misspelt. */
export function refuseMissing(
  schema: JsonSchema,
  has: (field: string) => boolean,
  args: readonly string[] = [],
): void {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter(
        (field): field is string => typeof field === 'string' && Object.hasOwn(properties, field),
      )
    : []
  const missing = required.find((field) => !has(field) && !hasDefault(properties[field]))
  if (missing === undefined) return
  const flag = `--${nameOf(missing)}`
  const misspelt = args
    .map((word) => /^--[^=]+/.exec(word)?.[0])
    .find(
      (word) =>
        word !== undefined &&
        !Object.keys(properties).some((field) => nameOf(field) === nameOf(word.slice(2))) &&
        closest(word.slice(2), [nameOf(missing)]) !== undefined,
    )
  throw new ToolError(
    'MISSING_PARAM',
    `${missing}: is required and not given${misspelt === undefined ? '' : `; ${misspelt} is unknown, did you mean ${flag}?`}`,
    { field: missing, suggestion: misspelt === undefined ? `Add ${flag} <value>` : `Use ${flag}` },
  )
}

function valueOf(args: readonly string[], field: string, at: number): string {
  const value = args[at]
  if (value === undefined || value === '--')
    throw new ToolError('INVALID_INPUT', `${field}: ${args[at - 1]} has no value behind it`, {
      field,
      suggestion: `Write ${args[at - 1]} <value>`,
    })
  return value
}

function nameOf(field: string): string {
  return field.replaceAll('_', '-')
}

function isSwitch(property: unknown): boolean {
  return isObject(property) && property['type'] === 'boolean'
}

function isList(property: unknown): boolean {
  return isObject(property) && property['type'] === 'array'
}

function hasDefault(property: unknown): boolean {
  return isObject(property) && property['default'] !== undefined
}
