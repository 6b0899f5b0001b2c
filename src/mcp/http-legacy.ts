/**
 * The HTTP transport for clients with a session: resumable streams, and questions on them.
 */

import { randomUUID } from 'node:crypto'
import type { Cancellation } from '../core/call.ts'
import { onAbort } from '../core/lifecycle.ts'
import type { HttpRequest, HttpResponse } from '../http/exchange.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { McpSession } from './connection.ts'
import {
  ACCEPTED_RESPONSE,
  createRpcRefusal,
  McpHttpExchange,
  SseStream,
  toEventResponse,
  toLegacyResponse,
} from './http-exchange.ts'
import { duplicateIdError, formatResult, RPC_CODES, RpcError, toErrorResponse } from './protocol.ts'
import type { RpcId, RpcMessage, RpcParams, RpcResponse } from './protocol.ts'
import type { McpServer, ServerChange } from './server-types.ts'

type LegacyRequest = RpcMessage & { readonly kind: 'request' }

/**
 * The streamable HTTP transport as older clients know it: with a session, streams that can be
 * resumed, and questions on them.
 */
export class LegacyHttpTransport {
  readonly #sessions: McpHttpSessionStore
  // Requests without a handshake are served too, as far as that goes.
  readonly #stranger: McpSession

  constructor(
    readonly server: McpServer,
    now: () => number,
  ) {
    this.#sessions = new McpHttpSessionStore(server, now)
    this.#stranger = new McpSession(server)
  }

  async answer(request: HttpRequest, { id, method, params }: LegacyRequest): Promise<HttpResponse> {
    if (method === 'initialize') return this.#initialize(id, params)
    const session = this.#find(request)
    if (session instanceof RpcError) return createRpcRefusal(404, session.toObject(), id)
    if (!session) return this.#answerStranger(request, id, method, params)
    const own = session.find(method)
    if (own) return toLegacyResponse(tryToAnswer(id, () => own(params)))
    if (session.requests.has(id))
      return toLegacyResponse(toErrorResponse(id, duplicateIdError().toObject()))
    const exchange = new LegacyHttpExchange(session, id, request)
    session.requests.set(id, () => exchange.cancel())
    void this.server.answer(method, params, exchange).then((answered) => {
      session.requests.delete(id)
      exchange.finish(answered)
    })
    return exchange.opened
  }

  /** Takes a notification. */
  note(
    request: HttpRequest,
    { method, params }: RpcMessage & { readonly kind: 'notification' },
  ): HttpResponse {
    const session = this.#find(request)
    if (session instanceof RpcError) return createRpcRefusal(404, session.toObject())
    if (session && method === 'notifications/cancelled')
      session.requests.get(params['requestId'] as RpcId)?.()
    return ACCEPTED_RESPONSE
  }

  /** Takes the answer to one of our questions. */
  take(request: HttpRequest, message: RpcMessage & { readonly kind: 'response' }): HttpResponse {
    const session = this.#find(request)
    if (session instanceof RpcError) return createRpcRefusal(404, session.toObject())
    if (!session)
      return createRpcRefusal(400, {
        code: RPC_CODES.invalidRequest,
        message: 'an answer needs the session that was asked',
      })
    session.take(message)
    return ACCEPTED_RESPONSE
  }

  /** Opens the stream for what belongs to no request, or the one that was lost. */
  listen(request: HttpRequest): HttpResponse {
    const session = this.#find(request)
    if (session instanceof RpcError) return createRpcRefusal(404, session.toObject())
    if (!session)
      return createRpcRefusal(
        405,
        {
          code: RPC_CODES.invalidRequest,
          message: 'GET needs the session id of an older client; others use subscriptions/listen',
        },
        undefined,
        { allow: 'POST' },
      )
    const last = request.header('last-event-id')
    if (last === undefined) return toEventResponse(session.listen())
    const [, id = '', number = ''] = /^(\w+):(\d{1,15})$/.exec(last) ?? []
    const frames = session.resume(id, Number(number))
    return frames
      ? toEventResponse(frames)
      : createRpcRefusal(400, {
          code: RPC_CODES.invalidRequest,
          message: 'the stream of this Last-Event-ID is unknown or kept no longer',
        })
  }

