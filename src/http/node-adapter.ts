/**
 * Serves an app by node:http: the request, the response, and clients that disconnect.
 */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ToolError } from '../protocol/tool-error.ts'
import type { HttpApp, HttpRequest, HttpResponse } from './exchange.ts'
import {
  BodyError,
  bodyTooLongError,
  clientGoneError,
  isStreamBody,
  outsideBasePathError,
  splitTarget,
  stripBasePath,
  toBodyText,
  toFailureResponse,
  toRefusalResponse,
} from './exchange.ts'

type NodeListenerOptions = {
  /** The part of the path that is not the app's: `''` or `/x`. */
  readonly basePath?: string
  /**
   * The listener is told of `Expect: 100-continue` before anything was said, so that a refused body
   * is never sent.
   */
  readonly expectContinue?: boolean
}

/** What `http.createServer` and Express take as a listener. */
type NodeListener = (request: NodeMessage, response: ServerResponse) => void

/** Serves an app by node:http without objects in between: no Request, no Response, no streams. */
export function createNodeListener(
  app: HttpApp,
  { basePath = '', expectContinue = false }: NodeListenerOptions = {},
): NodeListener {
  return (message, response) => {
    const target =
      basePath === ''
        ? message.url!
        : stripTargetBase(message.originalUrl ?? message.url!, basePath)
    if (target === undefined)
      return void sendResponse(message, response, toRefusalResponse(outsideBasePathError(basePath)))
    void serveRequest(
      app,
      new NodeRequest(message, response, target, expectContinue),
      message,
      response,
    )
  }
}

async function serveRequest(
  app: HttpApp,
  request: NodeRequest,
  message: NodeMessage,
  response: ServerResponse,
): Promise<void> {
  let answer
  try {
    answer = await app(request)
  } catch (error) {
    answer = toFailureResponse(error)
  }
  try {
    await sendResponse(message, response, answer)
  } catch {
    // An answer that cannot be sent, such as one with a line break in a header.
    response.destroy()
  } finally {
    request.finish()
  }
}

function stripTargetBase(target: string, basePath: string): string | undefined {
  const { path, search } = splitTarget(target)
  const rest = stripBasePath(path, basePath)
  return rest === undefined || search === '' ? rest : `${rest}?${search}`
}

/**
 * A request as Express may leave it behind: rewritten below a mount point, its body read already.
 */
export type NodeMessage = IncomingMessage & {
  readonly originalUrl?: string
  readonly body?: unknown
}

/** A request of node:http, with nothing made before somebody asks for it. */
class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly search: string
  private readonly authority: string | undefined
  private controller: AbortController | undefined
  private reactions: ((why: ToolError) => void)[] | undefined
  private stopListening: (() => void) | undefined

  constructor(
    private readonly message: NodeMessage,
    private readonly response: ServerResponse,
    target: string,
    private readonly expects: boolean,
  ) {
    this.method = message.method ?? 'GET'
    const { path, search } = splitTarget(target)
    this.path = path
    this.search = search
    // A whole address says the host, whatever the header says.
    this.authority =
      message.url?.startsWith('/') === false ? splitTarget(message.url).authority : undefined
  }

  header(name: string): string | undefined {
    if (name === 'host') return this.authority ?? readHostHeader(this.message)
    const value = this.message.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }

  text(limit: number): Promise<string> {
    const { message } = this
    if (Number(message.headers['content-length'] ?? 0) > limit)
      return Promise.reject(bodyTooLongError(limit))
    if (message.readableEnded || message.readableDidRead) return readParsedBody(message, limit)
    if (this.expects) this.response.writeContinue()
    return readMessageBody(message, limit)
  }

  get signal(): AbortSignal {
    if (this.controller) return this.controller.signal
    const controller = (this.controller = new AbortController())
    this.onDisconnect((why) => controller.abort(why))
    return controller.signal
  }

  onDisconnect(react: (why: ToolError) => void): void {
    if (this.message.socket.destroyed) {
      if (!this.response.writableFinished) react(clientGoneError())
      return
    }
    this.reactions ??= this.watchClient()
    this.reactions.push(react)
  }

  /** The answer is sent: from here on nothing aborts any more. */
  finish(): void {
    this.stopListening?.()
  }

  private watchClient(): ((why: ToolError) => void)[] {
    const reactions: ((why: ToolError) => void)[] = []
    this.stopListening = onSocketClose(this.message.socket, (why) => {
      if (!this.response.writableFinished) for (const react of reactions) react(why)
    })
    return reactions
  }
}

// Node keeps the first of several; whoever decides by it has to see that there are more.
function readHostHeader({ headers, rawHeaders }: NodeMessage): string | undefined {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]!.length === 4 && rawHeaders[index]!.toLowerCase() === 'host') hosts += 1
  return hosts < 2
    ? headers.host
    : rawHeaders
        .filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === 'host')
        .join(', ')
}

function readMessageBody(message: NodeMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const stop = (): void => {
      message.off('data', take).off('end', end).off('close', cut).off('error', cut)
    }
    const take = (chunk: Buffer): void => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limit) return
      // It flows on to nowhere; whoever sends the answer decides for how long.
      stop()
      reject(bodyTooLongError(limit))
    }
    const end = (): void => {
      stop()
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)
      if (isUtf8(bytes)) resolve(bytes.toString())
      else reject(new BodyError(400, 'the body is not UTF-8'))
    }
    const cut = (): void => {
      stop()
      message.on('error', () => undefined)
      reject(new BodyError(400, 'the body was cut off'))
    }
    if (message.destroyed) return cut()
    message.on('data', take).on('end', end).on('close', cut).on('error', cut)
  })
}

