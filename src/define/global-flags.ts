/**
 * The table of flags that every tool and program has without declaring them, and the types of all
 * flags. A new global flag is one line here.
 */

import { OUTPUT_MODES } from '../cli/formats/table.ts'
import { DIALECT_NAMES } from '../protocol/output-protocols.ts'
import type { JsonSchema } from '../util/values.ts'

/** Flags that every tool has, after the tool name. */
export const GLOBAL_FLAGS: readonly GlobalFlag[] = [
  {
    long: 'output',
    short: 'o',
    kind: 'value',
    valueName: 'mode',
    choices: ['auto', ...OUTPUT_MODES],
    description: 'How to print the result',
  },
  { long: 'json', kind: 'boolean', description: 'Same as --output json' },
  { long: 'jsonl', kind: 'boolean', description: 'Same as --output jsonl' },
  {
    long: 'fields',
    kind: 'value',
    valueName: 'names',
    description: 'Keep only these fields of the result, separated by commas',
    yields: true,
  },
  {
    long: 'filter',
    kind: 'list',
    valueName: 'expression',
    description: 'Keep only the items that match, e.g. size>100',
    yields: true,
  },
  {
    long: 'limit',
    kind: 'value',
    valueName: 'integer',
    description: 'Print at most so many items',
    yields: true,
  },
  {
    long: 'cursor',
    kind: 'value',
    valueName: 'text',
    description: 'Go on where an earlier page ended',
    yields: true,
  },
  {
    long: 'max-tokens',
    kind: 'value',
    valueName: 'integer',
    description: 'Cut the result to about so many tokens',
    yields: true,
  },
  { long: 'dry-run', kind: 'boolean', description: 'Say what would be done, and do nothing' },
  {
    long: 'yes',
    short: 'y',
    kind: 'boolean',
    description: 'Confirm a destructive call beforehand',
  },
  {
    long: 'timeout',
    kind: 'value',
    valueName: 'duration',
    description: 'Give up after so long: seconds, or 500ms',
  },
  {
    long: 'idempotency-key',
    kind: 'value',
    valueName: 'text',
    description: 'Do the work at most once for this key',
  },
  {
    long: 'secret-file',
    kind: 'list',
    valueName: 'name=path',
    description: 'Read a secret from a file; the path - is stdin',
  },
  {
    long: 'stream',
    kind: 'boolean',
    description: 'Print events as JSON lines while the tool works',
  },
  {
    long: 'session',
    kind: 'boolean',
    description: 'Answer the questions of the tool by JSON lines on stdin',
  },
  {
    long: 'sample-via',
    kind: 'value',
    valueName: 'stdin|url',
    description: 'Who completes prompts for the tool',
  },
  {
    long: 'dialect',
    kind: 'value',
    valueName: 'name',
    choices: DIALECT_NAMES,
    description: 'Form of the answer and of events',
  },
  { long: 'quiet', short: 'q', kind: 'boolean', description: 'No progress and no notes' },
  { long: 'verbose', short: 'v', kind: 'count', description: 'Say more; -vv says still more' },
  { long: 'no-color', kind: 'boolean', description: 'No colours' },
  { long: 'help', short: 'h', kind: 'boolean', description: 'Show this help' },
]

/** Flags after the tool name that ask about the tool instead of running it. */
export const CONTROL_FLAGS: readonly GlobalFlag[] = [
  { long: 'schema', kind: 'boolean', description: 'Print the JSON Schema of input and output' },
  { long: 'manifest', kind: 'boolean', description: 'Print the manifest' },
  {
    long: 'describe',
    kind: 'boolean',
    description: 'Print the manifest in the form of an orchestrator',
  },
  {
    long: 'validate',
    kind: 'value',
    valueName: 'json',
    description: 'Check an input without running the tool',
  },
]

