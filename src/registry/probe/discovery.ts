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
import { compact, isObject } from '../../util/values.ts'
import type { JsonSchema } from '../../util/values.ts'
import type { CallForm, ChildCall } from '../child/child-call.ts'
import type { ForeignMetadata } from '../source.ts'

/** What `--discover` or `--manifest` says about a program. */
export type DiscoveredProgram = {
  readonly program?: string
  readonly version?: string
  readonly tools: readonly { readonly name: string; readonly facts: ForeignMetadata }[]
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  readonly abilities: ExecutableAbilities
}

/**
 * Reads the answer to `--discover`, or the one to `--manifest` for a whole program. Undefined where
 * it is neither.
 */
export function readDiscovery(document: unknown): DiscoveredProgram | undefined {
  if (!isObject(document)) return undefined
  const own = toOwnProperties(document)
  if (!Array.isArray(own['tools'])) return undefined
  const tools = own['tools'].map((tool) => readDiscoveredTool(tool))
  if (!tools.every((tool) => tool !== undefined)) return undefined
  const resources = toList(own['resources']).flatMap(
    (resource) => readDiscoveredResource(resource) ?? [],
  )
  const prompts = toList(own['prompts']).flatMap((prompt) => readDiscoveredPrompt(prompt) ?? [])
  if (tools.length + resources.length + prompts.length === 0) return undefined
  const program = toText(own['name'])
  const version = toText(own['version'])
  return compact({
    program,
    version,
    tools,
    resources,
    prompts,
    abilities: { serves: typeof own['serve'] === 'number', readsStdin: own['stdin'] === true },
  })
}

/** One tool of `--discover`, of `--manifest`, or the answer to `<tool> --manifest`. */
export function readDiscoveredTool(
  document: unknown,
): { readonly name: string; readonly facts: ForeignMetadata } | undefined {
  if (!isObject(document)) return undefined
  const own = toOwnProperties(document)
  const name = toText(own['name'])
  if (name === undefined) return undefined
  const facts = {
    title: toText(own['title']),
    summary: toText(own['summary']),
    description: toText(own['description']),
    tags: toTexts(own['tags']),
    inputSchema: toSchema(
      own['schema'] ?? own['input_schema'] ?? own['inputSchema'] ?? own['parameters'],
    ),
    outputSchema: toSchema(own['output_schema'] ?? own['outputSchema']),
    annotations: readAnnotations(own['annotations']),
    examples: toList(own['examples']).filter(isExample),
    errors: readErrors(own['errors']),
    timeout:
      typeof own['timeout'] === 'number' && own['timeout'] > 0 && Number.isFinite(own['timeout'])
        ? own['timeout']
        : undefined,
    streaming: own['streaming'] === true || undefined,
    session: own['session_mode'] === true || undefined,
  }
  return { name, facts: dropAbsent(facts) }
}

function readDiscoveredResource(document: unknown): ResourceManifest | undefined {
  if (!isObject(document)) return undefined
  const own = toOwnProperties(document)
  const uri = toText(own['uri_pattern']) ?? toText(own['uri'])
  if (uri === undefined) return undefined
  return {
    ...dropAbsent({ name: toText(own['name']), title: toText(own['title']) }),
    uri,
    summary: toText(own['summary']) ?? uri,
    mimeTypes: toTexts(own['mime_types']),
    tags: toTexts(own['tags']),
  }
}

function readDiscoveredPrompt(document: unknown): PromptManifest | undefined {
  if (!isObject(document)) return undefined
  const own = toOwnProperties(document)
  const name = toText(own['name'])
  if (name === undefined) return undefined
  const given = own['arguments']
  const parameters = isObject(given)
    ? Object.entries(given).map(([key, value]) => ({
        name: key,
        ...dropAbsent({ description: toText(value) }),
        required: false,
      }))
    : toList(given)
        .filter(isObject)
        .map(toOwnProperties)
        .flatMap((one) => {
          const key = toText(one['name'])
          return key === undefined
            ? []
            : [
                {
                  name: key,
                  ...dropAbsent({ description: toText(one['description']) }),
                  required: one['required'] === true,
                },
              ]
        })
  return {
    ...dropAbsent({ title: toText(own['title']) }),
    name,
    summary: toText(own['summary']) ?? name,
    arguments: parameters,
    tags: toTexts(own['tags']),
  }
}

