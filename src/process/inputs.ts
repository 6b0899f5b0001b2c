/**
 * Checks the declared inputs among a tool's arguments and resolves the paths in them, before
 * anything is started.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { findClosest, listWords, shorten } from '../util/text.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'
import { isObject, parseJsonObject } from '../util/values.ts'
import type { PathContext, PlacedOutput, StagedOutput } from './staging.ts'
import { getPathDirection, getPathKind, isPathField, placeOutputs, stagePath } from './staging.ts'

/** The paths among the inputs of a tool, and what a run does with them. */
export type PreparedPaths = {
  /** Files and folders that must be visible to the tool, without links. */
  readonly readable: readonly string[]
  readonly outputs: readonly StagedOutput[]
  /** What the tool reads, directly or as a copy. */
  readonly sources: readonly string[]
  /**
   * After a success: moves every output to its target, all or nothing. Throws INVALID_PATH,
   * PERMISSION or DISK_FULL.
   */
  place(): Promise<readonly PlacedOutput[]>
}

/** How the arguments of a tool are understood. */
type ArgumentRules = PathContext & {
  /** Fields that may be given without their flag, in order. */
  readonly positional?: readonly string[]
  /** Command lines that do no work, such as `health.selftest` of a manifest. */
  readonly free?: readonly (readonly string[])[]
}

/**
 * Checks the declared inputs among the arguments of a tool and resolves their paths; everything
 * else stays unchanged. Throws MISSING_PARAM, INVALID_INPUT or INVALID_PATH.
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
  // Flags that are no fields, such as --yes, may follow an input in JSON.
  const isFlag = (word: string): boolean =>
    /^--[^=]+$/.test(word) && !Object.hasOwn(properties, word.slice(2).replaceAll('-', '_'))
  const json = first.startsWith('{') && others.every(isFlag) ? parseJsonObject(first) : undefined
  if (json) {
    const { input, ...paths } = await prepareInput(json, schema, rules)
    return { args: input === json ? args : [JSON.stringify(input), ...others], ...paths }
  }
  const { found, prepared } = findDeclaredInputs(args, properties, rules.positional ?? [])
  rejectMissingInputs(schema, (field) => found.some((one) => one.field === field), args)
  for (const { field, text } of found) checkInputText(field, properties[field]!, text)
  const resolver = createPathResolver(properties, rules)
  for (const { field, text, replaceText } of found)
    if (text !== undefined) replaceText(await resolver.resolve(field, text))
  return { args: prepared, ...toPreparedPaths(resolver.paths) }
}

/**
 * The same for an input object, whose values its schema has checked already. Returns the same object
 * when it contains no path.
 */
export async function prepareInput(
  input: JsonObject,
  schema: JsonSchema,
  rules: PathContext,
): Promise<PreparedPaths & { readonly input: JsonObject }> {
  rejectMissingInputs(schema, (field) => Object.hasOwn(input, field))
  const changed: { [field: string]: unknown } = {}
  const resolver = createPathResolver(listProperties(schema), rules)
  for (const [field, value] of Object.entries(input)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value]
    const resolved: unknown[] = []
    for (const item of items)
      resolved.push(typeof item === 'string' ? await resolver.resolve(field, item) : item)
    if (resolver.isPath(field)) changed[field] = Array.isArray(value) ? resolved : resolved[0]
  }
  return {
    input: resolver.paths.length === 0 ? input : { ...input, ...changed },
    ...toPreparedPaths(resolver.paths),
  }
}

type ResolvedPath = Awaited<ReturnType<typeof stagePath>>
type PathResolver = {
  isPath(field: string): boolean
  /** Returns the path as the tool sees it, and other texts unchanged. */
  resolve(field: string, text: string): Promise<string>
  readonly paths: readonly ResolvedPath[]
}

