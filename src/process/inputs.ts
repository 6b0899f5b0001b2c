/**
 * Checks the declared inputs among a tool's arguments and resolves the paths in them, before
 * anything is started.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { findClosest, shorten } from '../util/text.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'
import { isObject, parseJsonObject } from '../util/values.ts'
import type { PathContext, PlacedOutput, StagedOutput } from './staging.ts'
import { getPathDirection, getPathKind, isPathField, placeOutputs, stagePath } from './staging.ts'

/** What has to happen around a run for the paths that its tool is given. */
export type PreparedPaths = {
  /** Files and folders that the tool has to see, without links. */
  readonly readable: readonly string[]
  readonly outputs: readonly StagedOutput[]
  /** What the tool gets to read, as it is or as a copy. */
  readonly sources: readonly string[]
  /**
   * After a success: puts every output into its place, all or nothing. Throws INVALID_PATH,
   * PERMISSION or DISK_FULL.
   */
  place(): Promise<readonly PlacedOutput[]>
}

/** How the arguments of a tool are understood. */
type ArgumentRules = PathContext & {
  /** Fields that may stand without their flag, in their order. */
  readonly positional?: readonly string[]
  /** Whole lists of arguments that are no work: `health.selftest` of a manifest. */
  readonly free?: readonly (readonly string[])[]
}

/**
 * Checks the declared inputs among the arguments of a tool and gives their paths a meaning;
 * everything else stays as it is. Throws MISSING_PARAM, INVALID_INPUT or INVALID_PATH before
 * anything is started.
 */
export async function prepareArguments(
  args: readonly string[],
  schema: JsonSchema | undefined,
  rules: ArgumentRules,
): Promise<PreparedPaths & { readonly args: readonly string[] }> {
  if (schema === undefined || isInfoRequest(args, schema, rules.free))
    return { args, ...toPreparedPaths([]) }
  const properties = listProperties(schema)
  const [first = '', ...others] = args
  // Behind a whole input there may stand flags that are no fields: --yes.
  const whole =
    first.startsWith('{') &&
    others.every(
      (word) =>
        /^--[^=]+$/.test(word) && !Object.hasOwn(properties, word.slice(2).replaceAll('-', '_')),
    )
      ? parseJsonObject(first)
      : undefined
  if (whole) {
    const { input, ...work } = await prepareInput(whole, schema, rules)
    return { args: input === whole ? args : [JSON.stringify(input), ...others], ...work }
  }
  const { found, prepared } = findDeclaredInputs(args, properties, rules.positional ?? [])
  rejectMissingInputs(schema, (field) => found.some((one) => one.field === field), args)
  for (const { field, text } of found) checkInputText(field, properties[field]!, text)
  const take = createPathResolver(properties, rules)
  for (const { field, text, replaceText: put } of found)
    if (text !== undefined) await take(field, text, put)
  return { args: prepared, ...toPreparedPaths(take.taken) }
}

/**
 * The same for a tool that takes its input as an object; its values were checked by its schema
 * already. The very object comes back where it holds no path.
 */
export async function prepareInput(
  input: JsonObject,
  schema: JsonSchema,
  rules: PathContext,
): Promise<PreparedPaths & { readonly input: JsonObject }> {
  rejectMissingInputs(schema, (field) => Object.hasOwn(input, field))
  const changed: { [field: string]: unknown } = {}
  const take = createPathResolver(listProperties(schema), rules)
  for (const [field, value] of Object.entries(input)) {
    if (typeof value === 'string')
      await take(field, value, (text) => {
        changed[field] = text
      })
    if (!Array.isArray(value)) continue
    const list: unknown[] = [...value]
    for (const [index, item] of list.entries())
      if (typeof item === 'string')
        await take(field, item, (text) => {
          changed[field] = list
          list[index] = text
        })
  }
  return {
    input: Object.keys(changed).length === 0 ? input : { ...input, ...changed },
    ...toPreparedPaths(take.taken),
  }
}

