/**
 * Defines a tool that somebody else described. The description is untrusted: what cannot be used is dropped and noted.
 */

import { toFlagName } from '../../define/argv.ts'
import { checkMcpOptions } from '../../define/checks.ts'
import { findPlainMismatch } from '../../define/early-checks.ts'
import { readFlagValue, readInputFields } from '../../define/flag-specs.ts'
import { CONTROL_FLAGS, GLOBAL_FLAGS, PROGRAM_FLAGS } from '../../define/global-flags.ts'
import type { ToolDefinition } from '../../define/tool-types.ts'
import { defineTool } from '../../define/tool.ts'
import type { Context } from '../../protocol/context.ts'
import type { DeclaredError } from '../../protocol/errors.ts'
import type {
  Annotations,
  Example,
  FlagOptions,
  McpOptions,
  Permissions,
} from '../../protocol/manifest.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import type { CheckedFile } from '../cache.ts'
import { cleanText, setNotes, toSummary } from '../names.ts'
import type { ForeignMetadata } from '../source.ts'
import { sanitizeInputSchema, sanitizeOutputSchema } from './sanitize-schema.ts'

const MAX_NOTES = 20

/**
 * Runs a tool of somebody else: gives its result, `ok(...)` or `partial(...)`, or throws a
 * ToolError. `looked` is its program, where that was looked at right before.
 */
export type ForeignRun = (input: JsonObject, ctx: Context, looked?: CheckedFile) => unknown

/**
 * The definition of a tool that somebody else described. The description may be anything: what
 * cannot be used is left out or left open, and told to `onNote`. Throws CONFIG only for a name that
 * is not valid.
 */
export function defineForeign(
  name: string,
  facts: ForeignMetadata,
  run: ForeignRun,
  onNote: (note: string) => void = () => undefined,
): ToolDefinition {
  const given: { readonly [fact: string]: unknown } = isObject(facts) ? facts : {}
  const told = new Set<string>()
  const note = (text: string): void => {
    if (told.has(text) || told.size >= MAX_NOTES) return
    told.add(text)
    onNote(text)
  }
  const input = sanitizeInputSchema(given['inputSchema'], note)
  const output = sanitizeOutputSchema(given['outputSchema'], note)
  const tamed = sanitizeMetadata(given, input)
  const definition = defineTool(
    {
      ...tamed,
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
  setNotes(definition, [...told])
  return definition
}

const MAX_DESCRIPTION_LENGTH = 16_000
const MAX_ITEMS = 100
const ERROR_CATEGORIES: readonly unknown[] = ['input', 'auth', 'state', 'runtime', 'internal']
const ANNOTATION_NAMES = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const

type UntrustedMetadata = { readonly [fact: string]: unknown }

/**
 * Everything but schemas and flags that somebody says about a tool of theirs, as far as it can be
 * used. What is of the wrong kind is left out.
 */
function sanitizeMetadata(given: UntrustedMetadata, input: JsonSchema) {
  const title = cleanText(given['title'], 200)
  const description = cleanText(given['description'], MAX_DESCRIPTION_LENGTH)
  const { timeout, permissions } = given
  return {
    ...compact({ title, description }),
    ...pickBooleans(given, ['dryRun', 'streaming', 'session']),
    ...compact({
      timeout:
        typeof timeout === 'number' && timeout > 0 && timeout <= 7 * 86_400 ? timeout : undefined,
      permissions: isObject(permissions) ? (permissions as Permissions) : undefined,
    }),
    tags: sanitizeTexts(given['tags']),
    annotations: sanitizeAnnotations(given['annotations']),
    examples: sanitizeExamples(given['examples'], input),
    errors: sanitizeErrors(given['errors']),
    ...sanitizeMcpOptions(given['mcp']),
  }
}

function pickBooleans(
  given: UntrustedMetadata,
  names: readonly ('dryRun' | 'streaming' | 'session')[],
): { readonly dryRun?: boolean; readonly streaming?: boolean; readonly session?: boolean } {
  return Object.fromEntries(
    names.filter((name) => typeof given[name] === 'boolean').map((name) => [name, given[name]]),
  )
}

function sanitizeTexts(given: unknown): string[] {
  const texts = Array.isArray(given)
    ? given.slice(0, MAX_ITEMS).map((tag) => cleanText(tag, 100))
    : []
  return [...new Set(texts.filter((text) => text !== undefined))]
}

function sanitizeAnnotations(given: unknown): Annotations {
  return isObject(given)
    ? Object.fromEntries(
        ANNOTATION_NAMES.filter((hint) => typeof given[hint] === 'boolean').map((hint) => [
          hint,
          given[hint],
        ]),
      )
    : {}
}

function sanitizeExamples(given: unknown, schema: JsonSchema): Example[] {
  return (Array.isArray(given) ? given.slice(0, MAX_ITEMS) : []).flatMap(
    (example: unknown): Example[] => {
      if (!isObject(example)) return []
      const { input, args, output } = example
      const description = cleanText(example['description'], 500)
      const isFit = isObject(input)
        ? findPlainMismatch(schema, input) === undefined
        : input === undefined && Array.isArray(args) && args.every((arg) => typeof arg === 'string')
      if (!isFit) return []
      return [
        {
          ...compact({ description }),
          ...(isObject(input) ? { input } : { args: args as string[] }),
          ...compact({ output }),
        },
      ]
    },
  )
}

function sanitizeErrors(given: unknown): { readonly [code: string]: DeclaredError } {
  const members = isObject(given) ? Object.entries(given).slice(0, MAX_ITEMS) : []
  return Object.fromEntries(
    members.flatMap(([code, declared]): [string, DeclaredError][] => {
      const own = isObject(declared) ? declared : { message: declared }
      const message = cleanText(own['message'], 1000)
      if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code) || message === undefined) return []
      const { category, recoverable, retryable } = own as UntrustedMetadata
      return [
        [
          code,
          {
            message,
            ...compact({
              category: ERROR_CATEGORIES.includes(category)
                ? (category as NonNullable<DeclaredError['category']>)
                : undefined,
              recoverable: typeof recoverable === 'boolean' ? recoverable : undefined,
              retryable: typeof retryable === 'boolean' ? retryable : undefined,
            }),
          },
        ],
      ]
    }),
  )
}