function createPathResolver(
  properties: { readonly [field: string]: JsonSchema },
  rules: PathContext,
): PathResolver {
  const paths: ResolvedPath[] = []
  const counts = new Map<string, number>()
  const isPath = (field: string): boolean =>
    Object.hasOwn(properties, field) && isPathField(properties[field]!)
  return {
    isPath,
    paths,
    async resolve(field, text) {
      if (!isPath(field)) return text
      const property = properties[field]!
      const index = counts.get(field) ?? 0
      counts.set(field, index + 1)
      const direction = getPathDirection(field, property)
      const kind = getPathKind(property)
      const path = await stagePath({ field, index, text, direction, kind }, rules)
      paths.push(path)
      return path.text
    },
  }
}

function toPreparedPaths(paths: readonly ResolvedPath[]): PreparedPaths {
  const outputs = paths.flatMap(({ output }) => output ?? [])
  return {
    readable: [...new Set(paths.flatMap(({ readable }) => readable))],
    outputs,
    sources: paths.flatMap(({ source }) => source ?? []),
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

/** A declared input among the arguments. */
type ArgumentInput = {
  readonly field: string
  /** Undefined for a flag without a value. */
  readonly text: string | undefined
  replaceText(text: string): void
}

/**
 * Finds the declared inputs among arguments: `--name value`, `--name=value` (`_` and `-` are equal)
 * and positional ones, up to `--`. `prepared` is a copy of the arguments for the changes.
 */
function findDeclaredInputs(
  args: readonly string[],
  properties: { readonly [field: string]: JsonSchema },
  positional: readonly string[],
): { readonly found: readonly ArgumentInput[]; readonly prepared: string[] } {
  const names = new Map(Object.keys(properties).map((field) => [toFlagName(field), field]))
  const expected = positional.filter((field) => Object.hasOwn(properties, field))
  const prepared = [...args]
  const found: ArgumentInput[] = []
  const add = (field: string, text: string | undefined, at: number, before = ''): void =>
    void found.push({ field, text, replaceText: (other) => void (prepared[at] = before + other) })
  // A word after an undeclared flag is probably its value.
  let isFree = true
  for (let at = 0; at < args.length && args[at] !== '--'; at += 1) {
    const argument = args[at]!
    const [, flag, value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argument) ?? []
    const field = flag === undefined ? undefined : names.get(toFlagName(flag))
    if (field !== undefined) {
      if (value !== undefined) add(field, value, at, `--${flag}=`)
      else if (properties[field]!['type'] === 'boolean') add(field, undefined, at)
      else add(field, readFlagValue(args, field, ++at), at)
      isFree = true
    } else if (argument.startsWith('-') && argument !== '-') {
      isFree = value !== undefined
    } else {
      const next = isFree ? expected[0] : undefined
      if (next !== undefined) {
        add(next, argument, at)
        if (properties[next]!['type'] !== 'array') expected.shift()
      }
      isFree = true
    }
  }
  return { found, prepared }
}

/** Throws MISSING_PARAM for the first required field that is absent; it may be misspelt in `args`. */
function rejectMissingInputs(
  schema: JsonSchema,
  has: (field: string) => boolean,
  args: readonly string[] = [],
): void {
  const properties = listProperties(schema)
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter(
        (field): field is string => typeof field === 'string' && Object.hasOwn(properties, field),
      )
    : []
  const missing = required.find(
    (field) => !has(field) && properties[field]!['default'] === undefined,
  )
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

const NUMBER_PATTERN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const INTEGER_PATTERN = /^[+-]?\d+$/

/** Throws INVALID_INPUT for a number, boolean or choice that its field does not allow. */
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
    { field, suggestion: `Write --${toFlagName(field)} with ${wanted}` },
  )
}

const INFO_FLAGS = listWords(
  '--help -h --version -V --selftest --describe --discover --manifest --schema --tools',
)

/**
 * True when the arguments only ask about a tool, so that nothing is required: a flag such as --help
 * that is no field of the tool, or one of the command lines in `free`.
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
