/**
 * The table of flags that every tool and program has without declaring them, and the types of all
 * flags.
 *
 * A new global flag is one row here: its name, its help, how its words become a value, and what the
 * value does to a call. The parser, help, completion, generated documents and the type
 * `GlobalFlags` follow from the table.
 */

import { OUTPUT_MODES } from '../cli/formats/table.ts'
import type { CallOptions } from '../protocol/context.ts'
import { DIALECT_NAMES } from '../protocol/dialects/dialects.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'

/** How many values a flag takes, and the value it has where its row has no `read`. */
type ValueByKind = {
  /** `true`. */
  readonly boolean: true
  /** How often it was given. */
  readonly count: number
  /** The last text. */
  readonly value: string
  /** All texts. */
  readonly list: readonly string[]
}

/** A flag that every tool has without declaring it. */
export type GlobalFlag<Value = unknown, Long extends string = string> = {
  readonly long: Long
  readonly short?: string
  readonly kind: keyof ValueByKind
  /** One name for each word that follows the flag: `uri`, or `name json` for two. */
  readonly valueName?: string
  readonly choices?: readonly string[]
  readonly description: string
  /** Shown on the first page of help. */
  readonly isCommon?: true
  /** Offered only for tools that are sessions. */
  readonly isForSessions?: true
  /** The tool's own field of that name wins. */
  readonly yields?: true
  /** Works, but is not shown in help and completion. */
  readonly hidden?: true
  /** It is short for another flag with a value: `--json` for `--output json`. */
  readonly shortFor?: readonly [flag: string, value: string]
  /** Reserved input fields that get the value of this flag. */
  readonly feeds?: readonly string[]
  /**
   * Turns the words behind the flag into its value; `before` is the value of the same flag earlier
   * on the command line. Default: as the kind says. Throws USAGE.
   */
  read?(words: readonly string[], written: string, before: Value | undefined): Value
  /** The value for a reserved field; default: the value of the flag. */
  toField?(value: Value, kind: FlagSpec['kind']): unknown
  /** What the value sets in the options of a call; default: nothing. */
  toCallOptions?(value: Value): CallOptions
}

/** A row of the table, whose functions know the type of its value. */
function flag<
  const Long extends string,
  const Kind extends keyof ValueByKind,
  Value = ValueByKind[Kind],
>(row: GlobalFlag<Value, Long> & { readonly kind: Kind }): GlobalFlag<Value, Long> {
  return row
}

const HELP_FLAG = flag({ long: 'help', short: 'h', kind: 'boolean', description: 'Show this help' })

const TABLE = [
  flag({
    long: 'output',
    short: 'o',
    kind: 'value',
    valueName: 'mode',
    choices: ['auto', ...OUTPUT_MODES],
    description: 'How to print the result',
    isCommon: true,
  }),
  flag({
    long: 'json',
    kind: 'boolean',
    description: 'Same as --output json',
    shortFor: ['output', 'json'],
    isCommon: true,
  }),
  flag({
    long: 'jsonl',
    kind: 'boolean',
    description: 'Same as --output jsonl',
    shortFor: ['output', 'jsonl'],
  }),
  flag({
    long: 'fields',
    kind: 'value',
    valueName: 'names',
    description: 'Keep only these fields of the result, separated by commas',
    yields: true,
    read: ([names], _written, before: readonly string[] = []) => [
      ...before,
      ...names!
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    ],
  }),
  flag({
    long: 'filter',
    kind: 'list',
    valueName: 'expression',
    description: 'Keep only the items that match, e.g. size>100',
    yields: true,
  }),
  flag({
    long: 'limit',
    kind: 'value',
    valueName: 'integer',
    description: 'Print at most so many items',
    yields: true,
    read: readPositiveInteger,
  }),
  flag({
    long: 'cursor',
    kind: 'value',
    valueName: 'text',
    description: 'Go on where an earlier page ended',
    yields: true,
  }),
  flag({
    long: 'max-tokens',
    kind: 'value',
    valueName: 'integer',
    description: 'Cut the result to about so many tokens',
    yields: true,
    read: readPositiveInteger,
  }),
  flag({
    long: 'dry-run',
    kind: 'boolean',
    description: 'Say what would be done, and do nothing',
    isCommon: true,
    feeds: ['dry_run', 'dryRun'],
    toCallOptions: () => ({ dryRun: true }),
  }),
  flag({
    long: 'yes',
    short: 'y',
    kind: 'boolean',
    description: 'Confirm a destructive call beforehand',
    isCommon: true,
    toCallOptions: () => ({ confirm: true }),
  }),
  // Not among its call options: the environment, settings and a runner limit the time too.
  flag({
    long: 'timeout',
    kind: 'value',
    valueName: 'duration',
    description: 'Give up after so long: seconds, or 500ms',
    isCommon: true,
    feeds: ['timeout'],
    // The field is a number of seconds in most tools; `500ms` stays text for those that take it.
    toField: (duration) => (/^\d+(\.\d+)?$/.test(duration) ? Number(duration) : duration),
  }),
  flag({
    long: 'idempotency-key',
    kind: 'value',
    valueName: 'text',
    description: 'Do the work at most once for this key',
    toCallOptions: (idempotencyKey) => ({ idempotencyKey }),
  }),
  flag({
    long: 'secret-file',
    kind: 'list',
    valueName: 'name=path',
    description: 'Read a secret from a file; the path - is stdin',
  }),
  flag({
    long: 'stream',
    kind: 'boolean',
    description: 'Print events as JSON lines while the tool works',
  }),
  flag({
    long: 'session',
    kind: 'boolean',
    description: 'Answer the questions of the tool by JSON lines on stdin',
    isForSessions: true,
  }),
  flag({
    long: 'sample-via',
    kind: 'value',
    valueName: 'stdin|url',
    description: 'Who completes prompts for the tool',
  }),
  flag({
    long: 'dialect',
    kind: 'value',
    valueName: 'name',
    choices: DIALECT_NAMES,
    description: 'Form of the answer and of events',
  }),
  flag({
    long: 'quiet',
    short: 'q',
    kind: 'boolean',
    description: 'No progress and no notes',
    isCommon: true,
  }),
  flag({
    long: 'verbose',
    short: 'v',
    kind: 'count',
    description: 'Say more; -vv says still more',
    isCommon: true,
    feeds: ['verbose'],
    toField: (count, kind) => (kind === 'boolean' ? true : count),
    toCallOptions: (verbose) => ({ verbose }),
  }),
  flag({ long: 'no-color', kind: 'boolean', description: 'No colours', isCommon: true }),
  HELP_FLAG,
] as const