type ResolvedPath = Awaited<ReturnType<typeof stagePath>>
type PathResolver = {
  (field: string, text: string, put: (text: string) => void): Promise<void>
  readonly taken: readonly ResolvedPath[]
}

function createPathResolver(
  properties: { readonly [field: string]: JsonSchema },
  rules: PathContext,
): PathResolver {
  const taken: ResolvedPath[] = []
  const counts = new Map<string, number>()
  const take = async (field: string, text: string, put: (text: string) => void): Promise<void> => {
    const property = Object.hasOwn(properties, field) ? properties[field]! : {}
    if (!isPathField(property)) return
    const index = counts.get(field) ?? 0
    counts.set(field, index + 1)
    const one = await stagePath(
      {
        field,
        index,
        text,
        direction: getPathDirection(field, property),
        kind: getPathKind(property),
      },
      rules,
    )
    taken.push(one)
    put(one.text)
  }
  return Object.assign(take, { taken })
}

function toPreparedPaths(taken: readonly ResolvedPath[]): PreparedPaths {
  const outputs = taken.flatMap(({ output }) => output ?? [])
  return {
    readable: [...new Set(taken.flatMap(({ readable }) => readable))],
    outputs,
    sources: taken.flatMap(({ source }) => source ?? []),
    place: () => placeOutputs(outputs),
  }
}

function listProperties(schema: JsonSchema): { readonly [field: string]: JsonSchema } {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(properties).map(([field, property]) => [
      field,
      isObject(property) ? property : {},
    ]),
  )
}

/** A declared input that stands among the arguments. */
type ArgumentInput = {
  readonly field: string
  /** Undefined for a flag without a value. */
  readonly text: string | undefined
  /** Writes another text in its place. */
  replaceText(text: string): void
}

type InputProperties = { readonly [field: string]: unknown }

/**
 * The declared inputs among arguments, and a copy of the arguments that they can be changed in:
 * `--name value`, `--name=value`, `_` and `-` alike, and by their place where that is declared.
 * Behind `--` nothing is looked at.
 */
function findDeclaredInputs(
  args: readonly string[],
  properties: InputProperties,
  positional: readonly string[],
): { readonly found: readonly ArgumentInput[]; readonly prepared: string[] } {
  const names = new Map(Object.keys(properties).map((field) => [toFlagName(field), field]))
  const places = positional.filter((field) => Object.hasOwn(properties, field))
  const prepared = [...args]
  const found: ArgumentInput[] = []
  const take = (field: string, text: string | undefined, at: number, before = ''): void =>
    void found.push({
      field,
      text,
      replaceText: (other) => {
        prepared[at] = before + other
      },
    })
  // A word behind a flag that nobody declared is probably its value.
  let isFree = true
  for (let at = 0; at < args.length && args[at] !== '--'; at += 1) {
    const argument = args[at]!
    const [, flag, value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argument) ?? []
    const field = flag === undefined ? undefined : names.get(toFlagName(flag))
    if (field !== undefined) {
      if (value !== undefined) take(field, value, at, `--${flag}=`)
      else if (isBooleanField(properties[field])) take(field, undefined, at)
      else take(field, readFlagValue(args, field, ++at), at)
      isFree = true
    } else if (argument.startsWith('-') && argument !== '-') {
      isFree = value !== undefined
    } else {
      const next = isFree ? places[0] : undefined
      if (next !== undefined) take(next, argument, at)
      if (next !== undefined && !isListField(properties[next])) places.shift()
      isFree = true
    }
  }
  return { found, prepared }
}

/**
 * Throws MISSING_PARAM for the first field that is required and not there; among `args` it may be
 * misspelt.
 */
