import type { Cancellation } from '../../../call/cancellation.ts'
import type { HttpAnswer, HttpRequest } from '../../http/exchange.ts'
import { refuse } from '../wire/answered.ts'
import type { McpServer } from '../server-type.ts'
import type { Answered } from '../wire/answered.ts'
import { Session } from '../session.ts'
import { resultMessage, RPC, RpcError } from '../wire/messages.ts'
import type { Id, Message, Params } from '../wire/messages.ts'
import { ACCEPTED, eventAnswer, legacyAnswer, refusal } from './answers.ts'
import { EventStream } from './events.ts'
import { HttpExchange } from './http-exchange.ts'
import { HttpSessions } from './sessions.ts'
import type { HttpSession } from './sessions.ts'

type Request = Message & { readonly kind: 'request' }

/** The streamable HTTP transport as older clients know it: with a session, streams that can be resumed, and questions on them. */
export class LegacyHttp {
  readonly #sessions: HttpSessions
  // Requests without a handshake are served too, as far as that goes.
  readonly #stranger: Session
  readonly #running = new WeakMap<Session, Map<Id, () => void>>()

  constructor(readonly server: McpServer, now: () => number) {
    this.#sessions = new HttpSessions(server, now)
    this.#stranger = new Session(server)
  }

  async answer(request: HttpRequest, { id, method, params }: Request): Promise<HttpAnswer> {
    if (method === 'initialize') return this.#initialize(id, params)
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject(), id)
    const own = session?.find(method)
    if (own) return legacyAnswer(attempt(id, () => own(params)))
    const exchange = session ? new SessionExchange(session, id, request) : new HttpExchange({ id, caller: this.#stranger.caller, request, openStream: () => new EventStream(), answer: legacyAnswer })
    const running = this.#runningOf(session ?? this.#stranger)
    if (session) running.set(id, () => exchange.cancel())
    void this.server.answer(method, params, exchange).then((answered) => {
      running.delete(id)
      exchange.finish(answered)
    })
    return exchange.opened
  }

  /** Takes a notification. */
  note(request: HttpRequest, { method, params }: Message & { readonly kind: 'notification' }): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (session && method === 'notifications/cancelled') this.#runningOf(session).get(params['requestId'] as Id)?.()
    return ACCEPTED
  }

  /** Takes the answer to one of our questions. */
  take(request: HttpRequest, message: Message & { readonly kind: 'response' }): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (!session) return refusal(400, { code: RPC.invalidRequest, message: 'an answer needs the session that was asked' })
    session.take(message)
    return ACCEPTED
  }

  /** Opens the stream for what belongs to no request, or the one that was lost. */
  listen(request: HttpRequest): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (!session) return refusal(405, { code: RPC.invalidRequest, message: 'GET needs the session id of an older client; others use subscriptions/listen' }, undefined, { allow: 'POST' })
    const [id = '', number = ''] = (request.header('last-event-id') ?? '').split(':')
    const lost = session.streams.get(id)
    if (lost) return eventAnswer(lost.frames(Number(number) || 0, () => session.leave(lost, () => undefined)))
    session.standalone?.end()
    const stream = (session.standalone = new EventStream())
    return eventAnswer(stream.frames())
  }

  end(request: HttpRequest): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (!session) return refusal(405, { code: RPC.invalidRequest, message: 'DELETE needs the id of a session' }, undefined, { allow: 'POST' })
    for (const cancel of this.#runningOf(session).values()) cancel()
    this.#sessions.end(session)
    return { status: 204, headers: {} }
  }

  #initialize(id: Id, params: Params): HttpAnswer {
    const session = this.#sessions.open()
    return legacyAnswer(attempt(id, () => session.initialize(params)), { 'mcp-session-id': session.id })
  }

  #find(request: HttpRequest): HttpSession | undefined | RpcError {
    const id = request.header('mcp-session-id')
    if (id === undefined) return undefined
    return this.#sessions.find(id) ?? new RpcError(RPC.invalidRequest, 'this session is unknown or over: begin a new one with initialize')
  }

  #runningOf(session: Session): Map<Id, () => void> {
    const known = this.#running.get(session)
    if (known) return known
    const running = new Map<Id, () => void>()
    this.#running.set(session, running)
    return running
  }
}

class SessionExchange extends HttpExchange {
  constructor(readonly session: HttpSession, id: Id, request: HttpRequest) {
    super({ id, caller: session.caller, request, openStream: () => session.openStream(), onGone: (stream, cancel) => session.leave(stream, cancel), answer: legacyAnswer })
  }

  request(method: string, params: Params, signal: AbortSignal | Cancellation): Promise<unknown> {
    return this.session.ask(method, params, signal, (text) => void this.send(text))
  }
}

function attempt(id: Id, work: () => object): Answered {
  try {
    return { text: resultMessage(id, work()) }
  } catch (error) {
    if (error instanceof RpcError) return refuse(id, error.toObject())
    throw error
  }
}
