import { onAbort } from '../../call/on-abort.ts'
import { cutBasePath } from './base-path.ts'
import { BodyError, bodyTooLong, clientGone, isStream } from './exchange.ts'
import type { HttpAnswer, HttpApp, HttpRequest } from './exchange.ts'
import type { Handler } from './handler-type.ts'
import { outside, refuse, refuseThrown } from './refuse.ts'

/** Serves an app as a fetch handler, as Hono, Bun, Deno and workers take it. */
export function fetchHandler(
  app: HttpApp,
  { basePath = '' }: { readonly basePath?: string } = {},
): Handler {
  return async (request) => {
    const url = new URL(request.url)
    const path = cutBasePath(url.pathname, basePath)
    if (path === undefined) return toResponse(refuse(outside(basePath)), request, nothing)
    const gone = lazyAbort(request)
    const exchange: HttpRequest = {
      method: request.method,
      path,
      search: url.search.slice(1),
      // Where nothing was sent over a wire, the address says which host was meant.
      header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
      text: (limit) => readBody(request, limit),
      get signal() {
        return gone.signal()
      },
      onGone: (react) => void onAbort(gone.signal(), () => react(clientGone())),
    }
    let answer: HttpAnswer
    try {
      answer = await app(exchange)
    } catch (error) {
      answer = refuseThrown(error)
    }
    return toResponse(answer, request, gone.abort)
  }
}

function toResponse(
  { status, headers, body }: HttpAnswer,
  { method }: Request,
  abort: () => void,
): Response {
  if (method === 'HEAD' || status === 204 || status === 304 || body === undefined) {
    if (isStream(body)) leave(body[Symbol.asyncIterator]())
    return new Response(null, { status, headers })
  }
  return new Response(isStream(body) ? toReadable(body, abort) : body, { status, headers })
}

function toReadable(
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
      leave(chunks)
    },
  })
}

async function readBody(request: Request, limit: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw bodyTooLong(limit)
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
      reader.cancel().catch(nothing)
      throw bodyTooLong(limit)
    }
    text += decode(decoder, value)
    if (done) return text
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array | undefined): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined })
  } catch {
    throw new BodyError(400, 'the body is not UTF-8')
  }
}

// The signal of the request tells that the client left; the end of the answer's stream tells it where nobody passes that signal on.
function lazyAbort(request: Request): { signal(): AbortSignal; abort(): void } {
  let controller: AbortController | undefined
  const abort = (): void => controller?.abort(clientGone())
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

function leave(chunks: AsyncIterator<unknown>): void {
  void Promise.resolve(chunks.return?.()).catch(nothing)
}

function nothing(): void {
  return undefined
}