/** Flags that every tool has, after the tool name. */
export const GLOBAL_FLAGS: readonly GlobalFlag[] = TABLE

/** The value of each global flag on one command line, named in camel case: `dryRun`. */
export type GlobalFlags = {
  [Row in (typeof TABLE)[number] as ToCamelCase<Row['long']>]?: FlagValue<Row>
} & {
  /** A flag that asks for a document instead of a call: `discover`, `manifest`, `validate` … */
  asked?: { readonly what: string; readonly values: readonly string[] }
}

type FlagValue<Row> = Row extends GlobalFlag<infer Value> ? Value : never
type ToCamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<ToCamelCase<Rest>>}`
  : Name

// A flag that asks for a document instead of a call.
function ask(long: string, description: string, rest: Partial<GlobalFlag> = {}): GlobalFlag {
  return { long, kind: rest.valueName === undefined ? 'boolean' : 'value', description, ...rest }
}

const MANIFEST_FLAGS = [
  ask('manifest', 'Print the manifest'),
  ask('describe', 'Print the manifest in the form of an orchestrator'),
]

/** Flags after the tool name that ask about the tool instead of running it. */
export const CONTROL_FLAGS: readonly GlobalFlag[] = [
  ask('schema', 'Print the JSON Schema of input and output'),
  ...MANIFEST_FLAGS,
  ask('validate', 'Check an input without running the tool', { valueName: 'json' }),
]

/** Flags that act only before the tool name. */
export const PROGRAM_FLAGS: readonly GlobalFlag[] = [
  ask('discover', 'Print all tools, resources and prompts as JSON'),
  ask('tools', 'Print the tools as JSON'),
  ask('resources', 'Print the resources as JSON'),
  ask('prompts', 'Print the prompts as JSON'),
  ask('resource', 'Read a resource', { valueName: 'uri' }),
  ask('prompt', 'Render a prompt', { valueName: 'name json' }),
  ask('schema', 'Print the JSON Schemas of all tools'),
  ...MANIFEST_FLAGS,
  ask('serve-mcp', 'Serve the tools over MCP; see mcp serve --help', {
    valueName: 'transport',
    choices: ['stdio', 'http'],
  }),
  ask('serve', 'Answer calls by JSON lines on stdin and stdout', { hidden: true }),
  ask('selftest', 'Check that the program works'),
  ask('fractalic-dump-schema', 'Print the schema for Fractalic', { hidden: true }),
  ask('fractalic-dump-multi-schema', 'Print the schemas for Fractalic', { hidden: true }),
  ask('version', 'Print the version', { short: 'V' }),
  HELP_FLAG,
]

/**
 * Flags of `mcp serve` that are allowed before `--serve-mcp` too; everything after it is passed on
 * unchanged.
 */
export const SERVING_FLAGS: readonly GlobalFlag[] = [
  ...['host', 'port', 'token-file', 'confirm'].map((long) =>
    ask(long, '', { valueName: 'value', hidden: true }),
  ),
  ask('progressive', '', { hidden: true }),
]

/** The global flag that feeds each reserved input field. */
export const FLAG_BY_RESERVED_FIELD: ReadonlyMap<string, string> = new Map(
  GLOBAL_FLAGS.flatMap(({ long, feeds = [] }) => feeds.map((field) => [field, long] as const)),
)

/**
 * How one input field is written on the command line. Parser, help, completion and repaired
 * examples all read this.
 */
export type FlagSpec = {
  /** Name of the field in the input object. */
  readonly field: string
  /** Without dashes: `max-depth`. */
  readonly long: string
  /** One letter, without dash. */
  readonly short?: string | undefined
  /**
   * boolean: `--x/--no-x`. value: `--x v`. list: repeatable. object: JSON, or dotted `--x.key v`.
   */
  readonly kind: 'boolean' | 'value' | 'list' | 'object'
  /** Without `$ref`, so that it can be read on its own. */
  readonly schema: JsonSchema
  readonly required: boolean
  /** May also be given by position; only the last positional may be a list. */
  readonly positional: boolean
  readonly env?: string | undefined
  readonly description?: string | undefined
  /** All allowed values, where the schema names them. */
  readonly choices?: readonly string[] | undefined
  readonly default?: unknown
  /** The placeholder for the value in help: `text`, `integer`, `path`, `a|b`. */
  readonly valueName: string
  readonly hidden: boolean
  /**
   * The injected flag that gives a reserved field its value: `timeout`, `dry-run` or `verbose`. It
   * is parsed as that flag is.
   */
  readonly fedBy?: string | undefined
}

/**
 * Reads one flag of the command line into `flags`; a flag that is no global one asks for a document.
 * Throws USAGE.
 */
export function readGlobalFlag(
  flags: GlobalFlags,
  row: GlobalFlag,
  words: readonly string[],
  written: string,
): void {
  const { long, choices } = row
  const [word] = words
  if (choices && word !== undefined && !choices.includes(word))
    throw new ToolError('USAGE', `${written} must be one of ${choices.join(', ')}; got '${word}'`, {
      field: long,
    })
  if (isSwitch(row) && word !== undefined) {
    if (word === 'false') return
    if (word !== 'true') throw new ToolError('USAGE', `${written} takes no value`, { field: long })
  }
  const values = flags as { [name: string]: unknown }
  if (!GLOBAL_FLAGS.includes(row)) flags.asked ??= { what: long, values: words }
  else if (row.shortFor) values[toFieldName(row.shortFor[0])] = row.shortFor[1]
  else {
    const read = row.read ?? READ_BY_KIND[row.kind]
    values[toFieldName(long)] = read(words, written, values[toFieldName(long)])
  }
}

const READ_BY_KIND: { readonly [kind in GlobalFlag['kind']]: NonNullable<GlobalFlag['read']> } = {
  boolean: () => true,
  count: (_words, _written, before = 0) => (before as number) + 1,
  value: ([word]) => word,
  list: ([word], _written, before = []) => [...(before as readonly string[]), word],
}

/** What the flags of a command line set in the options of a call. */
export function toCallOptions(flags: GlobalFlags): CallOptions {
  const options = {}
  for (const row of GLOBAL_FLAGS) {
    const value = getValue(flags, row)
    if (value !== undefined) Object.assign(options, row.toCallOptions?.(value))
  }
  return options
}

/** Gives reserved fields of an input the value of the global flag that feeds them. */
export function applyReservedFlags(
  specs: readonly FlagSpec[],
  input: unknown,
  flags: GlobalFlags,
): unknown {
  const fed = Object.create(null) as Record<string, unknown>
  for (const { field, fedBy, kind } of specs) {
    const row = fedBy === undefined ? undefined : GLOBAL_FLAGS.find(({ long }) => long === fedBy)
    const value = row && getValue(flags, row)
    if (value !== undefined) fed[field] = row?.toField ? row.toField(value, kind) : value
  }
  return Object.keys(fed).length > 0 && (isObject(input) || input === undefined)
    ? Object.assign(Object.create(null) as object, input, fed)
    : input
}

/** True for a flag that takes no value. */
export function isSwitch({ kind }: GlobalFlag): boolean {
  return kind === 'boolean' || kind === 'count'
}

function getValue(flags: GlobalFlags, { long }: GlobalFlag): unknown {
  return (flags as { readonly [name: string]: unknown })[toFieldName(long)]
}

// `dry-run` is the field `dryRun`.
function toFieldName(long: string): string {
  return long.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase())
}

function readPositiveInteger([text = '']: readonly string[], written: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= 1) return number
  throw new ToolError('USAGE', `${written} needs a whole number above 0; got '${text}'`, {
    field: written.replace(/^-+/, ''),
  })
}