/** Flags that act only before the tool name. */
export const PROGRAM_FLAGS: readonly GlobalFlag[] = [
  {
    long: 'discover',
    kind: 'boolean',
    description: 'Print all tools, resources and prompts as JSON',
  },
  { long: 'tools', kind: 'boolean', description: 'Print the tools as JSON' },
  { long: 'resources', kind: 'boolean', description: 'Print the resources as JSON' },
  { long: 'prompts', kind: 'boolean', description: 'Print the prompts as JSON' },
  { long: 'resource', kind: 'value', valueName: 'uri', description: 'Read a resource' },
  { long: 'prompt', kind: 'value', valueName: 'name json', description: 'Render a prompt' },
  { long: 'schema', kind: 'boolean', description: 'Print the JSON Schemas of all tools' },
  { long: 'manifest', kind: 'boolean', description: 'Print the manifest' },
  {
    long: 'describe',
    kind: 'boolean',
    description: 'Print the manifest in the form of an orchestrator',
  },
  {
    long: 'serve-mcp',
    kind: 'value',
    valueName: 'transport',
    choices: ['stdio', 'http'],
    description: 'Serve the tools over MCP; see mcp serve --help',
  },
  {
    long: 'serve',
    kind: 'boolean',
    description: 'Answer calls by JSON lines on stdin and stdout',
    hidden: true,
  },
  { long: 'selftest', kind: 'boolean', description: 'Check that the program works' },
  {
    long: 'fractalic-dump-schema',
    kind: 'boolean',
    description: 'Print the schema for Fractalic',
    hidden: true,
  },
  {
    long: 'fractalic-dump-multi-schema',
    kind: 'boolean',
    description: 'Print the schemas for Fractalic',
    hidden: true,
  },
  { long: 'version', short: 'V', kind: 'boolean', description: 'Print the version' },
  { long: 'help', short: 'h', kind: 'boolean', description: 'Show this help' },
]

/**
 * Flags of `mcp serve` that may stand before `--serve-mcp` too; whatever follows it is handed on as
 * it is.
 */
export const SERVING_FLAGS: readonly GlobalFlag[] = [
  ...['host', 'port', 'token-file', 'confirm'].map(
    (long) => ({ long, kind: 'value', valueName: 'value', description: '', hidden: true }) as const,
  ),
  { long: 'progressive', kind: 'boolean', description: '', hidden: true },
]

/** Reserved input fields and the injected flag that feeds each of them. */
export const FLAG_BY_RESERVED_FIELD: ReadonlyMap<string, string> = new Map([
  ['timeout', 'timeout'],
  ['dry_run', 'dry-run'],
  ['dryRun', 'dry-run'],
  ['verbose', 'verbose'],
])

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
  readonly short?: string
  /**
   * boolean: `--x/--no-x`. value: `--x v`. list: repeatable. object: JSON, or dotted `--x.key v`.
   */
  readonly kind: 'boolean' | 'value' | 'list' | 'object'
  /** Without `$ref`, so that it can be read on its own. */
  readonly schema: JsonSchema
  readonly required: boolean
  /** May also be given by position; only the last positional may be a list. */
  readonly positional: boolean
  readonly env?: string
  readonly description?: string
  /** All allowed values, where the schema names them. */
  readonly choices?: readonly string[]
  readonly default?: unknown
  /** What stands for the value in help: `text`, `integer`, `path`, `a|b`. */
  readonly valueName: string
  readonly hidden: boolean
  /**
   * The injected flag that gives a reserved field its value: `timeout`, `dry-run` or `verbose`. It
   * is parsed as that flag is.
   */
  readonly fedBy?: string
}

/** A flag that every tool has without declaring it. */
export type GlobalFlag = {
  readonly long: string
  readonly short?: string
  readonly kind: 'boolean' | 'count' | 'value' | 'list'
  /** One name for each word that follows the flag: `uri`, or `name json` for two. */
  readonly valueName?: string
  readonly choices?: readonly string[]
  readonly description: string
  /** The tool's own field of that name wins (limit, cursor, fields, filter, max-tokens). */
  readonly yields?: boolean
  /** Works, but is not shown in help and completion. */
  readonly hidden?: boolean
}
