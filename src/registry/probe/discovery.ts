/**
 * Reads what programs answer: `--discover`, `--manifest` and schema dumps.
 */

import type { DeclaredError } from '../../protocol/errors.ts'
import type {
  Annotations,
  Example,
  PromptManifest,
  ResourceManifest,
} from '../../protocol/manifest.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact, isObject, ownFields } from '../../util/values.ts'
import type { CallForm, ChildCall } from '../child/child-call.ts'
import type { ForeignMetadata } from '../source.ts'
import type { ProgramTool } from './ask.ts'

/** What `--discover` or `--manifest` says about a program. */
export type DiscoveredProgram = {
  readonly program?: string
  readonly version?: string
  readonly tools: readonly DiscoveredTool[]
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  readonly abilities: ExecutableAbilities
}

type DiscoveredTool = Omit<ProgramTool, 'call'>

/** It can be kept alive with `--serve`; it also takes its input on stdin, as `<tool> -`. */
type ExecutableAbilities = { readonly serves: boolean; readonly readsStdin: boolean }

/**
 * Reads the answer to `--discover`, or the one to `--manifest` for a whole program. Undefined where
 * it is neither.
 */
export function readDiscovery(document: unknown): DiscoveredProgram | undefined {
  const data = ownFields(document)
  if (!Array.isArray(data['tools'])) return undefined
  const tools = data['tools'].map(readDiscoveredTool)
  if (!tools.every((tool) => tool !== undefined)) return undefined
  const resources = toList(data['resources']).flatMap((item) => readDiscoveredResource(item) ?? [])
  const prompts = toList(data['prompts']).flatMap((item) => readDiscoveredPrompt(item) ?? [])
  if (tools.length + resources.length + prompts.length === 0) return undefined
  return compact({
    program: toText(data['name']),
    version: toText(data['version']),
    tools,
    resources,
    prompts,
    abilities: { serves: typeof data['serve'] === 'number', readsStdin: data['stdin'] === true },
  })
}

/** One tool of `--discover`, of `--manifest`, or the answer to `<tool> --manifest`. */
export function readDiscoveredTool(document: unknown): DiscoveredTool | undefined {
  const data = ownFields(document)
  const name = toText(data['name'])
  if (name === undefined) return undefined
  const { schema, input_schema, inputSchema, parameters, timeout } = data
  const isLimit = typeof timeout === 'number' && timeout > 0 && Number.isFinite(timeout)
  return {
    name,
    facts: compact({
      title: toText(data['title']),
      summary: toText(data['summary']),
      description: toText(data['description']),
      tags: toNonEmpty(toTexts(data['tags'])),
      inputSchema: toSchema(schema ?? input_schema ?? inputSchema ?? parameters),
      outputSchema: toSchema(data['output_schema'] ?? data['outputSchema']),
      annotations: readAnnotations(data['annotations']),
      examples: toNonEmpty(toList(data['examples']).filter(isExample)),
      errors: readErrors(data['errors']),
      timeout: isLimit ? timeout : undefined,
      streaming: data['streaming'] === true || undefined,
      session: data['session_mode'] === true || undefined,
    }),
  }
}

function readDiscoveredResource(document: unknown): ResourceManifest | undefined {
  const data = ownFields(document)
  const uri = toText(data['uri_pattern']) ?? toText(data['uri'])
  if (uri === undefined) return undefined
  return compact({
    name: toText(data['name']),
    title: toText(data['title']),
    uri,
    summary: toText(data['summary']) ?? uri,
    mimeTypes: toTexts(data['mime_types']),
    tags: toTexts(data['tags']),
  })
}

function readDiscoveredPrompt(document: unknown): PromptManifest | undefined {
  const data = ownFields(document)
  const name = toText(data['name'])
  if (name === undefined) return undefined
  const fields = data['arguments']
  return compact({
    title: toText(data['title']),
    name,
    summary: toText(data['summary']) ?? name,
    arguments: isObject(fields)
      ? Object.entries(fields).map(([field, text]) => toPromptArgument(field, text, false))
      : toList(fields).map(ownFields).flatMap(readPromptArgument),
    tags: toTexts(data['tags']),
  })
}

function readPromptArgument(data: JsonObject): PromptManifest['arguments'] {
  const name = toText(data['name'])
  if (name === undefined) return []
  return [toPromptArgument(name, data['description'], data['required'] === true)]
}

function toPromptArgument(
  name: string,
  description: unknown,
  required: boolean,
): PromptManifest['arguments'][number] {
  return compact({ name, description: toText(description), required })
}

function readAnnotations(document: unknown): Annotations | undefined {
  const data = ownFields(document)
  const hint = (name: string): boolean | undefined =>
    [data[name], data[`${name}Hint`]].find((value) => typeof value === 'boolean')
  const annotations = compact({
    readOnly: hint('readOnly'),
    destructive: hint('destructive'),
    idempotent: hint('idempotent'),
    openWorld: hint('openWorld'),
  })
  return Object.keys(annotations).length === 0 ? undefined : annotations
}

function isExample(value: unknown): value is Example {
  if (!isObject(value)) return false
  const { input, args } = value
  return isObject(input) || (Array.isArray(args) && args.every((arg) => typeof arg === 'string'))
}

