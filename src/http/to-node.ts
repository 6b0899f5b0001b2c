import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { compact } from '../util/values.ts'
import { splitTarget, stripBasePath, toBodyText } from './exchange.ts'
import type { NodeMessage } from './node-adapter.ts'
import { createNodeListener } from './node-adapter.ts'
import type { Handler, MountedHandler, NodeHandler } from './options.ts'

/**
 * The listener for a fetch handler: straight to the app behind it where there is one, else by
 * Request and Response.
 */
export function createNodeHandler(
  handler: Handler,
  mounted: MountedHandler | undefined,
): NodeHandler {
  if (!mounted)
    return (request, response, next) =>
      void serveByFetch(handler, request, response).catch((error: unknown) =>
        next ? next(error) : response.destroy(),
      )
  const { app, basePath } = mounted
  const serve = createNodeListener(app, { basePath })
  return (request: NodeMessage, response, next) => {
    // What lies outside belongs to whoever comes next.
    if (
      next &&
      stripBasePath(splitTarget(request.originalUrl ?? request.url ?? '/').path, basePath) ===
        undefined
    )
      return next()
    serve(request, response)
  }
}

async function serveByFetch(
  handler: Handler,
  message: NodeMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const answer = await handler(toFetchRequest(message, gone.signal))
  const cookies = answer.headers.getSetCookie()
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    ...compact({ 'set-cookie': cookies.length > 0 ? cookies : undefined }),
  })
  if (!answer.body) return void response.end()
  response.flushHeaders()
  for await (const chunk of answer.body) {
    if (response.destroyed) break
    if (!response.write(chunk))
      await Promise.race([waitForEvent(response, 'drain'), waitForEvent(response, 'close')])
  }
  response.end()
}

function toFetchRequest(message: NodeMessage, signal: AbortSignal): Request {
  const { path, search } = splitTarget(message.originalUrl ?? message.url ?? '/')
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers))
    for (const each of [value].flat()) if (each !== undefined) headers.append(name, each)
  const { method = 'GET' } = message
  const host = message.headers.host ?? 'localhost'
  const url = `http://${host}${path}${search === '' ? '' : `?${search}`}`
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal })
  const body = toRequestBody(message)
  return new Request(url, { method, headers, signal, body, duplex: 'half' })
}

// Something in front may have read the body already.
function toRequestBody(message: NodeMessage): string | ReadableStream {
  const { body } = message
  const isRead = message.readableEnded || message.readableDidRead
  if (!isRead || body === undefined) return Readable.toWeb(message) as ReadableStream
  return toBodyText(body)
}

function waitForEvent(response: ServerResponse, event: string): Promise<void> {
  return new Promise((resolve) => response.once(event, () => resolve()))
}
