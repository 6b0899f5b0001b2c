import { isObject } from '../../../contract/json.ts'
import type { Resource } from '../../../define/resource.ts'
import { page } from '../catalogue/pages.ts'
import type { Exchange } from '../exchange.ts'
import type { McpServer } from '../server-type.ts'
import { RPC } from '../wire/messages.ts'
import type { RpcErrorObject } from '../wire/messages.ts'
import { readFailure } from './failures.ts'
import { follow } from './follow.ts'
import { cacheable, textParam } from './method.ts'
import type { Method } from './method.ts'

type ResourceForm = {
  readonly uri: string
  readonly name: string
  readonly [field: string]: unknown
}

export const listResources: Method = async (server, params, exchange) => {
  const { source } = server
  const fixed: ResourceForm[] = source
    .resources()
    .filter((resource) => !isTemplate(resource))
    .map((resource) => ({ uri: resource.manifest.uri, ...describe(resource) }))
  for (const { uri, name, summary, mimeType } of source.about)
    fixed.push({ uri, name, description: summary, mimeType })
  const found = await listExisting(server, exchange)
  // Each address once: the cursors of pages are addresses.
  const listed = new Map<string, ResourceForm>()
  for (const form of [...fixed, ...found]) if (!listed.has(form.uri)) listed.set(form.uri, form)
  const { items, nextCursor } = page(
    [...listed.values()],
    ({ uri }) => uri,
    params,
    server.options.pageSize,
  )
  return cacheable({ resources: items, ...(nextCursor !== undefined && { nextCursor }) }, exchange)
}

export const listTemplates: Method = (server, params, exchange) => {
  const templates = server.source
    .resources()
    .filter(isTemplate)
    .map((resource) => ({ uriTemplate: resource.manifest.uri, ...describe(resource) }))
  const { items, nextCursor } = page(
    templates,
    ({ uriTemplate }) => uriTemplate,
    params,
    server.options.pageSize,
  )
  return cacheable(
    { resourceTemplates: items, ...(nextCursor !== undefined && { nextCursor }) },
    exchange,
  )
}

/** Reads a resource, one of the documents about the server itself, or a file that a tool left behind. */
export const readResource: Method = (server, params, exchange) => {
  const uri = textParam(params, 'uri')
  const { era } = exchange.caller
  const notFound = (message: string): RpcErrorObject => ({
    code: era === 'modern' ? RPC.invalidParams : RPC.resourceNotFound,
    message,
    data: { uri },
  })
  return follow(
    server,
    {
      method: 'resources/read',
      params,
      what: uri,
      async work(options, call) {
        if (server.artifacts.has(uri)) {
          const file = await (await import('../results/artifacts.ts')).readArtifact(uri)
          return typeof file === 'string'
            ? { error: notFound(`the file ${file}`) }
            : { result: contents(uri, file, undefined, era) }
        }
        const about = server.source.about.find((document) => document.uri === uri)
        if (about) return { result: contents(uri, await about.read(), about.mimeType, era) }
        const outcome = await server.source.readResource(uri, options)
        if (!outcome.ok)
          return { error: readFailure(outcome, call, notFound(outcome.error.message)) }
        const mimeType = server.source.resources().find((resource) => resource.match(uri))?.manifest
          .mimeTypes[0]
        return { result: contents(uri, outcome.result, mimeType, era) }
      },
    },
    exchange,
  )
}

function contents(
  uri: string,
  content: unknown,
  mimeType: string | undefined,
  era: 'modern' | 'legacy',
): object {
  return {
    contents: [{ uri, ...readContent(content, mimeType) }],
    ...(era === 'modern' && { ttlMs: 0, cacheScope: 'private' }),
  }
}

function readContent(content: unknown, mimeType: string | undefined): object {
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
async function listExisting(
  { source, options }: McpServer,
  { cancellation }: Exchange,
): Promise<ResourceForm[]> {
  const outcome = await source.listResources({ ...options.call, cancellation })
  if (!outcome.ok) return []
  return outcome.result.map(({ uri, name, description, mimeType, size }) => ({
    uri,
    name: name ?? lastPart(uri),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  }))
}

function describe({ manifest }: Resource): {
  readonly name: string
  readonly [field: string]: unknown
} {
  const { name, title, uri, summary, mimeTypes } = manifest
  return {
    name: name ?? lastPart(uri),
    ...(title !== undefined && { title }),
    description: summary,
    ...(mimeTypes[0] !== undefined && { mimeType: mimeTypes[0] }),
  }
}

function lastPart(uri: string): string {
  return uri.split(/[/:]+/).findLast((part) => part !== '' && !part.includes('{')) ?? uri
}

function isTemplate({ manifest }: Resource): boolean {
  return manifest.uri.includes('{')
}
