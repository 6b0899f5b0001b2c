/**
 * Definition of a tool: checks what an author wrote, and gives the pipeline a `ToolDefinition`.
 *
 * This folder turns what authors write (tools, resources, prompts, schemas) into checked definitions. `tool.ts`, `resource.ts` and `prompt.ts` are the definitions; `checks.ts` and `early-checks.ts` refuse mistakes as soon as a module loads; `schema/` compiles schemas; `flag-specs.ts`, `argv.ts` and `flag-input.ts` make a command line of an input schema and read it back.
 *
 * Schemas are compiled late, because a validator costs more than most programs: `createAcceptor` accepts values that plainly fit without one.
 */

import { isPreparedSchema, readPreparedSchema } from '../protocol/built-program.ts'
import type { DeclaredError, ErrorCategory } from '../protocol/errors.ts'
import type { Duration } from '../protocol/limits.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { Annotations, ToolManifest, ToolMetadata } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject, setOwnField } from '../util/values.ts'
import { checkMcpOptions, checkName, checkOptions, checkSummary } from './checks.ts'
import {
  checkExamplesEarly,
  checkFlagsEarly,
  listEarlyFlags,
  readInputSchemaEarly,
} from './early-checks.ts'
import type { SchemaCheckResult, SchemaSource } from './schema/source.ts'
import {
  attributeSchemaError,
  classifySchema,
  isDeferredSchema,
  resolveSchema,
} from './schema/source.ts'
import type { CompiledTool, ToolDefinition, ToolOptions } from './tool-types.ts'

const EMPTY_INPUT = {
  type: 'object',
  properties: {},
  additionalProperties: false,
} as const satisfies SchemaSource