// Something in front, like express.json(), has read the body and left what it found.
async function readParsedBody({ body, headers }: NodeMessage, limit: number): Promise<string> {
  if (
    body === undefined &&
    (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
  )
    throw new BodyError(
      400,
      'the body was read by something in front of this handler that did not leave it in req.body',
    )
  const text = body === undefined ? '' : toBodyText(body)
  if (Buffer.byteLength(text) > limit) throw bodyTooLongError(limit)
  return text
}

type DisconnectListener = (why: ToolError) => void

const listenersBySocket = new WeakMap<Socket, Set<DisconnectListener>>()

/**
 * Calls `react` when the connection closes or is given up; gives the function that stops it.
 * However many requests wait, a socket has one listener of ours: more than ten would be a warning.
 */
function onSocketClose(socket: Socket, react: DisconnectListener): () => void {
  const reactions = listenersBySocket.get(socket) ?? watchSocket(socket)
  reactions.add(react)
  return () => void reactions.delete(react)
}

/** Ends what runs for a connection, which itself stays open for the last words. */
export function abandonSocket(socket: Socket, why: ToolError): void {
  for (const react of [...(listenersBySocket.get(socket) ?? [])]) react(why)
}

function watchSocket(socket: Socket): Set<DisconnectListener> {
  const reactions = new Set<DisconnectListener>()
  listenersBySocket.set(socket, reactions)
  socket.once('close', () => abandonSocket(socket, clientGoneError()))
  return reactions
}

const MAX_DRAIN_MS = 30_000
const MAX_SILENCE_MS = 5_000

/** Sends an answer; a stream is sent when the promise resolves. */
function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpResponse,
): void | Promise<void> {
  const { status, headers, body } = answer
  if (response.destroyed || response.headersSent) return abandonBody(body)
  if (isStreamBody(body)) return sendStream(request, response, answer, body)
  const empty = status === 204 || status === 304
  const length = Buffer.byteLength(body ?? '')
  const complete = empty ? { ...headers } : { ...headers, 'content-length': String(length) }
  if (!request.complete) return respondAndDrain(request, response, status, complete, body)
  response.writeHead(status, complete)
  if (empty || request.method === 'HEAD' || body === undefined) response.end()
  else response.end(body)
}

// The client is still sending. Closing on unread bytes would reset the connection, and it might
// never see the answer: so the answer goes first, what still comes is thrown away for a while, then
// the connection ends.
function respondAndDrain(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: { readonly [name: string]: string },
  body: HttpResponse['body'],
): void {
  response.writeHead(status, { ...headers, connection: 'close' })
  if (body !== undefined && request.method !== 'HEAD' && !isStreamBody(body)) response.write(body)
  else response.flushHeaders()
  let silence: NodeJS.Timeout | undefined
  const end = (): void => {
    clearTimeout(longest)
    clearTimeout(silence)
    request.off('data', listen).off('end', end).off('close', end)
    response.end()
  }
  const listen = (): void => {
    clearTimeout(silence)
    silence = setTimeout(end, MAX_SILENCE_MS)
  }
  const longest = setTimeout(end, MAX_DRAIN_MS)
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  if (request.destroyed) return end()
  listen()
  request.on('data', listen).once('end', end).once('close', end).resume()
}

async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: HttpResponse,
  body: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  response.on('error', () => undefined)
  response.writeHead(status, request.complete ? headers : { ...headers, connection: 'close' })
  response.flushHeaders()
  try {
    if (request.method === 'HEAD') abandonBody(body)
    else await writeChunks(response, body)
    response.end()
  } catch {
    // Too late for a status: an end without the last chunk tells the client that something is
    // missing.
    response.destroy()
  }
}

async function writeChunks(
  response: ServerResponse & { flush?(): void },
  body: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const chunks = body[Symbol.asyncIterator]()
  const orGone = createDisconnectRace(response)
  for (;;) {
    const next = await orGone(chunks.next())
    // Not waited for: a generator in the middle of something ends when that does.
    if (next === DISCONNECTED) return void Promise.resolve(chunks.return?.()).catch(() => undefined)
    if (next.done) return
    const full = !response.write(next.value)
    // Put there by middleware that compresses.
    response.flush?.()
    if (full) await orGone(new Promise<void>((resolve) => response.once('drain', resolve)))
  }
}

const DISCONNECTED = Symbol('gone')

// Waits for one thing after the other, or for the end of the connection. A race with one promise
// for that end would keep everything that was ever waited for.
function createDisconnectRace(
  response: ServerResponse,
): <Value>(work: Promise<Value>) => Promise<Value | typeof DISCONNECTED> {
  let isGone = response.destroyed
  let leave: () => void = () => undefined
  response.once('close', () => {
    isGone = true
    leave()
  })
  return (work) =>
    new Promise((resolve, reject) => {
      leave = () => resolve(DISCONNECTED)
      work.then(resolve, reject)
      if (isGone) leave()
    })
}

function abandonBody(body: HttpResponse['body']): void {
  if (isStreamBody(body))
    void Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => undefined)
}
