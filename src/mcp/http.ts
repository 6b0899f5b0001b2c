/**
 * MCP over HTTP: both generations of the streamable HTTP transport.
 */

import { onAbort } from '../core/lifecycle.ts'
import type { Servable } from '../core/provider.ts'
import type { HttpApp, HttpRequest, HttpResponse } from '../http/exchange.ts'
import { BodyError } from '../http/exchange.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import {
  ACCEPTED_RESPONSE,
  createRpcRefusal,
  McpHttpExchange,
  toModernResponse,
} from './http-exchange.ts'
import { LegacyHttpTransport } from './http-legacy.ts'
import type { McpSourceOptions } from './progressive.ts'
import { createMcpSource } from './progressive.ts'
import type { McpClient, RpcMessage, RpcNotification, RpcParams, RpcRequest } from './protocol.ts'
import {
  isModernMeta,
  LEGACY_VERSIONS,
  META_KEYS,
  parseClient,
  parseMessage,
  RPC_CODES,
  RpcError,
  toErrorResponse,
} from './protocol.ts'
import type { McpServer, McpServerOptions } from './server-types.ts'
import { createMcpServer, hasMethod } from './server.ts'

export type McpHttpOptions = McpSourceOptions &
  McpServerOptions & {
    /** Bytes that a message may have; default 16 MiB. */
    readonly bodyLimit?: number
    /** Ends subscriptions and what no request waits for; its owner closes the connections. */
    readonly signal?: AbortSignal
  }

const DEFAULT_BODY_LIMIT_BYTES = 16 * MEBIBYTE

/**
 * The MCP endpoint of a toolset: both generations of the streamable HTTP transport. Host, Origin
 * and tokens are checked before it.
 */
export function createMcpHttpApp(
  set: Servable,
  { bodyLimit = DEFAULT_BODY_LIMIT_BYTES, signal, ...options }: McpHttpOptions = {},
): HttpApp {
  const server = createMcpServer(createMcpSource(set, options), options)
  if (signal?.aborted) server.stop()
  else if (signal) onAbort(signal, () => server.stop())
  const legacy = new LegacyHttpTransport(server)
  return async (request) => {
    if (request.method === 'GET') return legacy.listen(request)
    if (request.method === 'DELETE') return legacy.end(request)
    if (request.method !== 'POST')
      return createRpcRefusal(405, `${request.method} is not allowed`, {
        headers: { allow: 'POST, GET, DELETE' },
      })
    const message = await readMessageBody(request, bodyLimit)
    if ('status' in message) return message
    if (message.kind === 'invalid')
      return createRpcRefusal(400, message.problem, { id: message.id })
    if (message.kind === 'response') return legacy.acceptAnswer(request, message)
    const isModern = isModernRequest(request, message)
    if (message.kind === 'notification')
      return isModern ? ACCEPTED_RESPONSE : legacy.handleNotification(request, message)
    return isModern
      ? answerModernRequest(server, request, message)
      : legacy.answer(request, message)
  }
}

async function readMessageBody(
  request: HttpRequest,
  limit: number,
): Promise<RpcMessage | HttpResponse> {
  const type = request.header('content-type')
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\b/i.test(type))
    return createRpcRefusal(415, `the body must be application/json, not ${type.slice(0, 60)}`)
  try {
    return parseMessage(JSON.parse(await request.text(limit)))
  } catch (error) {
    const { message } = error as Error
    const code = RPC_CODES.parse
    if (!(error instanceof BodyError))
      return createRpcRefusal(400, `the body is not JSON: ${message}`, { code })
    return createRpcRefusal(error.status, message, error.status === 413 ? {} : { code })
  }
}

// A request says its generation itself; a header that no older client would send says it too.
function isModernRequest(request: HttpRequest, { meta }: RpcRequest | RpcNotification): boolean {
  if (isModernMeta(meta)) return true
  const version = request.header('mcp-protocol-version')
  return version !== undefined && !LEGACY_VERSIONS.includes(version)
}

async function answerModernRequest(
  server: McpServer,
  request: HttpRequest,
  message: RpcRequest,
): Promise<HttpResponse> {
  const { id, method, params } = message
  let exchange: McpHttpExchange
  try {
    const client = await checkModernRequest(server, request, message)
    exchange = new McpHttpExchange({ message, client, request, answer: toModernResponse })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    // Only faults of the envelope are found here, and those are faults of the request.
    const refused = toModernResponse(toErrorResponse(id, error))
    return { ...refused, status: refused.status === 200 ? 400 : refused.status }
  }
  if (method === 'subscriptions/listen' && !exchange.canStream)
    return createRpcRefusal(
      406,
      'subscriptions/listen is answered by a stream: accept text/event-stream',
      { id },
    )
  void server.answer(method, params, exchange).then((answered) => exchange.finish(answered))
  return exchange.opened
}

