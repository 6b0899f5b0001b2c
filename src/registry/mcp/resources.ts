import type { Resource as ServerResource, ResourceTemplateType } from '@modelcontextprotocol/client'
import type { ReadingContext } from '../../contract/context.ts'
import { LONGEST_TIMER_MS } from '../../contract/duration.ts'
import { isObject } from '../../contract/json.ts'
import { resource } from '../../define/resource.ts'
import type { Resource, ResourceContent } from '../../define/resource.ts'
import { compileUriPattern } from '../../define/uri-pattern.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { Connection } from './connection.ts'
import { inRounds } from './rounds.ts'
import type { McpSettings } from './settings.ts'

/** What lists of a server are read with. */
export type Reading = {
  readonly connection: Connection
  readonly settings: McpSettings
  /** The server completes arguments. */
  readonly completes: boolean
  tell(reason: string, message: string, fix: string): void
}

/** Resources of a server as resources of ours, read from it when they are wanted. What cannot be one is told. */
export function readResources(
  resources: readonly ServerResource[],
  templates: readonly ResourceTemplateType[],
  reading: Reading,
): readonly Resource[] {
  const fixed = resources.flatMap((given) => make(given.uri, given, reading))
  return [...fixed, ...templates.flatMap((given) => make(given.uriTemplate, given, reading))]
}

type Facts = {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
}

function make(uri: string, facts: Facts, reading: Reading): readonly Resource[] {
  const { settings, completes } = reading
  const { name, title, description, mimeType } = facts
  try {
    const pattern = compileUriPattern(uri)
    return [
      resource<string>({
        uri,
        summary: summaryOf(name, {
          ...(description !== undefined && { description }),
          ...(title !== undefined && { title }),
        }),
        ...(name.trim() !== '' && { name }),
        ...(title !== undefined && title.trim() !== '' && { title }),
        ...(mimeType !== undefined && { mimeTypes: [mimeType] }),
        read: (params, ctx) => read(pattern.expand(params), ctx, reading),
        ...(completes &&
          pattern.params.length > 0 && {
            complete: Object.fromEntries(
              pattern.params.map((param) => [param, completer(uri, param, reading)]),
            ),
          }),
      }),
    ]
  } catch (error) {
    reading.tell(
      'resource',
      `resource '${uri}' of MCP server '${settings.name}' cannot be used: ${(error as Error).message}`,
      'Its author should give it an address with simple {name} placeholders',
    )
    return []
  }
}

function completer(
  uri: string,
  param: string,
  { connection, settings }: Reading,
): (value: string, others: { readonly [name: string]: string }) => Promise<readonly string[]> {
  return (value, others) =>
    connection.with(
      async ({ client }) =>
        (
          await client.complete(
            {
              ref: { type: 'ref/resource', uri },
              argument: { name: param, value },
              context: { arguments: { ...others } },
            },
            { timeout: settings.startTimeout },
          )
        ).completion.values,
    )
}

async function read(
  uri: string,
  ctx: ReadingContext,
  { connection, settings }: Reading,
): Promise<ResourceContent> {
  const contents = await connection.use(`reading ${uri}`, ctx, ({ client }, { signal, asker }) =>
    inRounds(asker, settings.roots, async (answers) => {
      const result: unknown = await client.readResource(
        { uri, ...answers },
        { signal, timeout: LONGEST_TIMER_MS, allowInputRequired: true, cacheMode: 'bypass' },
      )
      return isObject(result) && Array.isArray(result['contents'])
        ? (result['contents'] as readonly unknown[])
        : result
    }),
  )
  const parts = (Array.isArray(contents) ? contents : []).filter(isObject)
  return parts.length === 1 ? contentOf(parts[0]!) : parts
}

function contentOf({
  text,
  blob,
  mimeType,
}: {
  readonly [field: string]: unknown
}): ResourceContent {
  if (typeof blob === 'string')
    return { mimeType: typeof mimeType === 'string' ? mimeType : 'application/octet-stream', blob }
  return typeof mimeType === 'string' ? { mimeType, text: String(text) } : String(text)
}