function sanitizeMcpOptions(given: unknown): { readonly mcp?: McpOptions } {
  try {
    if (given === undefined) return {}
    checkMcpOptions('', given)
    return { mcp: given }
  } catch {
    return {}
  }
}

const ALL_FLAGS = [...GLOBAL_FLAGS, ...CONTROL_FLAGS]
const RESERVED_SHORT_FLAGS = [...GLOBAL_FLAGS, ...PROGRAM_FLAGS].flatMap(({ short }) => short ?? [])

type SanitizedFlags = {
  readonly flags: { readonly [field: string]: FlagOptions }
  readonly positional: readonly string[]
}

/**
 * How the fields of somebody else's tool are written on a command line: as its owner says where
 * that is possible. Where a field is called like a flag that every tool has, the flag gets another
 * name and the field keeps its own.
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
  // Shorter ones first: `verify` keeps its name, and `no-verify` yields.
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
      hidden: asked.hidden ? true : undefined,
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
  if (!isObject(options)) return {}
  const { name, short, env, hidden } = options
  return compact({
    name: typeof name === 'string' ? name : undefined,
    short: typeof short === 'string' && /^[A-Za-z]$/.test(short) ? short : undefined,
    env: typeof env === 'string' && /^[A-Za-z_]\w*$/.test(env) ? env : undefined,
    hidden: hidden === true ? hidden : undefined,
  })
}

function isTypeableFlag(long: string): boolean {
  return long.length <= 100 && /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u.test(long)
}

// A list takes all that follows, and nothing that is required can stand behind what may be left
// out.
function sanitizePositional(
  given: unknown,
  kinds: ReadonlyMap<string, { readonly kind: string; readonly default?: unknown }>,
  required: ReadonlySet<string>,
): string[] {
  const wanted = Array.isArray(given)
    ? [
        ...new Set(
          given.filter((field): field is string => typeof field === 'string' && kinds.has(field)),
        ),
      ]
    : []
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
