/**
 * Defines foreign tools. Their descriptions are untrusted: what cannot be used is dropped and
 * noted.
 */

import { toFlagName } from '../../define/argv.ts'
import { checkMcpOptions } from '../../define/checks.ts'
import { findPlainMismatch } from '../../define/early-checks.ts'
import { readFlagValue, readInputFields } from '../../define/flag-specs.ts'
import { CONTROL_FLAGS, GLOBAL_FLAGS, PROGRAM_FLAGS } from '../../define/global-flags.ts'
import type { ToolDefinition } from '../../define/tool-types.ts'
import { defineTool } from '../../define/tool.ts'
import type { Context } from '../../protocol/context.ts'
import type { DeclaredError, ErrorCategory } from '../../protocol/errors.ts'
import { ERROR_CATEGORIES } from '../../protocol/errors.ts'
import type { Example, FlagOptions, McpOptions, Permissions } from '../../protocol/manifest.ts'
import { DAY_MS } from '../../util/units.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { asList, asObject, asText, compact, isObject } from '../../util/values.ts'
import type { CheckedFile } from '../cache.ts'
import { cleanText, setNotes, toSummary } from '../names.ts'
import type { ForeignMetadata, FoundTool } from '../source.ts'
import { readAnnotations } from '../source.ts'
import { sanitizeInputSchema, sanitizeOutputSchema } from './sanitize-schema.ts'

const MAX_NOTES = 20

/**
 * Runs a foreign tool: returns its result, `ok(...)` or `partial(...)`, or throws a ToolError.
 * `looked` is its program, if that was just checked.
 */
export type ForeignRun = (input: JsonObject, ctx: Context, looked?: CheckedFile) => unknown

/**
 * Defines a foreign tool. The description may be anything: what cannot be used is left out or left
 * open, and noted. Throws CONFIG only for an invalid name.
 */
export function defineForeign(
  name: string,
  facts: ForeignMetadata,
  run: ForeignRun,
  onNote: (note: string) => void = () => undefined,
): ToolDefinition {
  const given: JsonObject = asObject(facts) ?? {}
  const notes = new Set<string>()
  const note = (text: string): void => {
    if (notes.has(text) || notes.size >= MAX_NOTES) return
    notes.add(text)
    onNote(text)
  }
  const input = sanitizeInputSchema(given['inputSchema'], note)
  const output = sanitizeOutputSchema(given['outputSchema'], note)
  const definition = defineTool(
    {
      ...sanitizeMetadata(given, input),
      ...sanitizeFlags(input, given),
      name,
      summary: toSummary(name, given),
      reserved: false,
      input,
      ...compact({ output }),
      run,
    },
    { isRemote: true },
  )
  setNotes(definition, [...notes])
  return definition
}

/** A tool of a server, as a source finds it. */
export function toServerTool(
  about: Pick<FoundTool, 'source' | 'name' | 'kind' | 'location' | 'version'>,
  facts: ForeignMetadata,
  run: ForeignRun,
): FoundTool {
  return {
    ...about,
    tier: 'server',
    summary: toSummary(about.name, facts),
    tags: facts.tags ?? [],
    define: (name) => defineForeign(name, facts, run),
  }
}

const MAX_DESCRIPTION_LENGTH = 16_000
const MAX_ITEMS = 100
const MAX_TIMEOUT_SECONDS = (7 * DAY_MS) / 1000

/**
 * The usable part of the description, without schemas and flags. Values of the wrong type are left
 * out.
 */
function sanitizeMetadata(given: JsonObject, input: JsonSchema) {
  const { timeout, permissions } = given
  const isTimeout = typeof timeout === 'number' && timeout > 0 && timeout <= MAX_TIMEOUT_SECONDS
  return {
    ...compact({
      title: cleanText(given['title'], 200),
      description: cleanText(given['description'], MAX_DESCRIPTION_LENGTH),
      dryRun: asBoolean(given['dryRun']),
      streaming: asBoolean(given['streaming']),
      session: asBoolean(given['session']),
      timeout: isTimeout ? timeout : undefined,
      permissions: isObject(permissions) ? (permissions as Permissions) : undefined,
      mcp: sanitizeMcpOptions(given['mcp']),
    }),
    tags: sanitizeTexts(given['tags']),
    annotations: readAnnotations(given['annotations']),
    examples: sanitizeExamples(given['examples'], input),
    errors: sanitizeErrors(given['errors']),
  }
}

function asBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

function sanitizeTexts(given: unknown): string[] {
  const texts = asList(given)
    .slice(0, MAX_ITEMS)
    .map((text) => cleanText(text, 100))
  return [...new Set(texts.filter((text) => text !== undefined))]
}

function sanitizeExamples(given: unknown, schema: JsonSchema): Example[] {
  return asList(given)
    .slice(0, MAX_ITEMS)
    .filter(isObject)
    .flatMap(({ input, args, output, ...rest }): Example[] => {
      const description = cleanText(rest['description'], 500)
      if (isObject(input))
        return findPlainMismatch(schema, input) === undefined
          ? [compact({ description, input, output })]
          : []
      const isWords = Array.isArray(args) && args.every((arg) => typeof arg === 'string')
      return input === undefined && isWords ? [compact({ description, args, output })] : []
    })
}

