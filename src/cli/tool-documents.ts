/**
 * The documents that describe tools in full: `--manifest`, `--schema`, `--describe` and
 * `--fractalic-dump-schema`.
 */

import type { DeclaredError, ErrorCodeInfo, ErrorRow } from '../protocol/errors.ts'
import { ERROR_TABLE, findErrorRow, getErrorInfo, toExitCode } from '../protocol/errors.ts'
import { EXIT_STATUSES } from '../protocol/exit-statuses.ts'
import type { ToolManifest, ToolsetManifest } from '../protocol/manifest.ts'
import { toAnnotationHints } from '../protocol/manifest.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import { toPromptEntry, toResourceEntry } from './discovery.ts'

/**
 * What `<tool> --manifest` prints: the specification's fields first, then ours where there is
 * something to say.
 */
export function buildManifestDocument(tool: ToolManifest): object {
  const annotations = toAnnotationHints(tool.annotations)
  return compact({
    name: tool.name,
    summary: tool.summary,
    description: tool.description ?? '',
    streaming: tool.streaming,
    session_mode: tool.session,
    schema: tool.inputSchema,
    examples: tool.examples.length > 0 ? tool.examples : undefined,
    tags: tool.tags.length > 0 ? tool.tags : undefined,
    output_schema: tool.outputSchema,
    annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
    errors: Object.keys(tool.errors).length > 0 ? tool.errors : undefined,
    timeout: tool.timeout,
  })
}

/** What `--manifest` prints for a whole program. */
export function buildToolsetManifestDocument({
  name,
  version,
  description,
  tools,
  resources,
  prompts,
}: ToolsetManifest): object {
  return compact({
    name,
    version,
    description,
    tools: tools.map(buildManifestDocument),
    resources: resources.map(toResourceEntry),
    prompts: prompts.map(toPromptEntry),
  })
}

/**
 * What `<tool> --schema` prints: input and output JSON Schema with all that a model needs to choose
 * the tool.
 */
export function buildSchemaDocument(tool: ToolManifest): object {
  return compact({
    name: tool.name,
    title: tool.title,
    description: tool.description ?? tool.summary,
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema,
    annotations: toAnnotationHints(tool.annotations),
    examples: tool.examples,
  })
}

/** What `--schema` prints for a whole program. */
export function buildToolsetSchemaDocument({ name, version, tools }: ToolsetManifest): object {
  return { name, version, tools: tools.map(buildSchemaDocument) }
}

/** What `--fractalic-dump-schema` prints for one tool. */
export function buildSimpleSchemaDocument({
  name,
  summary,
  description,
  inputSchema,
}: ToolManifest): object {
  return { name, description: description ?? summary, parameters: inputSchema }
}

/** What `--fractalic-dump-multi-schema` prints: a list, one entry per tool. */
export function buildSimpleSchemasDocument({
  tools,
}: Pick<ToolsetManifest, 'tools'>): readonly object[] {
  return tools.map(buildSimpleSchemaDocument)
}

/** The program around the tools. */
type DescribedProgram = Pick<ToolsetManifest, 'version' | 'permissions'>

/**
 * What `<tool> --describe` prints: the form of the orchestration manifest, then what an agent
 * should do about each error.
 */
export function buildDescribeDocument(tool: ToolManifest, program: DescribedProgram): object {
  return {
    ...describeTool(tool, program),
    ...describeExitAndHealth(),
    ...describeExtras(tool),
    errors: describeErrors(tool.errors),
  }
}

/**
 * What `--describe` prints for a whole program: what is true of every tool once, then the tools.
 */
export function buildToolsetDescribeDocument(toolset: ToolsetManifest): object {
  return {
    ...describeIdentity(toolset.name, toolset),
    ...compact({ description: toolset.description }),
    permissions: toolset.permissions ?? {},
    ...describeExitAndHealth(),
    tools: toolset.tools.map((tool) => ({
      ...describeTool(tool, toolset),
      ...describeExtras(tool),
      ...compact({
        errors:
          Object.keys(tool.errors).length > 0 ? describeDeclaredErrors(tool.errors) : undefined,
      }),
    })),
    errors: describeErrors({}),
  }
}

