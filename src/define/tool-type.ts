import type { Context } from '../contract/context.ts'
import type { Duration } from '../contract/duration.ts'
import type { DeclaredError } from '../contract/errors.ts'
import type { Rules } from '../contract/guard.ts'
import type {
  Annotations,
  Example,
  FlagOptions,
  McpOptions,
  Permissions,
  ToolFacts,
  ToolManifest,
} from '../contract/manifest.ts'
import type { LazySchema, Schema } from './schema/schema.ts'
import type { OutputOf } from './types.ts'

/** Everything an author may say about a tool. Only `name` and `summary` are required; a tool without `run` is advertised, and calling it fails. */
export type ToolOptions<
  Input extends LazySchema | undefined = LazySchema | undefined,
  Output extends LazySchema | undefined = LazySchema | undefined,
  Returned = unknown,
> = {
  /** 1 to 64 characters of `a-z 0-9 _ -`. */
  readonly name: string
  /** One line of 1 to 200 characters. */
  readonly summary: string
  readonly title?: string
  /** Longer text for people and models. */
  readonly description?: string
  /** A Standard Schema with JSON Schema output (zod), plain JSON Schema, or a thunk that gives one. */
  readonly input?: Input
  readonly output?: Output
  /** Fields that may be given by position, in order. */
  readonly positional?: readonly string[]
  readonly flags?: { readonly [field: string]: FlagOptions }
  readonly annotations?: Annotations
  readonly examples?: readonly Example[]
  /** The tool's own error codes. */
  readonly errors?: { readonly [code: string]: DeclaredError | string }
  readonly tags?: readonly string[]
  /** Longest time a call may take. */
  readonly timeout?: Duration
  /** The handler looks at `ctx.dryRun` and records what it would do with `ctx.plan`. */
  readonly dryRun?: boolean
  /** For discovery; found out by itself when `run` is a generator function. */
  readonly streaming?: boolean
  readonly session?: boolean
  readonly permissions?: Permissions
  /** What an MCP server does with the tool. */
  readonly mcp?: McpOptions
  /** `false`: fields called `timeout`, `dry_run`, `working_dir` or `verbose` are the tool's own and mean nothing to the call; default true. */
  readonly reserved?: boolean
  /** Checks that need I/O: after the schema, before the handler. Throw with `fail`. */
  readonly preValidate?: (input: OutputOf<Input>, ctx: Context) => void | Promise<void>
  /** Gives what the handler finds in `ctx.context`. */
  readonly context?: (
    input: OutputOf<Input>,
  ) => { readonly [key: string]: unknown } | Promise<{ readonly [key: string]: unknown }>
  /** The input as logs and dry runs may show it. */
  readonly redact?: (input: OutputOf<Input>) => unknown
  readonly run?: (input: OutputOf<Input>, ctx: Context) => Returned
}

/** The compiled schemas of a tool, and the manifest that follows from them. */
export type CompiledTool = {
  readonly input: Schema
  readonly output: Schema | undefined
  readonly manifest: ToolManifest
}

/** A checked definition: what the pipeline and the surfaces work with. */
export type ToolDefinition = {
  readonly name: string
  readonly facts: ToolFacts
  readonly run: ((input: never, ctx: Context) => unknown) | undefined
  readonly hooks: Pick<ToolOptions<undefined>, 'preValidate' | 'context' | 'redact'>
  readonly errors: { readonly [code: string]: DeclaredError }
  readonly annotations: Annotations
  /** Milliseconds. */
  readonly timeout: number | undefined
  readonly dryRun: boolean
  /** Whether reserved fields of the input steer the call. */
  readonly reserved: boolean
  /** Its handler only passes the call on to another process: there is no code of an author in it that could end this one. */
  readonly isPassedOn: boolean
  /** Of the toolset that it belongs to. */
  readonly rules?: Rules
  readonly source: { readonly input: LazySchema; readonly output: LazySchema | undefined }
  /** Schemas and manifest, made at first use and kept; a promise only that first time. Throws CONFIG for what could not be checked at once. */
  compiled(): CompiledTool | Promise<CompiledTool>
  /** Runs another check of the author's work when the schemas are compiled. */
  whenCompiled(check: (compiled: CompiledTool) => Promise<void>): void
  /** The manifest as far as it can be read without compiling; undefined where the input is not a plain object schema. */
  sketch(): ToolManifest | undefined
  /** The input with its defaults, when it plainly fits a simple JSON Schema; undefined when only the compiled schema can tell. */
  accept(input: unknown): { readonly value: unknown } | undefined
  /** The same for a result and the output schema. */
  acceptResult(result: unknown): { readonly value: unknown } | undefined
  /** The flags of the tool's own fields, without dashes, as far as they are known without compiling. */
  flagNames(): ReadonlySet<string>
  /** The same tool under another name. */
  renamed(name: string): ToolDefinition
}
