/**
 * An app as a fetch handler.
 */

import { onAbort } from '../core/lifecycle.ts'
import type { Servable } from '../core/provider.ts'
import { compact } from '../util/values.ts'
import { createHttpApp, createLazyMcp } from './app.ts'
import type { HttpApp, HttpRequest, HttpResponse } from './exchange.ts'
import {
  BodyError,
  bodyTooLongError,
  clientGoneError,
  isStreamBody,
  outsideBasePathError,
  stripBasePath,
  toFailureResponse,
  toRefusalResponse,
} from './exchange.ts'
import { createGuards, withGuards } from './guards.ts'
import type { Handler, HandlerOptions, MountedHandler } from './options.ts'
import { checkBasePath } from './options.ts'

/** Builds what a handler answers with. */
export async function mountHandler(
  set: Servable,
  {
    basePath: given,
    token,
    allowedHosts,
    allowedOrigins,
    bodyLimit,
    confirm,
    ...call
  }: HandlerOptions,
): Promise<MountedHandler> {
  const basePath = checkBasePath(given)
  await set.prepare?.()
  const mcp = createLazyMcp(set, compact({ call, bodyLimit }))
  const api = createHttpApp(
    set,
    compact({
      call: compact({ ...call, confirm }),
      basePath,
      token: token !== undefined,
      mcp,
      bodyLimit,
    }),
  )
  const guards = await createGuards(compact({ token, allowedHosts, allowedOrigins }))
  const app = withGuards(api, guards, { tool: set.name, version: set.version })
  return { app, basePath, fetch: createFetchHandler(app, { basePath }) }
}

/** Serves an app as a fetch handler, as Hono, Bun, Deno and workers take it. */
export function createFetchHandler(
  app: HttpApp,
  { basePath = '' }: { readonly basePath?: string } = {},
): Handler {
  return async (request) => {
    const url = new URL(request.url)
    const path = stripBasePath(url.pathname, basePath)
    if (path === undefined)
      return toResponse(toRefusalResponse(outsideBasePathError(basePath)), request, noop)
    const gone = createLazyAbort(request)
    const exchange: HttpRequest = {
      method: request.method,
      path,
      search: url.search.slice(1),
      // Where nothing was sent over a wire, the address says which host was meant.
      header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
      text: (limit) => readRequestBody(request, limit),
      get signal() {
        return gone.signal()
      },
      onDisconnect: (react) => void onAbort(gone.signal(), () => react(clientGoneError())),
    }
    let answer: HttpResponse
    try {
      answer = await app(exchange)
    } catch (error) {
      answer = toFailureResponse(error)
    }
    return toResponse(answer, request, gone.abort)
  }
}

function toResponse(
  { status, headers, body }: HttpResponse,
  { method }: Request,
  abort: () => void,
): Response {
  if (method === 'HEAD' || status === 204 || status === 304 || body === undefined) {
    if (isStreamBody(body)) abandonStream(body[Symbol.asyncIterator]())
    return new Response(null, { status, headers })
  }
  return new Response(isStreamBody(body) ? toReadableStream(body, abort) : body, {
    status,
    headers,
  })
}

function toReadableStream(
  body: AsyncIterable<string | Uint8Array>,
  abort: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const chunks = body[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next()
      if (next.done) controller.close()
      else
        controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value)
    },
    cancel() {
      abort()
      abandonStream(chunks)
    },
  })
}

async function readRequestBody(request: Request, limit: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw bodyTooLongError(limit)
  if (request.bodyUsed)
    throw new BodyError(
      400,
      'the body was read by something in front of this handler; give it a clone of the request',
    )
  if (!request.body) return ''
  const reader = request.body.getReader()
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new BodyError(400, 'the body was cut off')
    })
    if (!done) length += value.byteLength
    if (length > limit) {
      reader.cancel().catch(noop)
      throw bodyTooLongError(limit)
    }
    text += decodeChunk(decoder, value)
    if (done) return text
  }
}

function decodeChunk(
  decoder: InstanceType<typeof TextDecoder>,
  bytes: Uint8Array | undefined,
): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined })
  } catch {
    throw new BodyError(400, 'the body is not UTF-8')
  }
}

// The signal of the request tells that the client left; the end of the answer's stream tells it
// where nobody passes that signal on.
function createLazyAbort(request: Request): { signal(): AbortSignal; abort(): void } {
  let controller: AbortController | undefined
  const abort = (): void => controller?.abort(clientGoneError())
  return {
    signal() {
      if (controller) return controller.signal
      controller = new AbortController()
      if (request.signal.aborted) abort()
      else request.signal.addEventListener('abort', abort, { once: true })
      return controller.signal
    },
    abort,
  }
}

function abandonStream(chunks: AsyncIterator<unknown>): void {
  void Promise.resolve(chunks.return?.()).catch(noop)
}

function noop(): void {
  return undefined
}
