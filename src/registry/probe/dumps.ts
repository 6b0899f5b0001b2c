import type { JsonSchema } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import type { CallForm } from '../child/child-call.ts'
import type { ForeignFacts } from '../found.ts'
import { textOf } from './text.ts'

/** A tool as a schema dump describes it. */
export type DumpedTool = {
  readonly name?: string
  readonly facts: ForeignFacts
  /** How the dump wants it to be called. */
  readonly call?: 'json' | 'flags' | 'stdin' | 'function'
  /** The name behind `--function`, where it differs. */
  readonly function?: string
}

const SCHEMA_KEYS = ['parameters', 'input_schema', 'inputSchema', 'schema'] as const
const LIST_KEYS = ['tools', 'functions', 'schemas'] as const
const CALLS: { readonly [word: string]: NonNullable<DumpedTool['call']> } = {
  json: 'json',
  flags: 'flags',
  stdin: 'stdin',
  function: 'function',
  '--function': 'function',
}

/** The tools of a dump: one description, a list of them, an object with such a list, or an object by name. Undefined where it is no dump. */
export function readDump(document: unknown): readonly DumpedTool[] | undefined {
  const single = readEntry(document, undefined)
  if (single) return [single]
  if (Array.isArray(document)) return readList(document, undefined)
  if (!isObject(document)) return undefined
  const key = LIST_KEYS.find(
    (name) => Object.hasOwn(document, name) && Array.isArray(document[name]),
  )
  if (key !== undefined) return readList(document[key] as unknown[], readCall(document))
  const named = Object.entries(document).map(([name, value]) =>
    readEntry(isObject(value) ? { name, ...value } : value, undefined),
  )
  return named.length > 0 && named.every((entry) => entry !== undefined) ? named : undefined
}

/** Whether a dump is a list, so that its tools are called by name even when there is only one. */
export function isList(document: unknown): boolean {
  return (
    Array.isArray(document) ||
    (isObject(document) &&
      LIST_KEYS.some((name) => Object.hasOwn(document, name) && Array.isArray(document[name])))
  )
}

/** The way a dumped tool of a script with several tools is called: arguments between the script and the input, and the form of the input. */
export function callOf({ call, function: inner, name = '' }: DumpedTool): {
  readonly args: readonly string[]
  readonly form: CallForm
} {
  const form: CallForm = call === 'json' || call === 'stdin' ? call : 'flags'
  return call === 'function'
    ? { args: ['--function', inner ?? name], form }
    : { args: [name], form }
}

function readList(
  items: readonly unknown[],
  call: DumpedTool['call'],
): readonly DumpedTool[] | undefined {
  const entries = items.map((item) => readEntry(item, call))
  return entries.length > 0 && entries.every((entry) => entry !== undefined) ? entries : undefined
}

function readEntry(value: unknown, inherited: DumpedTool['call']): DumpedTool | undefined {
  if (!isObject(value)) return undefined
  // The form of OpenAI wraps the description.
  const inner =
    Object.hasOwn(value, 'function') && isObject(value['function']) ? value['function'] : value
  const key = SCHEMA_KEYS.find((name) => Object.hasOwn(inner, name) && isObject(inner[name]))
  const name = ownText(inner, 'name')
  const description = ownText(inner, 'description')
  if (key === undefined && (name === undefined || description === undefined)) return undefined
  const call = readCall(inner) ?? readCall(value) ?? inherited
  const hidden = ownText(inner, 'function')
  return {
    ...(name !== undefined && { name }),
    facts: {
      ...(description !== undefined && { description }),
      inputSchema:
        key === undefined
          ? { type: 'object', properties: {} }
          : asObjectSchema(inner[key] as JsonSchema),
    },
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

function readCall(value: Record<string, unknown>): DumpedTool['call'] {
  const word = ownText(value, 'call') ?? ownText(value, 'style')
  return word !== undefined && Object.hasOwn(CALLS, word) ? CALLS[word] : undefined
}

function ownText(value: Record<string, unknown>, key: string): string | undefined {
  return Object.hasOwn(value, key) ? textOf(value[key]) : undefined
}
