import type { JsonSchema } from '../../contract/json.ts'

/** How one input field is written on the command line. Parser, help, completion and repaired examples all read this. */
export type FlagSpec = {
  /** Name of the field in the input object. */
  readonly field: string
  /** Without dashes: `max-depth`. */
  readonly long: string
  /** One letter, without dash. */
  readonly short?: string
  /** boolean: `--x/--no-x`. value: `--x v`. list: repeatable. object: JSON, or dotted `--x.key v`. */
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
  /** The injected flag that gives a reserved field its value: `timeout`, `dry-run` or `verbose`. It is parsed as that flag is. */
  readonly fedBy?: string
}

/** A flag that every tool has without declaring it. */
export type InjectedFlag = {
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