function rejectMissingInputs(
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
  const flag = `--${toFlagName(missing)}`
  const misspelt = args
    .map((word) => /^--[^=]+/.exec(word)?.[0])
    .find(
      (word) =>
        word !== undefined &&
        !Object.keys(properties).some((field) => toFlagName(field) === toFlagName(word.slice(2))) &&
        findClosest(word.slice(2), [toFlagName(missing)]) !== undefined,
    )
  throw new ToolError(
    'MISSING_PARAM',
    `${missing}: is required and not given${misspelt === undefined ? '' : `; ${misspelt} is unknown, did you mean ${flag}?`}`,
    { field: missing, suggestion: misspelt === undefined ? `Add ${flag} <value>` : `Use ${flag}` },
  )
}

function readFlagValue(args: readonly string[], field: string, at: number): string {
  const value = args[at]
  if (value === undefined || value === '--')
    throw new ToolError('INVALID_INPUT', `${field}: ${args[at - 1]} has no value behind it`, {
      field,
      suggestion: `Write ${args[at - 1]} <value>`,
    })
  return value
}

function toFlagName(field: string): string {
  return field.replaceAll('_', '-')
}

function isBooleanField(property: unknown): boolean {
  return isObject(property) && property['type'] === 'boolean'
}

function isListField(property: unknown): boolean {
  return isObject(property) && property['type'] === 'array'
}

function hasDefault(property: unknown): boolean {
  return isObject(property) && property['default'] !== undefined
}

const NUMBER_PATTERN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const INTEGER_PATTERN = /^[+-]?\d+$/

/**
 * Refuses the text of an argument that cannot be what its field declares: INVALID_INPUT. Texts,
 * lists and objects are the tool's own business.
 */
function checkInputText(field: string, property: JsonSchema, text: string | undefined): void {
  if (text === undefined) return
  const { type, minimum, maximum, enum: choices } = property
  if (type === 'integer' && !INTEGER_PATTERN.test(text))
    throw toInputError(field, 'a whole number', text)
  if (type === 'number' && !NUMBER_PATTERN.test(text)) throw toInputError(field, 'a number', text)
  if (type === 'boolean' && !/^(true|false|yes|no|on|off|1|0)$/i.test(text))
    throw toInputError(field, 'true or false', text)
  if (type === 'integer' || type === 'number') {
    if (typeof minimum === 'number' && Number(text) < minimum)
      throw toInputError(field, `${minimum} or more`, text)
    if (typeof maximum === 'number' && Number(text) > maximum)
      throw toInputError(field, `${maximum} or less`, text)
  }
  const itemChoices = isObject(property['items']) ? property['items']['enum'] : undefined
  const listed = [choices, itemChoices].find(Array.isArray)
  if (listed && !listed.some((choice) => String(choice) === text))
    throw toInputError(field, `one of ${shorten(listed.map(String).join(', '), 200)}`, text)
}

function toInputError(field: string, wanted: string, text: string): ToolError {
  return new ToolError(
    'INVALID_INPUT',
    `${field}: must be ${wanted}; got ${JSON.stringify(shorten(text, 100))}`,
    { field, suggestion: `Write --${field.replaceAll('_', '-')} with ${wanted}` },
  )
}

const INFO_FLAGS = [
  '--help',
  '-h',
  '--version',
  '-V',
  '--selftest',
  '--describe',
  '--discover',
  '--manifest',
  '--schema',
  '--tools',
]

/**
 * Whether arguments only ask about a tool, so that nothing is missing and no work is done: one of
 * the words that programs know, or one of the lists in `free`. A field of that name is no question.
 */
export function isInfoRequest(
  args: readonly string[],
  schema: JsonSchema | undefined,
  free: readonly (readonly string[])[] = [],
): boolean {
  const [word] = args
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  return (
    (args.length === 1 &&
      INFO_FLAGS.includes(word!) &&
      !Object.hasOwn(properties, word!.slice(2))) ||
    free.some(
      (one) => one.length === args.length && one.every((each, index) => each === args[index]),
    )
  )
}