const TOOL_OPTION_NAMES = [
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
const ANNOTATION_NAMES = [
  'readOnly',
  'destructive',
  'idempotent',
  'openWorld',
] as const satisfies readonly (keyof Annotations)[]
const ERROR_CATEGORIES = [
  'input',
  'auth',
  'state',
  'runtime',
  'internal',
] as const satisfies readonly ErrorCategory[]

/** What is known of a tool besides its definition. */
type ToolOrigin = {
  /** Its work is done by another process. */
  readonly isRemote?: boolean
  /** A build has checked its schemas. */
  readonly isVerified?: boolean
}

/**
 * Checks what an author wrote; throws CONFIG with what to change. Schemas are looked at only as far
 * as that is quick, and thunks not at all.
 */
export function defineTool(
  options: ToolOptions,
  { isRemote: isPassedOn = false, isVerified = false }: ToolOrigin = {},
): ToolDefinition {
  checkName('tool', options.name)
  checkSummary(`tool '${options.name}'`, options.summary)
  checkOptions(`tool '${options.name}'`, options, TOOL_OPTION_NAMES)
  if (options.annotations)
    checkOptions(`'annotations' of tool '${options.name}'`, options.annotations, ANNOTATION_NAMES)
  if (options.run !== undefined && typeof options.run !== 'function')
    throw new ToolError('CONFIG', `'run' of tool '${options.name}' must be a function`)
  if (options.mcp !== undefined) checkMcpOptions(options.name, options.mcp)
  const facts = collectMetadata(options)
  const source = { input: options.input ?? EMPTY_INPUT, output: options.output }
  let earlyInput: EarlyInput | undefined
  const readEarly = (): EarlyInput =>
    (earlyInput ??= attributeSchemaError(options.name, 'input', () => {
      const given = resolveSchema(source.input)
      const schema = readInputSchemaEarly(given)
      return { schema, accept: schema && createAcceptor(given, schema) }
    }))
  if (!isVerified && !isDeferredSchema(source.input)) {
    const { schema } = readEarly()
    if (schema) checkFlagsEarly(schema, facts)
    checkExamplesEarly(options.name, facts.examples, source.input, schema)
  }
  if (source.output !== undefined && !isVerified && !isDeferredSchema(source.output))
    attributeSchemaError(options.name, 'output', () => classifySchema(source.output))

  // Null where only the compiled schema can tell.
  let acceptOutput: ValueAcceptor | null | undefined
  let preview: ToolManifest | undefined
  let compiled: CompiledTool | undefined
  let compiling: Promise<CompiledTool> | undefined
  const checks: ((compiled: CompiledTool) => Promise<void>)[] = []
  const compile = async (): Promise<CompiledTool> => {
    const { compileTool } = await import('./schema/compile.ts')
    const made = compileTool(definition)
    for (const check of checks) await check(made)
    return (compiled = made)
  }
  const checkCompiledResult = async (result: unknown): Promise<SchemaCheckResult> =>
    (await definition.compiled()).output!.check(result === undefined ? null : result)
  const definition: ToolDefinition = {
    name: options.name,
    metadata: facts,
    run: options.run,
    hooks: options,
    errors: facts.errors,
    annotations: facts.annotations,
    timeout: facts.timeout === undefined ? undefined : facts.timeout * 1000,
    dryRun: facts.dryRun,
    reserved: options.reserved ?? true,
    isRemote: isPassedOn,
    source,
    compiled() {
      return compiled ?? (compiling ??= compile())
    },
    onCompiled: (check) => void checks.push(check),
    previewManifest() {
      const { schema } = readEarly()
      return schema && (preview ??= { ...facts, inputSchema: schema })
    },
    inputSchema: () => compiled?.manifest.inputSchema ?? readEarly().schema!,
    checkInput(input) {
      const accepted = readEarly().accept?.(input)
      if (accepted) return accepted
      if (compiled) return compiled.input.check(input)
      return (compiling ??= compile()).then((made) => made.input.check(input))
    },
    fitsPlainly: (input) => readEarly().accept?.(input) !== undefined,
    checkResult(result) {
      if (acceptOutput === undefined)
        acceptOutput = createAcceptor(resolveSchema(source.output!)) ?? null
      return acceptOutput?.(result) ?? checkCompiledResult(result)
    },
    flagNames() {
      const { schema } = readEarly()
      return new Set(schema ? listEarlyFlags(schema, facts).map(({ long }) => long) : [])
    },
    withName: (name) => defineTool({ ...options, name }, { isRemote: isPassedOn, isVerified }),
  }
  return definition
}

function collectMetadata(options: ToolOptions): ToolMetadata {
  const session = options.session ?? false
  return compact({
    name: options.name,
    title: options.title,
    summary: options.summary,
    description: options.description,
    tags: options.tags ?? [],
    streaming:
      options.streaming ?? (!session && /Generator/.test(options.run?.constructor.name ?? '')),
    session,
    annotations: options.annotations ?? {},
    examples: options.examples ?? [],
    errors: readDeclaredErrors(options),
    positional: options.positional ?? [],
    flags: options.flags ?? {},
    timeout:
      options.timeout !== undefined ? readTimeout(options.name, options.timeout) / 1000 : undefined,
    dryRun: options.dryRun ?? false,
    permissions: options.permissions,
    mcp: options.mcp,
  })
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

function readDeclaredErrors({ name, errors = {} }: ToolOptions): {
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
      !ERROR_CATEGORIES.includes(given.category)
    )
      throw new ToolError(
        'CONFIG',
        `error '${code}' of tool '${name}' has the category '${given.category}'; categories are ${ERROR_CATEGORIES.join(', ')}`,
      )
    declared[code] = typeof given === 'string' ? { message: given } : given
  }
  return declared
}

type SchemaFields = Record<string, unknown>

/** What can be said about an input before its schema is compiled. */
type EarlyInput = {
  /** Undefined where it is not a plain object schema. */
  readonly schema: JsonSchema | undefined
  readonly accept: ValueAcceptor | undefined
}

type AcceptedValue = { readonly ok: true; readonly value: unknown }
type ValueAcceptor = (value: unknown) => AcceptedValue | undefined

/**
 * What accepts values that plainly fit a schema, without its library and without a validator;
 * undefined where only those can tell. `early` is its JSON Schema where it has been read.
 */
function createAcceptor(source: unknown, early?: JsonSchema): ValueAcceptor | undefined {
  if (isPreparedSchema(source)) {
    const prepared = readPreparedSchema(source)
    return prepared?.exact
      ? (value) => {
          const accepted = acceptPlainValue(prepared.json, value)
          // A library gives a new value, whose fields stand in the order of the schema.
          return accepted && { ok: true, value: orderFields(prepared.json, accepted.value) }
        }
      : undefined
  }
  const read = classifySchema(source)
  if (!('plain' in read)) return undefined
  const schema = early ?? read.plain
  return (value) => acceptPlainValue(schema, value)
}

/**
 * The value with defaults filled in, when it plainly fits a simple schema; undefined means that
 * only the full check can tell. Saves most calls from loading a validator.
 */
export function acceptPlainValue(schema: JsonSchema, value: unknown): AcceptedValue | undefined {
  const filled = fillDefaults(schema, value)
  return fitsSchema(schema, filled) ? { ok: true, value: filled } : undefined
}

