/**
 * `resources/list`, `resources/templates/list` and `resources/read`.
 */

import type { Resource } from '../define/resource.ts'
import { compact, isObject } from '../util/values.ts'
import { addCacheHints, followRequest, paginate, requireTextParam, toReadError } from './method.ts'
import type { McpMethod } from './method.ts'
import { RPC_CODES } from './protocol.ts'
import type { McpExchange, RpcErrorObject } from './protocol.ts'
import type { McpServer } from './server-types.ts'

type ListedMcpResource = {
  readonly uri: string
  readonly name: string
  readonly [field: string]: unknown
}

export const listResources: McpMethod = async (server, params, exchange) => {
  const { source } = server
  const fixed: ListedMcpResource[] = source
    .resources()
    .filter((resource) => !isTemplate(resource))
    .map((resource) => ({ uri: resource.manifest.uri, ...describeResource(resource) }))
  for (const { uri, name, summary, mimeType } of source.about)
    fixed.push({ uri, name, description: summary, mimeType })
  const found = await listExistingResources(server, exchange)
  // Each address once: the cursors of pages are addresses.
  const listed = new Map<string, ListedMcpResource>()
  for (const form of [...fixed, ...found]) if (!listed.has(form.uri)) listed.set(form.uri, form)
  const { items, nextCursor } = paginate(
    [...listed.values()],
    ({ uri }) => uri,
    params,
    server.options.pageSize,
  )
  return addCacheHints(compact({ resources: items, nextCursor }), exchange)
}

export const listResourceTemplates: McpMethod = (server, params, exchange) => {
  const templates = server.source
    .resources()
    .filter(isTemplate)
    .map((resource) => ({ uriTemplate: resource.manifest.uri, ...describeResource(resource) }))
  const { items, nextCursor } = paginate(
    templates,
    ({ uriTemplate }) => uriTemplate,
    params,
    server.options.pageSize,
  )
  return addCacheHints(compact({ resourceTemplates: items, nextCursor }), exchange)
}

/**
 * Reads a resource, one of the documents about the server itself, or a file that a tool left
 * behind.
 */
export const readResource: McpMethod = (server, params, exchange) => {
  const uri = requireTextParam(params, 'uri')
  const { era } = exchange.caller
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
        const about = server.source.about.find((document) => document.uri === uri)
        if (about)
          return { result: toResourceContents(uri, await about.read(), about.mimeType, era) }
        const outcome = await server.source.readResource(uri, options)
        if (!outcome.ok)
          return { error: toReadError(outcome, call, notFound(outcome.error.message)) }
        const mimeType = server.source.resources().find((resource) => resource.match(uri))?.manifest
          .mimeTypes[0]
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
  return {
    contents: [{ uri, ...toResourceContent(content, mimeType) }],
    ...(era === 'modern' && { ttlMs: 0, cacheScope: 'private' }),
  }
}

function toResourceContent(content: unknown, mimeType: string | undefined): object {
  if (typeof content === 'string') return { mimeType: mimeType ?? 'text/plain', text: content }
  if (isObject(content) && typeof content['mimeType'] === 'string') {
    if (typeof content['text'] === 'string')
      return { mimeType: content['mimeType'], text: content['text'] }
    if (typeof content['blob'] === 'string')
      return {
        mimeType:
          content['mimeType'] === 'application/octet-stream'
            ? (mimeType ?? content['mimeType'])
            : content['mimeType'],
        blob: content['blob'],
      }
  }
  return { mimeType: mimeType ?? 'application/json', text: JSON.stringify(content) }
}

// What cannot be listed now is not the fault of who asks: the fixed ones are listed all the same.
async function listExistingResources(
  { source, options }: McpServer,
  { cancellation }: McpExchange,
): Promise<ListedMcpResource[]> {
  const outcome = await source.listResources({ ...options.call, cancellation })
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