function readErrors(value: unknown): { readonly [code: string]: DeclaredError } | undefined {
  if (!isObject(value)) return undefined
  const declared = Object.entries(value).filter(
    (entry): entry is [string, DeclaredError] =>
      isObject(entry[1]) && typeof entry[1]['message'] === 'string',
  )
  return declared.length === 0 ? undefined : Object.fromEntries(declared)
}

function toSchema(value: unknown): JsonSchema | undefined {
  return isObject(value) ? value : undefined
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function toNonEmpty<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list
}

/** A tool as a schema dump describes it. */
export type DumpedTool = {
  readonly name?: string
  readonly facts: ForeignMetadata
  /** How the dump says it is called. */
  readonly call?: 'json' | 'flags' | 'stdin' | 'function'
  /** The argument of `--function`, where it differs from the name. */
  readonly function?: string
}

const CALL_WORDS: ReadonlyMap<unknown, NonNullable<DumpedTool['call']>> = new Map([
  ['json', 'json'],
  ['flags', 'flags'],
  ['stdin', 'stdin'],
  ['function', 'function'],
  ['--function', 'function'],
])

/**
 * The tools of a dump: one description, a list of them, an object with such a list, or an object by
 * name. Undefined where it is no dump.
 */
export function readDump(document: unknown): readonly DumpedTool[] | undefined {
  const single = readDumpEntry(document)
  if (single) return [single]
  const list = findDumpList(document)
  if (list) return readDumpList(list, readDumpCall(ownFields(document)))
  if (!isObject(document)) return undefined
  return readDumpList(
    Object.entries(document).map(([name, value]) => (isObject(value) ? { name, ...value } : value)),
  )
}

/** Whether a dump is a list, so that its tools are called by name even when there is only one. */
export function isDumpList(document: unknown): boolean {
  return findDumpList(document) !== undefined
}

function findDumpList(document: unknown): readonly unknown[] | undefined {
  if (Array.isArray(document)) return document
  const { tools, functions, schemas } = ownFields(document)
  return [tools, functions, schemas].find((value) => Array.isArray(value))
}

/**
 * How a dumped tool of a script with several tools is called: the arguments before the input, and
 * the form of the input.
 */
export function getDumpedCall({ call, function: inner, name = '' }: DumpedTool): {
  readonly args: readonly string[]
  readonly form: CallForm
} {
  if (call === 'function') return { args: ['--function', inner ?? name], form: 'flags' }
  return { args: [name], form: call ?? 'flags' }
}

function readDumpList(
  items: readonly unknown[],
  call?: DumpedTool['call'],
): readonly DumpedTool[] | undefined {
  const entries = items.map((item) => readDumpEntry(item, call))
  return entries.length > 0 && entries.every((entry) => entry !== undefined) ? entries : undefined
}

function readDumpEntry(document: unknown, byDefault?: DumpedTool['call']): DumpedTool | undefined {
  if (!isObject(document)) return undefined
  const outer = ownFields(document)
  // The form of OpenAI wraps the description.
  const data = isObject(outer['function']) ? ownFields(outer['function']) : outer
  const { parameters, input_schema, inputSchema, schema } = data
  const input = [parameters, input_schema, inputSchema, schema].find(isObject)
  const name = toText(data['name'])
  const description = toText(data['description'])
  if (!input && (name === undefined || description === undefined)) return undefined
  const inner = toText(data['function'])
  const call = inner === undefined ? (readDumpCall(data) ?? readDumpCall(outer)) : 'function'
  return compact({
    name,
    facts: compact({ description, inputSchema: toObjectSchema(input ?? {}) }),
    call: call ?? byDefault,
    function: inner,
  })
}

const SCHEMA_KEYWORDS = ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf']

// Some dumps leave out `type: object`, and some have only the properties.
function toObjectSchema(schema: JsonSchema): JsonSchema {
  const has = (keyword: string): boolean => Object.hasOwn(schema, keyword)
  if (!SCHEMA_KEYWORDS.some(has) && Object.values(schema).every(isObject))
    return { type: 'object', properties: schema }
  const isTyped = SCHEMA_KEYWORDS.some(has) && (has('type') || !has('properties'))
  return isTyped ? schema : { type: 'object', ...schema }
}

function readDumpCall(data: JsonObject): DumpedTool['call'] {
  return CALL_WORDS.get(toText(data['call']) ?? toText(data['style']))
}

const MAX_TEXT_LENGTH = 20_000

// A text from outside, trimmed and limited; undefined for anything else.
function toText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim().slice(0, MAX_TEXT_LENGTH) : ''
  return text === '' ? undefined : text
}

function toTexts(value: unknown): string[] {
  return toList(value).flatMap((item) => toText(item) ?? [])
}

/**
 * How a tool of a toolable executable is called. One that can serve is built by this package;
 * others follow the specification only.
 */
export function toToolableCall(
  command: ChildCall['command'],
  { name, facts }: DiscoveredTool,
  { serves, readsStdin }: ExecutableAbilities,
): ChildCall {
  const call = { form: 'toolable', command, tool: name } as const
  if (serves) {
    const destructive = facts.annotations?.destructive || undefined
    return { ...call, warm: true, stdin: true, ...compact({ destructive }) }
  }
  if (readsStdin) return { ...call, stdin: true }
  return facts.streaming ? { ...call, streaming: true } : call
}