  end(request: HttpRequest): HttpResponse {
    const session = this.#find(request)
    if (session instanceof RpcError) return createRpcRefusal(404, session.toObject())
    if (!session)
      return createRpcRefusal(
        405,
        { code: RPC_CODES.invalidRequest, message: 'DELETE needs the id of a session' },
        undefined,
        { allow: 'POST' },
      )
    this.#sessions.end(session)
    return { status: 204, headers: {} }
  }

  #initialize(id: RpcId, params: RpcParams): HttpResponse {
    const session = this.#sessions.open()
    return toLegacyResponse(
      tryToAnswer(id, () => session.initialize(params)),
      { 'mcp-session-id': session.id },
    )
  }

  #find(request: HttpRequest): McpHttpSession | undefined | RpcError {
    const id = request.header('mcp-session-id')
    if (id === undefined) return undefined
    return (
      this.#sessions.find(id) ??
      new RpcError(
        RPC_CODES.invalidRequest,
        'this session is unknown or over: begin a new one with initialize',
      )
    )
  }

  #answerStranger(
    request: HttpRequest,
    id: RpcId,
    method: string,
    params: RpcParams,
  ): Promise<HttpResponse> {
    const exchange = new McpHttpExchange({
      id,
      caller: this.#stranger.caller,
      request,
      answer: toLegacyResponse,
    })
    void this.server.answer(method, params, exchange).then((answered) => exchange.finish(answered))
    return exchange.opened
  }
}

class LegacyHttpExchange extends McpHttpExchange {
  constructor(
    readonly session: McpHttpSession,
    id: RpcId,
    request: HttpRequest,
  ) {
    super({
      id,
      caller: session.caller,
      request,
      openStream: () => session.openStream(() => this.cancel()),
      onGone: (stream, cancel) => session.leave(stream, cancel),
      onEnd: (stream) => session.finish(stream),
      answer: toLegacyResponse,
    })
  }

  async request(
    method: string,
    params: RpcParams,
    signal: AbortSignal | Cancellation,
  ): Promise<unknown> {
    if (!this.canStream)
      throw new ToolError(
        'ANSWER_REQUIRED',
        'the client cannot be asked in the middle of this request: it takes no stream of events',
        { suggestion: 'Accept text/event-stream' },
      )
    return this.session.ask(method, params, signal, (text) => this.stream().push(text))
  }
}

function tryToAnswer(id: RpcId, work: () => object): RpcResponse {
  try {
    return { text: formatResult(id, work()) }
  } catch (error) {
    if (error instanceof RpcError) return toErrorResponse(id, error.toObject())
    throw error
  }
}

const SESSION_IDLE_MS = 30 * 60_000
const STREAM_RESUME_MS = 30_000
const MAX_FINISHED_STREAMS = 100
const MAX_SESSIONS = 10_000

/** A stream that its client can come back to, and what cancels the request that it belongs to. */
type ResumableStream = { readonly stream: SseStream; cancel: () => void; timer?: NodeJS.Timeout }

/**
 * An older client over HTTP: its session, its requests, and the streams that it may come back to.
 */
export class McpHttpSession extends McpSession {
  readonly id = randomUUID()
  /** The requests that are being answered, each by what cancels it. */
  readonly requests = new Map<RpcId, () => void>()
  lastSeenAt = 0
  // Carries what belongs to no request.
  #standalone: SseStream | undefined
  readonly #streams = new Map<string, ResumableStream>()
  #streamCount = 0

  /** True while the client waits for something. */
  get isBusy(): boolean {
    return this.requests.size > 0 || this.#standalone?.hasReader === true
  }