function sanitizeErrors(given: unknown): { readonly [code: string]: DeclaredError } {
  const errors: { [code: string]: DeclaredError } = {}
  for (const [code, declared] of Object.entries(asObject(given) ?? {}).slice(0, MAX_ITEMS)) {
    const own = asObject(declared) ?? { message: declared }
    const message = cleanText(own['message'], 1000)
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code) || message === undefined) continue
    const category = own['category'] as ErrorCategory
    errors[code] = compact({
      message,
      category: ERROR_CATEGORIES.includes(category) ? category : undefined,
      recoverable: asBoolean(own['recoverable']),
      retryable: asBoolean(own['retryable']),
    })
  }
  return errors
}

function sanitizeMcpOptions(given: unknown): McpOptions | undefined {
  try {
    if (given !== undefined) checkMcpOptions('', given)
    return given
  } catch {
    return undefined
  }
}

const ALL_FLAGS = [...GLOBAL_FLAGS, ...CONTROL_FLAGS]
const RESERVED_SHORT_FLAGS = [...GLOBAL_FLAGS, ...PROGRAM_FLAGS].flatMap(({ short }) => short ?? [])

type SanitizedFlags = {
  readonly flags: { readonly [field: string]: FlagOptions }
  readonly positional: readonly string[]
}

/**
 * How the fields of a foreign tool are written on a command line: as its owner says, if possible.
 * When a field is called like a global flag, its flag gets another name and the field keeps its
 * own.
 */
function sanitizeFlags(
  schema: JsonSchema,
  given: { readonly flags?: unknown; readonly positional?: unknown },
): SanitizedFlags {
  const { properties, required } = readInputFields(schema)
  const kinds = new Map([...properties].map(([field, inner]) => [field, readFlagValue(inner)]))
  const taken = new Set(ALL_FLAGS.filter((flag) => !flag.yields).map(({ long }) => long))
  const letters = new Set(RESERVED_SHORT_FLAGS)
  const isTaken = (long: string, isSwitch: boolean): boolean =>
    taken.has(long) ||
    (isSwitch && taken.has(`no-${long}`)) ||
    (long.startsWith('no-') && switches.has(long.slice(3)))
  const switches = new Set<string>()
  const flags: [string, FlagOptions][] = []
  const all = [...properties.keys()]
  // Shorter names first: `verify` keeps its name, and `no-verify` yields.
  for (const [index, field] of all
    .toSorted((left, right) => left.length - right.length)
    .entries()) {
    const isSwitch = kinds.get(field)!.kind === 'boolean'
    const asked = readFlagOptions(given.flags, field)
    const natural = toFlagName(field)
    const name = [
      asked.name,
      natural,
      natural === 'output' ? 'out-file' : `tool-${natural}`,
      `${natural}-${index}`,
      `field-${index}`,
    ].find((long) => long !== undefined && isTypeableFlag(long) && !isTaken(long, isSwitch))
    const long = name ?? `field-${index}-of-${properties.size}`
    taken.add(long)
    if (isSwitch) switches.add(long)
    const short = asked.short !== undefined && !letters.has(asked.short) ? asked.short : undefined
    if (short !== undefined) letters.add(short)
    const options = compact({
      name: long !== natural ? long : undefined,
      short,
      env: asked.env,
      hidden: asked.hidden,
    })
    if (Object.keys(options).length > 0) flags.push([field, options])
  }
  return {
    flags: Object.fromEntries(flags),
    positional: sanitizePositional(given.positional, kinds, required),
  }
}

function readFlagOptions(given: unknown, field: string): FlagOptions {
  const options = isObject(given) && Object.hasOwn(given, field) ? given[field] : undefined
  const { name, short, env, hidden } = asObject(options) ?? {}
  return compact({
    name: asText(name),
    short: /^[A-Za-z]$/.exec(asText(short) ?? '')?.[0],
    env: /^[A-Za-z_]\w*$/.exec(asText(env) ?? '')?.[0],
    hidden: hidden === true || undefined,
  })
}

function isTypeableFlag(long: string): boolean {
  return long.length <= 100 && /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u.test(long)
}

// A list takes all words that follow, and a required field cannot follow an optional one.
function sanitizePositional(
  given: unknown,
  kinds: ReadonlyMap<string, { readonly kind: string; readonly default?: unknown }>,
  required: ReadonlySet<string>,
): string[] {
  const wanted = new Set(
    asList(given).filter((field): field is string => typeof field === 'string' && kinds.has(field)),
  )
  const positional: string[] = []
  let mayBeAbsent = false
  for (const field of wanted) {
    const isRequired = required.has(field) && kinds.get(field)!.default === undefined
    if (isRequired && mayBeAbsent) continue
    mayBeAbsent ||= !isRequired
    positional.push(field)
    if (kinds.get(field)!.kind === 'list') break
  }
  return positional
}
