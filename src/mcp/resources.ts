/**
 * `resources/list`, `resources/templates/list` and `resources/read`.
 */

import type { ServerCallOptions } from '../core/call.ts'
import type { Resource } from '../define/resource.ts'
import { compact, isObject } from '../util/values.ts'
import type { McpMethod } from './method.ts'
import { followRequest, requireTextParam, toListResult, toReadError } from './method.ts'
import type { McpExchange, RpcErrorObject } from './protocol.ts'
import { RPC_CODES } from './protocol.ts'
import type { McpServer } from './server-types.ts'

type ListedMcpResource = {
  readonly uri: string
  readonly name: string
  readonly [field: string]: unknown
}

export const listResources: McpMethod = async (server, params, exchange) => {
  const { set, about } = server.source
  const listed: ListedMcpResource[] = [
    ...set.resources
      .filter((resource) => !isTemplate(resource))
      .map((resource) => ({ uri: resource.manifest.uri, ...describeResource(resource) })),
    ...about.map(({ uri, name, summary, mimeType }) => ({
      uri,
      name,
      description: summary,
      mimeType,
    })),
    ...(await listExistingResources(server, exchange)),
  ]
  // Each address once: the cursors of pages are addresses.
  const unique = new Map<string, ListedMcpResource>()
  for (const resource of listed) if (!unique.has(resource.uri)) unique.set(resource.uri, resource)
  return toListResult('resources', [...unique.values()], 'uri', { server, params, exchange })
}

export const listResourceTemplates: McpMethod = (server, params, exchange) => {
  const templates = server.source.set.resources
    .filter(isTemplate)
    .map((resource) => ({ uriTemplate: resource.manifest.uri, ...describeResource(resource) }))
  return toListResult('resourceTemplates', templates, 'uriTemplate', { server, params, exchange })
}

/**
 * Reads a resource, one of the documents about the server itself, or a file that a tool left
 * behind.
 */
export const readResource: McpMethod = (server, params, exchange) => {
  const uri = requireTextParam(params, 'uri')
  const { era } = exchange.client
  const { set, about } = server.source
  const notFound = (message: string): RpcErrorObject => ({
    code: era === 'modern' ? RPC_CODES.invalidParams : RPC_CODES.resourceNotFound,
    message,
    data: { uri },
  })
  return followRequest(
    server,
    {
      method: 'resources/read',
      params,
      what: uri,
      async work(options, call) {
        if (server.artifacts.has(uri)) {
          const file = await (await import('./artifacts.ts')).readArtifact(uri)
          return typeof file === 'string'
            ? { error: notFound(`the file ${file}`) }
            : { result: toResourceContents(uri, file, undefined, era) }
        }
        const document = about.find((candidate) => candidate.uri === uri)
        if (document)
          return { result: toResourceContents(uri, await document.read(), document.mimeType, era) }
        const outcome = await set.readResource(uri, options)
        if (!outcome.ok)
          return { error: toReadError(outcome, call, notFound(outcome.error.message)) }
        const [mimeType] = set.resources.find((each) => each.match(uri))?.manifest.mimeTypes ?? []
        return { result: toResourceContents(uri, outcome.result, mimeType, era) }
      },
    },
    exchange,
  )
}

function toResourceContents(
  uri: string,
  content: unknown,
  mimeType: string | undefined,
  era: 'modern' | 'legacy',
): object {
  const contents = [{ uri, ...toResourceContent(content, mimeType) }]
  return era === 'modern' ? { contents, ttlMs: 0, cacheScope: 'private' } : { contents }
}

function toResourceContent(content: unknown, mimeType: string | undefined): object {
  if (typeof content === 'string') return { mimeType: mimeType ?? 'text/plain', text: content }
  if (isObject(content) && typeof content['mimeType'] === 'string') {
    const { mimeType: own, text, blob } = content
    if (typeof text === 'string') return { mimeType: own, text }
    if (typeof blob === 'string')
      return { mimeType: (own === 'application/octet-stream' && mimeType) || own, blob }
  }
  return { mimeType: mimeType ?? 'application/json', text: JSON.stringify(content) }
}

// When these cannot be listed now, the fixed ones still are.
async function listExistingResources(
  { source: { set }, options }: McpServer,
  { cancellation }: McpExchange,
): Promise<ListedMcpResource[]> {
  const callOptions: ServerCallOptions = { ...options.call, cancellation }
  const outcome = await set.listResources(callOptions)
  if (!outcome.ok) return []
  return outcome.result.map(({ uri, name, description, mimeType, size }) =>
    compact({ uri, name: name ?? getLastSegment(uri), description, mimeType, size }),
  )
}

function describeResource({ manifest }: Resource): {
  readonly name: string
  readonly [field: string]: unknown
} {
  const { name, title, uri, summary, mimeTypes } = manifest
  return compact({
    name: name ?? getLastSegment(uri),
    title,
    description: summary,
    mimeType: mimeTypes[0],
  })
}

function getLastSegment(uri: string): string {
  return uri.split(/[/:]+/).findLast((part) => part !== '' && !part.includes('{')) ?? uri
}

function isTemplate({ manifest }: Resource): boolean {
  return manifest.uri.includes('{')
}