  /** A stream for one request; the client can resume it, if it knows how to. */
  openStream(cancel: () => void): SseStream {
    if (this.caller.version < '2025-11-25') return new SseStream()
    const stream = new SseStream(`s${++this.#streamCount}`)
    this.#streams.set(stream.id!, { stream, cancel })
    return stream
  }

  /** The frames of a stream that the client lost; undefined when it is kept no longer. */
  resume(id: string, after: number): AsyncIterableIterator<string> | undefined {
    const lost = this.#streams.get(id)
    return lost?.stream.frames(after, () => this.leave(lost.stream, lost.cancel))
  }

  /** The client left a stream: it has some time to come back before its request is cancelled. */
  leave(stream: SseStream, cancel: () => void): void {
    const left = stream.id === undefined ? undefined : this.#streams.get(stream.id)
    if (!left || this.server.stopping.aborted) return cancel()
    this.#forgetLater(left)
  }

  /** The request of a stream is over: for a while the client can still fetch what it missed. */
  finish({ id }: SseStream): void {
    const finished = id === undefined ? undefined : this.#streams.get(id)
    if (!finished) return
    this.#forgetLater(finished)
    if (this.#streams.size > MAX_FINISHED_STREAMS)
      for (const other of this.#streams.values())
        if (other.stream.isEnded) return this.#forget(other)
  }

  /** The stream for what belongs to no request; a new one takes the place of the one before. */
  listen(): AsyncIterableIterator<string> {
    this.#standalone?.end()
    const stream = (this.#standalone = new SseStream())
    return stream.frames(undefined, () => {
      if (this.#standalone === stream) this.#standalone = undefined
    })
  }

  tell(change: ServerChange): void {
    const text = this.notificationOf(change)
    if (text !== undefined) this.#standalone?.offer(text)
  }

  /** Ends what would never end by itself. */
  stop(): void {
    this.#standalone?.end()
  }

  close(): void {
    this.stop()
    for (const cancel of [...this.requests.values()]) cancel()
    for (const resumable of [...this.#streams.values()]) {
      resumable.stream.end()
      this.#forget(resumable)
    }
  }

  #forgetLater(resumable: ResumableStream): void {
    clearTimeout(resumable.timer)
    resumable.timer = setTimeout(() => {
      if (!resumable.stream.hasReader) this.#forget(resumable)
      else if (resumable.stream.isEnded) this.#forgetLater(resumable)
    }, STREAM_RESUME_MS).unref()
  }

  #forget(resumable: ResumableStream): void {
    clearTimeout(resumable.timer)
    this.#streams.delete(resumable.stream.id!)
    if (!resumable.stream.isEnded) resumable.cancel()
  }
}

/** The sessions of all older clients. */
class McpHttpSessionStore {
  readonly #sessions = new Map<string, McpHttpSession>()

  constructor(
    readonly server: McpServer,
    readonly now: () => number,
  ) {
    const stopListening = server.onChange((change) => {
      for (const session of this.#sessions.values()) session.tell(change)
    })
    onAbort(server.stopping, () => {
      stopListening()
      for (const session of this.#sessions.values()) session.stop()
    })
  }

  open(): McpHttpSession {
    this.#forgetIdle()
    const session = new McpHttpSession(this.server)
    session.lastSeenAt = this.now()
    this.#sessions.set(session.id, session)
    return session
  }

  find(id: string): McpHttpSession | undefined {
    const session = this.#sessions.get(id)
    if (!session) return undefined
    session.lastSeenAt = this.now()
    // Kept in the order of use, so that the one idle longest stands first.
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session
  }

  end(session: McpHttpSession): void {
    this.#sessions.delete(session.id)
    session.close()
  }

  #forgetIdle(): void {
    const oldest = this.now() - SESSION_IDLE_MS
    for (const session of this.#sessions.values()) {
      const full = this.#sessions.size >= MAX_SESSIONS
      if (session.lastSeenAt > oldest && !full) return
      if (full || !session.isBusy) this.end(session)
    }
  }
}
