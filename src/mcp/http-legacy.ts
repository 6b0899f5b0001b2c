/**
 * The HTTP transport for clients with a session: resumable streams, and questions on them.
 */

import { randomUUID } from 'node:crypto'
import type { Cancellation } from '../core/call.ts'
import { onAbort } from '../core/lifecycle.ts'
import type { HttpRequest, HttpResponse } from '../http/exchange.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { MINUTE_MS } from '../util/units.ts'
import { McpSession } from './connection.ts'
import {
  ACCEPTED_RESPONSE,
  createRpcRefusal,
  McpHttpExchange,
  SseStream,
  toEventResponse,
  toLegacyResponse,
} from './http-exchange.ts'
import type { RpcAnswer, RpcId, RpcNotification, RpcParams, RpcRequest } from './protocol.ts'
import { duplicateIdError, respondWith, toErrorResponse } from './protocol.ts'
import type { McpServer, ServerChange } from './server-types.ts'

/**
 * The streamable HTTP transport as older clients know it: with a session, streams that can be
 * resumed, and questions on them.
 */
export class LegacyHttpTransport {
  readonly #sessions: McpHttpSessionStore
  // Requests without a handshake are served too, as far as that is possible.
  readonly #anonymous: McpSession

  constructor(readonly server: McpServer) {
    this.#sessions = new McpHttpSessionStore(server)
    this.#anonymous = new McpSession(server)
  }

  async answer(request: HttpRequest, message: RpcRequest): Promise<HttpResponse> {
    const { id, method, params } = message
    if (method === 'initialize') {
      const session = this.#sessions.open()
      const answered = respondWith(id, () => session.initialize(params))
      return toLegacyResponse(answered, { 'mcp-session-id': session.id })
    }
    const session = this.#find(request)
    if (session === 'unknown') return refuseSession(id)
    if (!session) {
      const { client } = this.#anonymous
      return this.#dispatch(
        message,
        new McpHttpExchange({ message, client, request, answer: toLegacyResponse }),
      )
    }
    const own = session.find(method)
    if (own) return toLegacyResponse(respondWith(id, () => own(params)))
    if (session.requests.has(id)) return toLegacyResponse(toErrorResponse(id, duplicateIdError()))
    const exchange = new LegacyHttpExchange(session, message, request)
    session.requests.set(id, () => exchange.cancel())
    return this.#dispatch(message, exchange, () => session.requests.delete(id))
  }

  handleNotification(request: HttpRequest, { method, params }: RpcNotification): HttpResponse {
    const session = this.#find(request)
    if (session === 'unknown') return refuseSession()
    if (method === 'notifications/cancelled')
      session?.requests.get(params['requestId'] as RpcId)?.()
    return ACCEPTED_RESPONSE
  }

  /** Takes the answer to one of our questions. */
  acceptAnswer(request: HttpRequest, answer: RpcAnswer): HttpResponse {
    const session = this.#find(request)
    if (session === 'unknown') return refuseSession()
    if (!session) return createRpcRefusal(400, 'an answer needs the session that was asked')
    session.acceptAnswer(answer)
    return ACCEPTED_RESPONSE
  }

  /** Opens the stream for what belongs to no request, or the one that was lost. */
  listen(request: HttpRequest): HttpResponse {
    const session = this.#find(request)
    if (session === 'unknown') return refuseSession()
    if (!session)
      return createRpcRefusal(
        405,
        'GET needs the session id of an older client; others use subscriptions/listen',
        { headers: { allow: 'POST' } },
      )
    const last = request.header('last-event-id')
    if (last === undefined) return toEventResponse(session.listen())
    const [, id = '', number = ''] = /^(\w+):(\d{1,15})$/.exec(last) ?? []
    const frames = session.resume(id, Number(number))
    return frames
      ? toEventResponse(frames)
      : createRpcRefusal(400, 'the stream of this Last-Event-ID is unknown or kept no longer')
  }

  end(request: HttpRequest): HttpResponse {
    const session = this.#find(request)
    if (session === 'unknown') return refuseSession()
    if (!session)
      return createRpcRefusal(405, 'DELETE needs the id of a session', {
        headers: { allow: 'POST' },
      })
    this.#sessions.end(session)
    return { status: 204, headers: {} }
  }

  #find(request: HttpRequest): McpHttpSession | 'unknown' | undefined {
    const id = request.header('mcp-session-id')
    return id === undefined ? undefined : (this.#sessions.find(id) ?? 'unknown')
  }

  #dispatch(
    { method, params }: RpcRequest,
    exchange: McpHttpExchange,
    onAnswered?: () => void,
  ): Promise<HttpResponse> {
    void this.server.answer(method, params, exchange).then((answered) => {
      onAnswered?.()
      exchange.finish(answered)
    })
    return exchange.opened
  }
}

function refuseSession(id?: RpcId): HttpResponse {
  return createRpcRefusal(404, 'this session is unknown or over: begin a new one with initialize', {
    id,
  })
}

class LegacyHttpExchange extends McpHttpExchange {
  constructor(
    readonly session: McpHttpSession,
    message: RpcRequest,
    request: HttpRequest,
  ) {
    super({
      message,
      client: session.client,
      request,
      openStream: () => session.openStream(() => this.cancel()),
      onDisconnect: (stream, cancel) => session.leave(stream, cancel),
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

const SESSION_IDLE_MS = 30 * MINUTE_MS
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
    if (this.client.version < '2025-11-25') return new SseStream()
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

  announce(change: ServerChange): void {
    const text = this.formatChange(change)
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

  constructor(readonly server: McpServer) {
    const stopListening = server.onChange((change) => {
      for (const session of this.#sessions.values()) session.announce(change)
    })
    onAbort(server.stopping, () => {
      stopListening()
      for (const session of this.#sessions.values()) session.stop()
    })
  }

  open(): McpHttpSession {
    this.#forgetIdle()
    const session = new McpHttpSession(this.server)
    session.lastSeenAt = Date.now()
    this.#sessions.set(session.id, session)
    return session
  }

  find(id: string): McpHttpSession | undefined {
    const session = this.#sessions.get(id)
    if (!session) return undefined
    session.lastSeenAt = Date.now()
    // Kept in the order of use, so that the one idle longest is first.
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session
  }

  end(session: McpHttpSession): void {
    this.#sessions.delete(session.id)
    session.close()
  }

  #forgetIdle(): void {
    const oldest = Date.now() - SESSION_IDLE_MS
    for (const session of this.#sessions.values()) {
      const full = this.#sessions.size >= MAX_SESSIONS
      if (session.lastSeenAt > oldest && !full) return
      if (full || !session.isBusy) this.end(session)
    }
  }
}
