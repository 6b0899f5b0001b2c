import { isObject } from '../../../contract/json.ts'
import type { Resource } from '../../../define/resource.ts'
import { LiveCall } from '../calls/live-call.ts'
import { page } from '../catalogue/pages.ts'
import type { Exchange } from '../exchange.ts'
import type { McpServer } from '../server-type.ts'
import { RPC } from '../wire/messages.ts'
import { callOptions } from './call-options.ts'
import { readFailure } from './failures.ts'
import { follow, resume } from './follow.ts'
import { CACHEABLE, cacheable, textParam } from './method.ts'
import type { Method } from './method.ts'

type ResourceForm = { readonly uri: string; readonly name: string; readonly [field: string]: unknown }

export const listResources: Method = async (server, params, exchange) => {
  const { source } = server
  const fixed: ResourceForm[] = source.resources().filter((resource) => !isTemplate(resource)).map((resource) => ({ uri: resource.manifest.uri, ...describe(resource) }))
  for (const { uri, name, summary, mimeType } of source.about) fixed.push({ uri, name, description: summary, mimeType })
  const found = await listExisting(server, exchange)
  const known = new Set(fixed.map(({ uri }) => uri))
  const { items, nextCursor } = page<ResourceForm>([...fixed, ...found.filter(({ uri }) => !known.has(uri))], ({ uri }) => uri, params, server.options.pageSize)
  return cacheable({ resources: items, ...(nextCursor !== undefined && { nextCursor }) }, exchange)
}

export const listTemplates: Method = (server, params, exchange) => {
  const templates = server.source.resources().filter(isTemplate).map((resource) => ({ uriTemplate: resource.manifest.uri, ...describe(resource) }))
  const { items, nextCursor } = page(templates, ({ uriTemplate }) => uriTemplate, params, server.options.pageSize)
  return cacheable({ resourceTemplates: items, ...(nextCursor !== undefined && { nextCursor }) }, exchange)
}

/** Reads a resource, one of the documents about the server itself, or a file that a tool left behind. */
export const readResource: Method = async (server, params, exchange) => {
  const uri = textParam(params, 'uri')
  const subject = { method: 'resources/read', params }
  const { caller } = exchange
  if (params['requestState'] !== undefined && caller.era === 'modern') return follow(server, await resume(server, subject, exchange), subject, undefined)
  if (server.artifacts.has(uri)) return contents(uri, await (await import('../results/artifacts.ts')).readArtifact(uri), undefined, caller.era)
  const about = server.source.about.find((document) => document.uri === uri)
  if (about) return contents(uri, await about.read(), about.mimeType, caller.era)
  const early = params['inputResponses']
  const call = new LiveCall(exchange, caller, isObject(early) ? early : undefined, async (live) => {
    const { options, stop } = callOptions(server, live, params, uri)
    const outcome = await server.source.readResource(uri, options)
    stop()
    if (!outcome.ok) return { error: readFailure(outcome, live, { code: caller.era === 'modern' ? RPC.invalidParams : RPC.resourceNotFound, message: outcome.error.message, data: { uri } }) }
    const mimeType = server.source.resources().find((resource) => resource.match(uri))?.manifest.mimeTypes[0]
    return { result: contents(uri, outcome.result, mimeType, caller.era) }
  })
  return follow(server, call, subject, undefined)
}

function contents(uri: string, content: unknown, mimeType: string | undefined, era: 'modern' | 'legacy'): object {
  return { contents: [{ uri, ...readContent(content, mimeType) }], ...(era === 'modern' && { ...CACHEABLE, ttlMs: 0 }) }
}

function readContent(content: unknown, mimeType: string | undefined): object {
  if (typeof content === 'string') return { mimeType: mimeType ?? 'text/plain', text: content }
  if (isObject(content) && typeof content['mimeType'] === 'string') {
    if (typeof content['text'] === 'string') return { mimeType: content['mimeType'], text: content['text'] }
    if (typeof content['blob'] === 'string') return { mimeType: content['mimeType'] === 'application/octet-stream' ? (mimeType ?? content['mimeType']) : content['mimeType'], blob: content['blob'] }
  }
  return { mimeType: mimeType ?? 'application/json', text: JSON.stringify(content) }
}

// What cannot be listed now is not the fault of who asks: the fixed ones are listed all the same.
async function listExisting({ source, options }: McpServer, { cancellation }: Exchange): Promise<ResourceForm[]> {
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

function describe({ manifest }: Resource): { readonly name: string; readonly [field: string]: unknown } {
  const { name, title, uri, summary, mimeTypes } = manifest
  return { name: name ?? lastPart(uri), ...(title !== undefined && { title }), description: summary, ...(mimeTypes[0] !== undefined && { mimeType: mimeTypes[0] }) }
}

function lastPart(uri: string): string {
  return uri.split(/[/:]+/).findLast((part) => part !== '' && !part.includes('{')) ?? uri
}

function isTemplate({ manifest }: Resource): boolean {
  return manifest.uri.includes('{')
}
