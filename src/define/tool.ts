import { toMilliseconds } from '../contract/duration.ts'
import type { Duration } from '../contract/duration.ts'
import type { DeclaredError, ErrorCategory } from '../contract/errors.ts'
import type { Annotations, ToolFacts, ToolManifest } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { acceptEarly } from './early/accept.ts'
import { checkExamplesEarly } from './early/examples.ts'
import { checkFlagsEarly, earlyFlags } from './early/flags.ts'
import { readEarly } from './early/read-schema.ts'
import { nameProblem } from './name-problem.ts'
import { checkMcpOptions } from './mcp-options.ts'
import { checkName, checkOptions, checkSummary } from './names.ts'
import type { SchemaSource } from './schema/schema.ts'
import { isLate, readSource, resolveSchema } from './schema/source.ts'
import type { CompiledTool, ToolDefinition, ToolOptions } from './tool-type.ts'

const EMPTY_INPUT = {
  type: 'object',
  properties: {},
  additionalProperties: false,
} as const satisfies SchemaSource

const OPTIONS = [
  'name',
  'summary',
  'title',
  'description',
  'input',
  'output',
  'positional',
  'flags',
  'annotations',
  'examples',
  'errors',
  'tags',
  'timeout',
  'dryRun',
  'streaming',
  'session',
  'permissions',
  'mcp',
  'reserved',
  'preValidate',
  'context',
  'redact',
  'run',
] as const satisfies readonly (keyof ToolOptions)[]
const ANNOTATIONS = [
  'readOnly',
  'destructive',
  'idempotent',
  'openWorld',
] as const satisfies readonly (keyof Annotations)[]
const CATEGORIES = [
  'input',
  'auth',
  'state',
  'runtime',
  'internal',
] as const satisfies readonly ErrorCategory[]

/** What is known of a tool besides its definition. */
export type Circumstances = {
  /** Its work is done by another process. */
  readonly isPassedOn?: boolean
  /** A build has checked its schemas. */
  readonly isVerified?: boolean
}

/** Checks what an author wrote; throws CONFIG with what to change. Schemas are looked at only as far as that is quick, and thunks not at all. */
export function defineTool(
  options: ToolOptions,
  { isPassedOn = false, isVerified = false }: Circumstances = {},
): ToolDefinition {
  checkName('tool', options.name)
  checkSummary(`tool '${options.name}'`, options.summary)
  checkOptions(`tool '${options.name}'`, options, OPTIONS)
  if (options.annotations)
    checkOptions(`'annotations' of tool '${options.name}'`, options.annotations, ANNOTATIONS)
  if (options.run !== undefined && typeof options.run !== 'function')
    throw new ToolError('CONFIG', `'run' of tool '${options.name}' must be a function`)
  if (options.mcp !== undefined) checkMcpOptions(options.name, options.mcp)
  const facts = collectFacts(options)
  const source = { input: options.input ?? EMPTY_INPUT, output: options.output }
  const early = once(() =>
    nameProblem(options.name, 'input', () => readEarly(resolveSchema(source.input))),
  )
  if (!isVerified && !isLate(source.input)) {
    const schema = early()
    if (schema) checkFlagsEarly(schema, facts)
    checkExamplesEarly(options.name, facts.examples, source.input, schema)
  }
  if (source.output !== undefined && !isVerified && !isLate(source.output))
    nameProblem(options.name, 'output', () => readSource(source.output))

  const acceptInput = once(() => {
    const schema = early()
    return schema && acceptEarly(resolveSchema(source.input), schema)
  })
  const acceptOutput = once(() =>
    source.output === undefined ? undefined : acceptEarly(resolveSchema(source.output)),
  )
  let sketched: ToolManifest | undefined
  let compiled: CompiledTool | undefined
  let compiling: Promise<CompiledTool> | undefined
  const checks: ((compiled: CompiledTool) => Promise<void>)[] = []
  const compile = async (): Promise<CompiledTool> => {
    const { compileTool } = await import('./compile-tool.ts')
    const made = compileTool(definition)
    for (const check of checks) await check(made)
    return (compiled = made)
  }
  const definition: ToolDefinition = {
    name: options.name,
    facts,
    run: options.run,
    hooks: options,
    errors: facts.errors,
    annotations: facts.annotations,
    timeout: facts.timeout === undefined ? undefined : facts.timeout * 1000,
    dryRun: facts.dryRun,
    reserved: options.reserved ?? true,
    isPassedOn,
    source,
    compiled() {
      return compiled ?? (compiling ??= compile())
    },
    whenCompiled: (check) => void checks.push(check),
    sketch() {
      const schema = early()
      return schema && (sketched ??= { ...facts, inputSchema: schema })
    },
    accept(input) {
      return acceptInput()?.(input)
    },
    acceptResult(result) {
      return acceptOutput()?.(result)
    },
    flagNames() {
      const schema = early()
      return new Set(schema ? earlyFlags(schema, facts).map(({ long }) => long) : [])
    },
    renamed: (name) => defineTool({ ...options, name }, { isPassedOn, isVerified }),
  }
  return definition
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function collectFacts(options: ToolOptions): ToolFacts {
  const session = options.session ?? false
  return {
    name: options.name,
    ...(options.title !== undefined && { title: options.title }),
    summary: options.summary,
    ...(options.description !== undefined && { description: options.description }),
    tags: options.tags ?? [],
    streaming:
      options.streaming ?? (!session && /Generator/.test(options.run?.constructor.name ?? '')),
    session,
    annotations: options.annotations ?? {},
    examples: options.examples ?? [],
    errors: declareErrors(options),
    positional: options.positional ?? [],
    flags: options.flags ?? {},
    ...(options.timeout !== undefined && {
      timeout: readTimeout(options.name, options.timeout) / 1000,
    }),
    dryRun: options.dryRun ?? false,
    ...(options.permissions && { permissions: options.permissions }),
    ...(options.mcp && { mcp: options.mcp }),
  }
}

function readTimeout(name: string, timeout: Duration): number {
  try {
    return toMilliseconds(timeout)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `the timeout of tool '${name}' cannot be used: ${(error as ToolError).message}`,
      { field: 'timeout' },
    )
  }
}

function declareErrors({ name, errors = {} }: ToolOptions): {
  readonly [code: string]: DeclaredError
} {
  const declared: { [code: string]: DeclaredError } = Object.create(null) as {}
  for (const [code, given] of Object.entries(errors)) {
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code))
      throw new ToolError(
        'CONFIG',
        `error code '${code}' of tool '${name}' must be capital letters, digits and '_', like E3101 or E_MY_THING`,
      )
    if (typeof given !== 'string' && typeof given?.message !== 'string')
      throw new ToolError(
        'CONFIG',
        `error '${code}' of tool '${name}' needs a text, or { message, category }`,
      )
    if (
      typeof given !== 'string' &&
      given.category !== undefined &&
      !CATEGORIES.includes(given.category)
    )
      throw new ToolError(
        'CONFIG',
        `error '${code}' of tool '${name}' has the category '${given.category}'; categories are ${CATEGORIES.join(', ')}`,
      )
    declared[code] = typeof given === 'string' ? { message: given } : given
  }
  return declared
}
