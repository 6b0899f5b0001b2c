/**
 * The types of a tool definition, and the type inference from schemas and handlers to inputs and
 * results.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CallRules, Context } from '../protocol/context.ts'
import type { DeclaredError } from '../protocol/errors.ts'
import type { Duration } from '../protocol/limits.ts'
import type {
  Annotations,
  Example,
  FlagOptions,
  McpOptions,
  Permissions,
  ToolManifest,
  ToolMetadata,
} from '../protocol/manifest.ts'
import type { JsonSchema, TypedJsonSchema } from '../util/values.ts'
import type { Reply, ResultYield } from './results.ts'
import type { CompiledSchema, LazySchema, SchemaCheckResult } from './schema/source.ts'

/**
 * Everything an author may say about a tool. Only `name` and `summary` are required; a tool without
 * `run` is advertised, and calling it fails.
 */
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
  /**
   * A Standard Schema with JSON Schema output (zod), plain JSON Schema, or a thunk that gives one.
   */
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
  /**
   * `false`: fields called `timeout`, `dry_run`, `working_dir` or `verbose` are the tool's own and
   * mean nothing to the call; default true.
   */
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
  readonly input: CompiledSchema
  readonly output: CompiledSchema | undefined
  readonly manifest: ToolManifest
}

/** A checked definition: what the pipeline and the surfaces work with. */
export type ToolDefinition = {
  readonly name: string
  readonly metadata: ToolMetadata
  readonly run: ((input: never, ctx: Context) => unknown) | undefined
  readonly hooks: Pick<ToolOptions<undefined>, 'preValidate' | 'context' | 'redact'>
  readonly errors: { readonly [code: string]: DeclaredError }
  readonly annotations: Annotations
  /** Milliseconds. */
  readonly timeout: number | undefined
  readonly dryRun: boolean
  /** Whether reserved fields of the input steer the call. */
  readonly reserved: boolean
  /**
   * Its handler only passes the call on to another process: there is no code of an author in it
   * that could end this one.
   */
  readonly isRemote: boolean
  /** Of the toolset that it belongs to. */
  readonly rules?: CallRules
  readonly source: { readonly input: LazySchema; readonly output: LazySchema | undefined }
  /**
   * Schemas and manifest, made at first use and kept; a promise only that first time. Throws CONFIG
   * for what could not be checked at once.
   */
  compiled(): CompiledTool | Promise<CompiledTool>
  /** Runs another check of the author's work when the schemas are compiled. */
  onCompiled(check: (compiled: CompiledTool) => Promise<void>): void
  /**
   * The manifest as far as it can be read without compiling; undefined where the input is not a
   * plain object schema.
   */
  previewManifest(): ToolManifest | undefined
  /** The schema of the input: the published one where it is compiled, else that of the preview. */
  inputSchema(): JsonSchema
  /**
   * Checks an input strictly and applies its defaults. Compiles the schema only for an input that
   * does not plainly fit, and returns a promise only then.
   */
  checkInput(input: unknown): SchemaCheckResult | Promise<SchemaCheckResult>
  /** Whether an input plainly fits, so that checking it compiles nothing. */
  fitsPlainly(input: unknown): boolean
  /** The same as `checkInput` for a result and the output schema, which must exist. */
  checkResult(result: unknown): SchemaCheckResult | Promise<SchemaCheckResult>
  /**
   * The flags of the tool's own fields, without dashes, as far as they are known without compiling.
   */
  flagNames(): ReadonlySet<string>
  /** The same tool under another name. */
  withName(name: string): ToolDefinition
}

type ResolvedSchema<S> = S extends () => infer R ? R : S

/**
 * The type that callers give for a schema. Plain JSON Schema without `jsonSchema<T>` is an object
 * of unknown fields.
 */
export type InputOf<S> =
  ResolvedSchema<S> extends StandardSchemaV1<infer Input, unknown>
    ? Input
    : ResolvedSchema<S> extends TypedJsonSchema<infer T>
      ? unknown extends T
        ? Record<string, unknown>
        : T
      : Record<string, unknown>

/** The type that comes out of a schema, defaults and transforms applied. */
export type OutputOf<S> =
  ResolvedSchema<S> extends StandardSchemaV1<unknown, infer Output>
    ? Output
    : ResolvedSchema<S> extends TypedJsonSchema<infer T>
      ? unknown extends T
        ? Record<string, unknown>
        : T
      : Record<string, unknown>

/** What `run` may return when its result is `Result`. */
export type RunReturn<Result> =
  | Result
  | Reply<Result>
  | Promise<Result | Reply<Result>>
  // The third parameter is contravariant: `never` takes sessions and streams alike.
  | Generator<unknown, Result | Reply<Result> | void, never>
  | AsyncGenerator<unknown, Result | Reply<Result> | void, never>

/** The result type behind what `run` returns: promises, generators and replies unwrapped. */
type ResultOf<Returned> = Returned extends
  AsyncGenerator<infer Yields, infer Result, never> | Generator<infer Yields, infer Result, never>
  ? GeneratorResult<Yields, UnwrapReply<Result>>
  : UnwrapReply<Awaited<Returned>>

type UnwrapReply<T> = T extends Reply<infer Result> ? Result : T
type GeneratorResult<Yields, Returned> = [Returned] extends [void]
  ? [Extract<Yields, ResultYield>] extends [never]
    ? null
    : Extract<Yields, ResultYield> extends ResultYield<infer R>
      ? R
      : null
  : Returned

/**
 * The result that `run` must come to, given the declared output. Plain JSON Schema says nothing to
 * the compiler; only an input is an object at least.
 */
export type DeclaredResult<Output> = IsTypedSchema<Output> extends true ? InputOf<Output> : unknown

/** The result that callers get: as declared, else what `run` returns. */
export type ToolResultFor<Output, Returned> =
  IsTypedSchema<Output> extends true
    ? OutputOf<Output>
    : [Returned] extends [never]
      ? unknown
      : Widen<ResultOf<Returned>>

type IsTypedSchema<S> =
  ResolvedSchema<S> extends StandardSchemaV1
    ? true
    : ResolvedSchema<S> extends TypedJsonSchema<infer T>
      ? unknown extends T
        ? false
        : true
      : false

export type Primitive = string | number | bigint | boolean | null | undefined

/**
 * Any result. Inferred through it, the text 'a' in a returned object stays the literal that the
 * output schema may ask for.
 */
export type Literals<Literal extends Primitive> =
  Literal | { readonly [key: string]: Literals<Literal> } | readonly Literals<Literal>[] | {}

// Inferred through `Literals`, the number 0 in a result is the literal 0; callers want a number.
// Unions are left alone: somebody declared them.
type Widen<T> = 0 extends 1 & T
  ? T
  : IsUnion<T> extends true
    ? T
    : [T] extends [string]
      ? string
      : [T] extends [number]
        ? number
        : [T] extends [bigint]
          ? bigint
          : [T] extends [boolean]
            ? boolean
            : T extends readonly (infer Item)[]
              ? number extends T['length']
                ? Widen<Item>[]
                : T
              : T extends Record<string, unknown>
                ? { [Key in keyof T]: Widen<T[Key]> }
                : T
type IsUnion<T, All = T> = [T] extends [never]
  ? true
  : T extends unknown
    ? [All] extends [T]
      ? false
      : true
    : never