function describeTool(tool: ToolManifest, program: DescribedProgram) {
  const { resources, ...permissions } = tool.permissions ?? program.permissions ?? {}
  return {
    ...describeIdentity(tool.name, program),
    inputs: describeInputs(tool.inputSchema),
    permissions,
    resources: isObject(resources) ? resources : {},
    env: { require: [] },
  }
}

function describeIdentity(name: string, { version }: DescribedProgram) {
  return { name, version, protocol_version: 1 }
}

function describeExitAndHealth() {
  return {
    exit_codes: Object.fromEntries(EXIT_STATUSES.map(({ name, status }) => [name, status])),
    health: { selftest: ['--selftest'], describe: ['--describe'] },
  }
}

function describeExtras({ summary, timeout }: ToolManifest) {
  return compact({ summary, timeout })
}

/** One input of the orchestration manifest. */
type DescribedInput = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description?: string
}

/** The fields of an input schema as a flat list; what is inside a field stays with the schema. */
export function describeInputs(schema: JsonSchema): readonly DescribedInput[] {
  if (!isObject(schema.properties)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, field]) =>
    compact({
      name,
      type: getTypeName(field),
      required: required.includes(name),
      description:
        isObject(field) && typeof field.description === 'string' ? field.description : undefined,
    }),
  )
}

function getTypeName(schema: unknown): string {
  if (!isObject(schema)) return 'any'
  const types = [schema.type]
    .flat()
    .filter((type): type is string => typeof type === 'string' && type !== 'null')
  if (types.length === 1)
    return types[0] === 'string' && schema.format === 'path' ? 'path' : types[0]!
  if (types.length > 1) return 'any'
  const constants = Object.hasOwn(schema, 'const') ? [schema.const] : []
  const values = Array.isArray(schema.enum) ? schema.enum : constants
  const branches = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat()
  return pickSingleType([
    ...values.filter((value) => value !== null).map(getValueType),
    ...branches.filter((branch) => !isNullSchema(branch)).map(getTypeName),
  ])
}

function pickSingleType(types: readonly string[]): string {
  const [first = 'any', ...others] = new Set(types)
  return others.length === 0 ? first : 'any'
}

function isNullSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === 'null'
}

function getValueType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/** What is documented about one error code. */
type DescribedError = {
  readonly category: string
  readonly exit: number
  readonly recoverable: boolean
  readonly retryable: boolean
  readonly message: string
  /** What an agent should do by default. */
  readonly advice: string
}

type DeclaredErrors = { readonly [code: string]: DeclaredError }
type DescribedErrors = { readonly [code: string]: DescribedError }

/** Every code that a tool can fail with: the table's, then its own. */
export function describeErrors(declared: DeclaredErrors): DescribedErrors {
  return {
    ...Object.fromEntries(
      Object.entries(ERROR_TABLE).map(([code, row]) => [code, describeTableError(row)]),
    ),
    ...describeDeclaredErrors(declared),
  }
}

/** The codes that a tool itself declares. Of a code of the table it changes the text only. */
export function describeDeclaredErrors(declared: DeclaredErrors): DescribedErrors {
  return Object.fromEntries(
    Object.entries(declared).map(([code, own]) => {
      const known = findErrorRow(code)
      return known
        ? [known.code, { ...describeTableError(known.row), message: own.message }]
        : [code, describeOwnError(code, own)]
    }),
  )
}

function describeTableError({
  category,
  exit,
  recoverable,
  retryable,
  meaning,
  advice,
}: ErrorRow): DescribedError {
  return { category, exit, recoverable, retryable, message: meaning, advice }
}

function describeOwnError(code: string, declared: DeclaredError): DescribedError {
  const { category, recoverable, retryable } = getErrorInfo(code, declared)
  return {
    category,
    exit: toExitCode({ code, category, retryable }),
    recoverable,
    retryable,
    message: declared.message,
    advice: getAdvice({ category, recoverable, retryable }),
  }
}

function getAdvice({ recoverable, retryable }: ErrorCodeInfo): string {
  if (retryable) return ERROR_TABLE.DEPENDENCY.advice
  return recoverable
    ? 'Change the request as the message says and call again'
    : 'Do not retry; tell the user'
}
