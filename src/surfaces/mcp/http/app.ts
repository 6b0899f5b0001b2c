import { BodyError } from '../../http/exchange.ts'
import type { HttpAnswer, HttpApp, HttpRequest } from '../../http/exchange.ts'
import { isModern, readCaller } from '../exchange.ts'
import { hasMethod } from '../methods/table.ts'
import { refuse } from '../wire/answered.ts'
import type { McpServer } from '../server-type.ts'
import { readMessage, RPC, RpcError } from '../wire/messages.ts'
import type { Message } from '../wire/messages.ts'
import { LEGACY_VERSIONS } from '../wire/versions.ts'
import { ACCEPTED, modernAnswer, refusal } from './answers.ts'
import { HttpExchange } from './http-exchange.ts'
import { LegacyHttp } from './legacy.ts'
import { checkParamHeaders, checkStandardHeaders, checkVersionHeader } from './mirrored-headers.ts'

export type McpHttpOptions = {
  /** Bytes that a message may have; default 16 MiB. */
  readonly bodyLimit?: number
  readonly now?: () => number
}

const BODY_LIMIT = 16 * 1024 * 1024

type Request = Message & { readonly kind: 'request' }

/** The MCP endpoint: both generations of the streamable HTTP transport. Host, Origin and tokens are checked before it. */
export function mcpEndpoint(
  server: McpServer,
  { bodyLimit = BODY_LIMIT, now = Date.now }: McpHttpOptions = {},
): HttpApp {
  const legacy = new LegacyHttp(server, now)
  return async (request) => {
    if (request.method === 'GET') return legacy.listen(request)
    if (request.method === 'DELETE') return legacy.end(request)
    if (request.method !== 'POST')
      return refusal(
        405,
        { code: RPC.invalidRequest, message: `${request.method} is not allowed` },
        undefined,
        { allow: 'POST, GET, DELETE' },
      )
    const message = await readBody(request, bodyLimit)
    if ('status' in message) return message
    if (message.kind === 'invalid')
      return refusal(400, { code: RPC.invalidRequest, message: message.problem }, message.id)
    if (message.kind === 'response') return legacy.take(request, message)
    const modern = isModernRequest(request, message)
    if (message.kind === 'notification') return modern ? ACCEPTED : legacy.note(request, message)
    return modern ? answerModern(server, request, message) : legacy.answer(request, message)
  }
}

async function readBody(request: HttpRequest, limit: number): Promise<Message | HttpAnswer> {
  const type = request.header('content-type')
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\b/i.test(type))
    return refusal(415, {
      code: RPC.invalidRequest,
      message: `the body must be application/json, not ${type.slice(0, 60)}`,
    })
  try {
    return readMessage(JSON.parse(await request.text(limit)))
  } catch (error) {
    if (error instanceof BodyError)
      return refusal(error.status, {
        code: error.status === 413 ? RPC.invalidRequest : RPC.parse,
        message: error.message,
      })
    return refusal(400, {
      code: RPC.parse,
      message: `the body is not JSON: ${(error as Error).message}`,
    })
  }
}

// A request says its generation itself; a header that no older client would send says it too.
function isModernRequest(
  request: HttpRequest,
  { params }: Message & { readonly kind: 'request' | 'notification' },
): boolean {
  if (isModern(params)) return true
  const version = request.header('mcp-protocol-version')
  return version !== undefined && !LEGACY_VERSIONS.includes(version)
}

async function answerModern(
  server: McpServer,
  request: HttpRequest,
  { id, method, params }: Request,
): Promise<HttpAnswer> {
  let exchange: HttpExchange
  try {
    checkVersionHeader(request, params)
    const caller = readCaller(params)
    checkStandardHeaders(request, method, params, hasMethod(method, 'modern'))
    if (method === 'tools/call') await checkParamHeaders(server, request, params)
    exchange = new HttpExchange({ id, caller, request, answer: modernAnswer })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    // Only faults of the envelope are seen here, and those are faults of the request.
    const refused = modernAnswer(refuse(id, error.toObject()))
    return { ...refused, status: refused.status === 200 ? 400 : refused.status }
  }
  if (method === 'subscriptions/listen' && !exchange.canStream)
    return refusal(
      406,
      {
        code: RPC.invalidRequest,
        message: 'subscriptions/listen is answered by a stream: accept text/event-stream',
      },
      id,
    )
  void server.answer(method, params, exchange).then((answered) => exchange.finish(answered))
  return exchange.opened
}
