import type { JsonSchema } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import type {
  Annotations,
  Example,
  PromptManifest,
  ResourceManifest,
} from '../../contract/manifest.ts'
import type { DeclaredError } from '../../contract/errors.ts'
import type { Abilities } from '../child/toolable-call.ts'
import type { ForeignFacts } from '../found.ts'
import { textOf, textsOf } from './text.ts'

/** What `--discover` or `--manifest` says about a program. */
export type Discovered = {
  readonly program?: string
  readonly version?: string
  readonly tools: readonly { readonly name: string; readonly facts: ForeignFacts }[]
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  readonly abilities: Abilities
}

/** Reads the answer to `--discover`, or the one to `--manifest` for a whole program. Undefined where it is neither. */
export function readDiscovery(document: unknown): Discovered | undefined {
  if (!isObject(document)) return undefined
  const own = ownOf(document)
  if (!Array.isArray(own['tools'])) return undefined
  const tools = own['tools'].map((tool) => readTool(tool))
  if (!tools.every((tool) => tool !== undefined)) return undefined
  const resources = listOf(own['resources']).flatMap((resource) => readResource(resource) ?? [])
  const prompts = listOf(own['prompts']).flatMap((prompt) => readPrompt(prompt) ?? [])
  if (tools.length + resources.length + prompts.length === 0) return undefined
  const program = textOf(own['name'])
  const version = textOf(own['version'])
  return {
    ...(program !== undefined && { program }),
    ...(version !== undefined && { version }),
    tools,
    resources,
    prompts,
    abilities: { serves: typeof own['serve'] === 'number', readsStdin: own['stdin'] === true },
  }
}

/** One tool of `--discover`, of `--manifest`, or the answer to `<tool> --manifest`. */
export function readTool(
  document: unknown,
): { readonly name: string; readonly facts: ForeignFacts } | undefined {
  if (!isObject(document)) return undefined
  const own = ownOf(document)
  const name = textOf(own['name'])
  if (name === undefined) return undefined
  const facts = {
    title: textOf(own['title']),
    summary: textOf(own['summary']),
    description: textOf(own['description']),
    tags: textsOf(own['tags']),
    inputSchema: schemaOf(
      own['schema'] ?? own['input_schema'] ?? own['inputSchema'] ?? own['parameters'],
    ),
    outputSchema: schemaOf(own['output_schema'] ?? own['outputSchema']),
    annotations: readAnnotations(own['annotations']),
    examples: listOf(own['examples']).filter(isExample),
    errors: readErrors(own['errors']),
    timeout:
      typeof own['timeout'] === 'number' && own['timeout'] > 0 && Number.isFinite(own['timeout'])
        ? own['timeout']
        : undefined,
    streaming: own['streaming'] === true || undefined,
    session: own['session_mode'] === true || undefined,
  }
  return { name, facts: withoutAbsent(facts) }
}

function readResource(document: unknown): ResourceManifest | undefined {
  if (!isObject(document)) return undefined
  const own = ownOf(document)
  const uri = textOf(own['uri_pattern']) ?? textOf(own['uri'])
  if (uri === undefined) return undefined
  return {
    ...withoutAbsent({ name: textOf(own['name']), title: textOf(own['title']) }),
    uri,
    summary: textOf(own['summary']) ?? uri,
    mimeTypes: textsOf(own['mime_types']),
    tags: textsOf(own['tags']),
  }
}

function readPrompt(document: unknown): PromptManifest | undefined {
  if (!isObject(document)) return undefined
  const own = ownOf(document)
  const name = textOf(own['name'])
  if (name === undefined) return undefined
  const given = own['arguments']
  const parameters = isObject(given)
    ? Object.entries(given).map(([key, value]) => ({
        name: key,
        ...withoutAbsent({ description: textOf(value) }),
        required: false,
      }))
    : listOf(given)
        .filter(isObject)
        .map(ownOf)
        .flatMap((one) => {
          const key = textOf(one['name'])
          return key === undefined
            ? []
            : [
                {
                  name: key,
                  ...withoutAbsent({ description: textOf(one['description']) }),
                  required: one['required'] === true,
                },
              ]
        })
  return {
    ...withoutAbsent({ title: textOf(own['title']) }),
    name,
    summary: textOf(own['summary']) ?? name,
    arguments: parameters,
    tags: textsOf(own['tags']),
  }
}

function readAnnotations(document: unknown): Annotations | undefined {
  if (!isObject(document)) return undefined
  const own = ownOf(document)
  const hint = (name: string): boolean | undefined =>
    [own[name], own[`${name}Hint`]].find((value): value is boolean => typeof value === 'boolean')
  const annotations = withoutAbsent({
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

function schemaOf(value: unknown): JsonSchema | undefined {
  return isObject(value) ? value : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

// What is inherited was never said.
function ownOf(value: Record<string, unknown>): Record<string, unknown> {
  return Object.assign(Object.create(null) as Record<string, unknown>, value)
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function withoutAbsent<T extends object>(record: T): Present<T> {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  ) as Present<T>
}
