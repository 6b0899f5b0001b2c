import type { Context } from '../contract/context.ts'
import { toMilliseconds } from '../contract/duration.ts'
import type { Duration } from '../contract/duration.ts'
import type { DeclaredError } from '../contract/errors.ts'
import type { Annotations, Example, FlagOptions, Permissions, ToolManifest } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { checkFlags } from './flags/check.ts'
import { checkName, checkSummary } from './names.ts'
import { compileSchema, resolveSchema } from './schema/compile.ts'
import { issuesToError } from './schema/issues.ts'
import type { LazySchema, Schema, SchemaSource } from './schema/schema.ts'
import type { InputOf, OutputOf } from './types.ts'

/** Everything an author may say about a tool. Only `name` and `summary` are required; a tool without `run` is advertised, and calling it fails. */
export type ToolOptions<Input extends LazySchema | undefined = LazySchema | undefined, Output extends LazySchema | undefined = LazySchema | undefined, Returned = unknown> = {
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
  /** Checks that need I/O: after the schema, before the handler. Throw with `fail`. */
  readonly preValidate?: (input: OutputOf<Input>, ctx: Context) => void | Promise<void>
  /** Gives what the handler finds in `ctx.context`. */
  readonly context?: (input: OutputOf<Input>) => { readonly [key: string]: unknown } | Promise<{ readonly [key: string]: unknown }>
  /** The input as logs and dry runs may show it. */
  readonly redact?: (input: OutputOf<Input>) => unknown
  readonly run?: (input: OutputOf<Input>, ctx: Context) => Returned
}

/** A checked definition: what the pipeline and the surfaces work with. */
export type ToolDefinition = {
  readonly name: string
  readonly run: ((input: never, ctx: Context) => unknown) | undefined
  readonly hooks: Pick<ToolOptions<undefined>, 'preValidate' | 'context' | 'redact'>
  readonly errors: { readonly [code: string]: DeclaredError }
  readonly annotations: Annotations
  /** Milliseconds. */
  readonly timeout: number | undefined
  readonly dryRun: boolean
  readonly streaming: boolean
  readonly session: boolean
  /** Compiled at first use and kept. */
  input(): Schema
  output(): Schema | undefined
  manifest(): ToolManifest
  /** The same tool under another name. */
  renamed(name: string): ToolDefinition
}

export type { InputOf, OutputOf }

const EMPTY_INPUT = { type: 'object', properties: {}, additionalProperties: false } as const satisfies SchemaSource

/** Checks what an author wrote; throws CONFIG with what to change. Checks that need the schema wait for it when it is a thunk. */
export function defineTool(options: ToolOptions): ToolDefinition {
  checkName('tool', options.name)
  checkSummary(`tool '${options.name}'`, options.summary)
  if (options.run !== undefined && typeof options.run !== 'function') throw new ToolError('CONFIG', `'run' of tool '${options.name}' must be a function`)
  const errors = declareErrors(options)
  const timeout = options.timeout === undefined ? undefined : toMilliseconds(options.timeout, 'timeout')
  const output = options.output === undefined ? undefined : lazily(() => compileSchema(resolveSchema(options.output!), 'output'))
  const generator = /Generator/.test(options.run?.constructor.name ?? '')
  const session = options.session ?? false
  const streaming = options.streaming ?? (generator && !session)

  const input = lazily(() => {
    const schema = compileSchema(resolveSchema(options.input ?? EMPTY_INPUT), 'input')
    const manifest = describe(schema)
    checkFlags(manifest)
    checkExamples(manifest, schema)
    return schema
  })
  const describe = (schema: Schema): ToolManifest => ({
    name: options.name,
    ...(options.title !== undefined && { title: options.title }),
    summary: options.summary,
    ...(options.description !== undefined && { description: options.description }),
    tags: options.tags ?? [],
    streaming,
    session,
    inputSchema: schema.json,
    ...(output && { outputSchema: output().json }),
    annotations: options.annotations ?? {},
    examples: options.examples ?? [],
    errors,
    positional: options.positional ?? [],
    flags: options.flags ?? {},
    ...(timeout !== undefined && { timeout: timeout / 1000 }),
    dryRun: options.dryRun ?? false,
    ...(options.permissions && { permissions: options.permissions }),
  })

  if (typeof options.input !== 'function') input()
  return {
    name: options.name,
    run: options.run,
    hooks: options,
    errors,
    annotations: options.annotations ?? {},
    timeout,
    dryRun: options.dryRun ?? false,
    streaming,
    session,
    input,
    output: () => output?.(),
    manifest: lazily(() => describe(input())),
    renamed: (name) => (name === options.name ? defineTool(options) : defineTool({ ...options, name })),
  }
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function declareErrors({ name, errors = {} }: ToolOptions): { readonly [code: string]: DeclaredError } {
  const declared: { [code: string]: DeclaredError } = Object.create(null) as {}
  for (const [code, given] of Object.entries(errors)) {
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code)) throw new ToolError('CONFIG', `error code '${code}' of tool '${name}' must be capital letters, digits and '_', like E3101 or E_MY_THING`)
    declared[code] = typeof given === 'string' ? { message: given } : given
  }
  return declared
}

function checkExamples({ name, examples }: ToolManifest, schema: Schema): void {
  examples.forEach((example, index) => {
    if (example.input === undefined && example.args === undefined) throw new ToolError('CONFIG', `example ${index + 1} of tool '${name}' needs 'input' or 'args'`)
    if (example.input === undefined) return
    const checked = schema.check(example.input)
    // Schemas with asynchronous refinements cannot be asked here.
    if (checked instanceof Promise || checked.ok) return
    throw new ToolError('CONFIG', `example ${index + 1} of tool '${name}' does not fit its input: ${issuesToError(checked.issues).message}`)
  })
}