async function checkModernRequest(
  server: McpServer,
  request: HttpRequest,
  { method, params, meta }: RpcRequest,
): Promise<McpClient> {
  const version = meta?.[META_KEYS.version]
  if (typeof version === 'string')
    requireEqualHeader('MCP-Protocol-Version', request.header('mcp-protocol-version'), version)
  const client = parseClient(meta)
  checkStandardHeaders(request, method, params, hasMethod(method, 'modern'))
  if (method === 'tools/call') await checkParamHeaders(server, request, params)
  return client
}

/** Which field of the params the header `Mcp-Name` repeats, by method. */
const NAME_FIELD_BY_METHOD: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/**
 * Checks the headers that repeat parts of the body for those who only look at headers; throws
 * HeaderMismatch.
 */
function checkStandardHeaders(
  request: HttpRequest,
  method: string,
  params: RpcParams,
  known: boolean,
): void {
  requireEqualHeader('Mcp-Method', request.header('mcp-method'), method)
  const field =
    known && Object.hasOwn(NAME_FIELD_BY_METHOD, method) ? NAME_FIELD_BY_METHOD[method] : undefined
  const name = field === undefined ? undefined : params[field]
  if (typeof name === 'string')
    requireEqualHeader('Mcp-Name', decodeHeader('Mcp-Name', request.header('mcp-name')), name)
}

/** Checks the arguments that a tool's schema wants repeated in headers; throws HeaderMismatch. */
async function checkParamHeaders(
  server: McpServer,
  request: HttpRequest,
  params: RpcParams,
): Promise<void> {
  const tool = typeof params['name'] === 'string' ? server.source.find(params['name']) : undefined
  if (!tool) return
  const mirrored = (mirroredFieldsByTool.get(tool) ??
    mirroredFieldsByTool
      .set(tool, listMirroredFields(tool.written().input ?? (await tool.manifest()).inputSchema))
      .get(tool))!
  for (const { header, path } of mirrored) {
    const value = path.reduce<unknown>(
      (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
      params['arguments'],
    )
    const name = `Mcp-Param-${header}`
    const given = decodeHeader(name, request.header(name.toLowerCase()))
    if (value === undefined || value === null) {
      if (given !== undefined)
        throw headerMismatchError(`${name} is given, but the argument ${path.join('.')} is not`)
    } else if (typeof value !== 'number' || given === undefined || Number(given) !== value)
      requireEqualHeader(name, given, String(value))
  }
}

type MirroredField = { readonly header: string; readonly path: readonly string[] }
const mirroredFieldsByTool = new WeakMap<object, readonly MirroredField[]>()

function listMirroredFields(schema: JsonSchema, path: readonly string[] = []): MirroredField[] {
  if (!isObject(schema['properties'])) return []
  return Object.entries(schema['properties']).flatMap(([key, property]) => {
    if (!isObject(property)) return []
    const header = property['x-mcp-header']
    return [
      ...(typeof header === 'string' ? [{ header, path: [...path, key] }] : []),
      ...listMirroredFields(property, [...path, key]),
    ]
  })
}

function requireEqualHeader(name: string, given: string | undefined, expected: string): void {
  if (given === undefined) throw headerMismatchError(`the header ${name} is missing`)
  if (given !== expected)
    throw headerMismatchError(
      `the header ${name} says '${given.slice(0, 100)}', the body '${expected.slice(0, 100)}'`,
    )
}

// What a header cannot carry as it is comes as =?base64?…?=.
function decodeHeader(name: string, value: string | undefined): string | undefined {
  const encoded = value === undefined ? null : /^=\?base64\?(.*)\?=$/.exec(value)
  if (!encoded) return value
  const bytes = Buffer.from(encoded[1]!, 'base64')
  if (bytes.toString('base64') !== encoded[1])
    throw headerMismatchError(`the header ${name} is not valid base64`)
  return bytes.toString('utf8')
}

function headerMismatchError(problem: string): RpcError {
  return new RpcError(RPC_CODES.headerMismatch, `Header mismatch: ${problem}`)
}