function readAnnotations(document: unknown): Annotations | undefined {
  if (!isObject(document)) return undefined
  const own = toOwnProperties(document)
  const hint = (name: string): boolean | undefined =>
    [own[name], own[`${name}Hint`]].find((value): value is boolean => typeof value === 'boolean')
  const annotations = dropAbsent({
    readOnly: hint('readOnly'),
    destructive: hint('destructive'),
    idempotent: hint('idempotent'),
    openWorld: hint('openWorld'),
  })
  return Object.keys(annotations).length === 0 ? undefined : annotations
}

function isExample(value: unknown): value is Example {
  return (
    isObject(value) &&
    (isObject(value['input']) ||
      (Array.isArray(value['args']) && value['args'].every((arg) => typeof arg === 'string')))
  )
}

function readErrors(value: unknown): { readonly [code: string]: DeclaredError } | undefined {
  if (!isObject(value)) return undefined
  const known = Object.entries(value).filter(
    (entry): entry is [string, DeclaredError] =>
      isObject(entry[1]) && typeof entry[1]['message'] === 'string',
  )
  return known.length === 0 ? undefined : Object.fromEntries(known)
}

function toSchema(value: unknown): JsonSchema | undefined {
  return isObject(value) ? value : undefined
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

// What is inherited was never said.
function toOwnProperties(value: Record<string, unknown>): Record<string, unknown> {
  return Object.assign(Object.create(null) as Record<string, unknown>, value)
}

type PresentFields<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function dropAbsent<T extends object>(record: T): PresentFields<T> {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  ) as PresentFields<T>
}

/** A tool as a schema dump describes it. */
export type DumpedTool = {
  readonly name?: string
  readonly facts: ForeignMetadata
  /** How the dump wants it to be called. */
  readonly call?: 'json' | 'flags' | 'stdin' | 'function'
  /** The name behind `--function`, where it differs. */
  readonly function?: string
}

const SCHEMA_KEYS = ['parameters', 'input_schema', 'inputSchema', 'schema'] as const
const LIST_KEYS = ['tools', 'functions', 'schemas'] as const
const CALL_WORDS: { readonly [word: string]: NonNullable<DumpedTool['call']> } = {
  json: 'json',
  flags: 'flags',
  stdin: 'stdin',
  function: 'function',
  '--function': 'function',
}

/**
 * The tools of a dump: one description, a list of them, an object with such a list, or an object by
 * name. Undefined where it is no dump.
 */
export function readDump(document: unknown): readonly DumpedTool[] | undefined {
  const single = readDumpEntry(document, undefined)
  if (single) return [single]
  if (Array.isArray(document)) return readDumpList(document, undefined)
  if (!isObject(document)) return undefined
  const key = LIST_KEYS.find(
    (name) => Object.hasOwn(document, name) && Array.isArray(document[name]),
  )
  if (key !== undefined) return readDumpList(document[key] as unknown[], readDumpCall(document))
  const named = Object.entries(document).map(([name, value]) =>
    readDumpEntry(isObject(value) ? { name, ...value } : value, undefined),
  )
  return named.length > 0 && named.every((entry) => entry !== undefined) ? named : undefined
}

/** Whether a dump is a list, so that its tools are called by name even when there is only one. */
export function isDumpList(document: unknown): boolean {
  return (
    Array.isArray(document) ||
    (isObject(document) &&
      LIST_KEYS.some((name) => Object.hasOwn(document, name) && Array.isArray(document[name])))
  )
}