function fitsSchema(schema: unknown, value: unknown): boolean {
  if (!isObject(schema)) return false
  for (const keyword in schema) {
    if (IGNORED_KEYWORDS.has(keyword)) continue
    const test = Object.hasOwn(KEYWORD_TESTS, keyword) ? KEYWORD_TESTS[keyword] : undefined
    if (!test || !test(schema[keyword], value, schema)) return false
  }
  // One of some plain values is all there is to know.
  if (schema['type'] === undefined)
    return Object.hasOwn(schema, 'enum') || Object.hasOwn(schema, 'const')
  // Without a type, or with fields nobody described, there is more to know than stands here.
  return (
    typeof schema['type'] === 'string' &&
    (schema['type'] !== 'object' || isObject(schema['properties'])) &&
    (schema['type'] !== 'array' || isObject(schema['items']))
  )
}

const IGNORED_KEYWORDS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$comment',
  '$schema',
  'x-toolable-path',
])

const TYPE_TESTS: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) =>
    isObject(value) &&
    (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null),
}

const KEYWORD_TESTS: {
  readonly [keyword: string]: (wanted: unknown, value: unknown, schema: SchemaFields) => boolean
} = {
  type: (wanted, value) =>
    typeof wanted === 'string' && Object.hasOwn(TYPE_TESTS, wanted) && TYPE_TESTS[wanted]!(value),
  enum: (wanted, value) =>
    Array.isArray(wanted) && typeof value !== 'object' && wanted.includes(value),
  const: (wanted, value) => typeof value !== 'object' && wanted === value,
  required: (wanted, value) =>
    Array.isArray(wanted) &&
    isObject(value) &&
    wanted.every((key) => Object.hasOwn(value, String(key))),
  properties: (wanted, value) =>
    isObject(wanted) &&
    isObject(value) &&
    Object.keys(value).every(
      (key) => Object.hasOwn(wanted, key) && fitsSchema(wanted[key], value[key]),
    ),
  // Where all fields are described, as `properties` wants it here, there are no others.
  additionalProperties: (wanted) => typeof wanted === 'boolean',
  items: (wanted, value) => Array.isArray(value) && value.every((item) => fitsSchema(wanted, item)),
  minimum: (wanted, value) => typeof value === 'number' && value >= Number(wanted),
  maximum: (wanted, value) => typeof value === 'number' && value <= Number(wanted),
  exclusiveMinimum: (wanted, value) =>
    typeof wanted === 'number' && typeof value === 'number' && value > wanted,
  exclusiveMaximum: (wanted, value) =>
    typeof wanted === 'number' && typeof value === 'number' && value < wanted,
  minLength: (wanted, value) => typeof value === 'string' && [...value].length >= Number(wanted),
  maxLength: (wanted, value) => typeof value === 'string' && value.length <= Number(wanted),
  minItems: (wanted, value) => Array.isArray(value) && value.length >= Number(wanted),
  maxItems: (wanted, value) => Array.isArray(value) && value.length <= Number(wanted),
  format: (wanted) => wanted === 'path',
}

function orderFields(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item) => orderFields((schema as SchemaFields)['items'], item))
  if (!isObject(value)) return value
  const properties = (schema as SchemaFields)['properties'] as SchemaFields
  const ordered: SchemaFields = {}
  for (const key of Object.keys(properties)) {
    if (Object.hasOwn(value, key))
      setOwnField(ordered, key, orderFields(properties[key], value[key]))
  }
  return ordered
}

// A new object where something is filled in: the caller's own is never changed.
function fillDefaults(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => fillDefaults(schema['items'], item))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const properties = schema['properties']
  if (!isObject(value) || !isObject(properties)) return value
  let copy: SchemaFields | undefined
  for (const key of Object.keys(properties)) {
    const property = properties[key]
    const given = Object.hasOwn(value, key)
    if (!given && !(isObject(property) && Object.hasOwn(property, 'default'))) continue
    const filled = given
      ? fillDefaults(property, value[key])
      : copyJson((property as SchemaFields)['default'])
    // Defined, not assigned: a field may be called `__proto__`.
    if (!given || filled !== value[key]) setOwnField((copy ??= { ...value }), key, filled)
  }
  return copy ?? value
}

function copyJson(value: unknown): unknown {
  return typeof value === 'object' && value !== null
    ? (JSON.parse(JSON.stringify(value)) as unknown)
    : value
}