/**
 * The way a dumped tool of a script with several tools is called: arguments between the script and
 * the input, and the form of the input.
 */
export function getDumpedCall({ call, function: inner, name = '' }: DumpedTool): {
  readonly args: readonly string[]
  readonly form: CallForm
} {
  const form: CallForm = call === 'json' || call === 'stdin' ? call : 'flags'
  return call === 'function'
    ? { args: ['--function', inner ?? name], form }
    : { args: [name], form }
}

function readDumpList(
  items: readonly unknown[],
  call: DumpedTool['call'],
): readonly DumpedTool[] | undefined {
  const entries = items.map((item) => readDumpEntry(item, call))
  return entries.length > 0 && entries.every((entry) => entry !== undefined) ? entries : undefined
}

function readDumpEntry(value: unknown, inherited: DumpedTool['call']): DumpedTool | undefined {
  if (!isObject(value)) return undefined
  // The form of OpenAI wraps the description.
  const inner =
    Object.hasOwn(value, 'function') && isObject(value['function']) ? value['function'] : value
  const key = SCHEMA_KEYS.find((name) => Object.hasOwn(inner, name) && isObject(inner[name]))
  const name = ownText(inner, 'name')
  const description = ownText(inner, 'description')
  if (key === undefined && (name === undefined || description === undefined)) return undefined
  const call = readDumpCall(inner) ?? readDumpCall(value) ?? inherited
  const hidden = ownText(inner, 'function')
  return {
    ...compact({ name }),
    facts: compact({
      description,
      inputSchema:
        key === undefined
          ? { type: 'object', properties: {} }
          : asObjectSchema(inner[key] as JsonSchema),
    }),
    ...(hidden !== undefined ? { call: 'function' as const, function: hidden } : call && { call }),
  }
}

// Some dumps leave out what is clear anyway, and some give the properties alone.
function asObjectSchema(schema: JsonSchema): JsonSchema {
  const isSchema = ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) =>
    Object.hasOwn(schema, keyword),
  )
  if (isSchema)
    return Object.hasOwn(schema, 'properties') && !Object.hasOwn(schema, 'type')
      ? { type: 'object', ...schema }
      : schema
  return Object.values(schema).every(isObject)
    ? { type: 'object', properties: schema }
    : { type: 'object', ...schema }
}

function readDumpCall(value: Record<string, unknown>): DumpedTool['call'] {
  const word = ownText(value, 'call') ?? ownText(value, 'style')
  return word !== undefined && Object.hasOwn(CALL_WORDS, word) ? CALL_WORDS[word] : undefined
}

function ownText(value: Record<string, unknown>, key: string): string | undefined {
  return Object.hasOwn(value, key) ? toText(value[key]) : undefined
}

const MAX_TEXT_LENGTH = 20_000

/**
 * A text of somebody else, without blanks around it and not endless; undefined for anything that is
 * no text.
 */
function toText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim().slice(0, MAX_TEXT_LENGTH) : ''
  return text === '' ? undefined : text
}

/** The texts in a list of somebody else. */
function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((item) => toText(item) ?? []) : []
}

/**
 * What an executable says about itself: it can be kept alive with `--serve`; it takes its input on
 * stdin too, as `<tool> -`.
 */
type ExecutableAbilities = { readonly serves: boolean; readonly readsStdin: boolean }

/**
 * How a tool of a toolable executable is called. One that can serve is ours; others are of the
 * specification, and take less.
 */
export function toToolableCall(
  command: ChildCall['command'],
  { name, facts }: { readonly name: string; readonly facts: ForeignMetadata },
  { serves, readsStdin }: ExecutableAbilities,
): ChildCall {
  const call = { form: 'toolable', command, tool: name } as const
  if (!serves)
    return { ...call, ...(readsStdin ? { stdin: true } : facts.streaming && { streaming: true }) }
  return {
    ...call,
    warm: true,
    stdin: true,
    ...compact({ destructive: facts.annotations?.destructive ? true : undefined }),
  }
}
