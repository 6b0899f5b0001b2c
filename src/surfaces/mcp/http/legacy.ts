import type { Cancellation } from '../../../call/cancellation.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpAnswer, HttpRequest } from '../../http/exchange.ts'
import { refuse } from '../wire/answered.ts'
import type { McpServer } from '../server-type.ts'
import type { Answered } from '../wire/answered.ts'
import { Session } from '../session.ts'
import { idInUse, resultMessage, RPC, RpcError } from '../wire/messages.ts'
import type { Id, Message, Params } from '../wire/messages.ts'
import { ACCEPTED, eventAnswer, legacyAnswer, refusal } from './answers.ts'
import { HttpExchange } from './http-exchange.ts'
import { HttpSessions } from './sessions.ts'
import type { HttpSession } from './sessions.ts'

type Request = Message & { readonly kind: 'request' }

/** The streamable HTTP transport as older clients know it: with a session, streams that can be resumed, and questions on them. */
export class LegacyHttp {
  readonly #sessions: HttpSessions
  // Requests without a handshake are served too, as far as that goes.
  readonly #stranger: Session

  constructor(
    readonly server: McpServer,
    now: () => number,
  ) {
    this.#sessions = new HttpSessions(server, now)
    this.#stranger = new Session(server)
  }

  async answer(request: HttpRequest, { id, method, params }: Request): Promise<HttpAnswer> {
    if (method === 'initialize') return this.#initialize(id, params)
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject(), id)
    if (!session) return this.#answerStranger(request, id, method, params)
    const own = session.find(method)
    if (own) return legacyAnswer(attempt(id, () => own(params)))
    if (session.requests.has(id)) return legacyAnswer(refuse(id, idInUse().toObject()))
    const exchange = new SessionExchange(session, id, request)
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
    { method, params }: Message & { readonly kind: 'notification' },
  ): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (session && method === 'notifications/cancelled')
      session.requests.get(params['requestId'] as Id)?.()
    return ACCEPTED
  }

  /** Takes the answer to one of our questions. */
  take(request: HttpRequest, message: Message & { readonly kind: 'response' }): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (!session)
      return refusal(400, {
        code: RPC.invalidRequest,
        message: 'an answer needs the session that was asked',
      })
    session.take(message)
    return ACCEPTED
  }

  /** Opens the stream for what belongs to no request, or the one that was lost. */
  listen(request: HttpRequest): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (!session)
      return refusal(
        405,
        {
          code: RPC.invalidRequest,
          message: 'GET needs the session id of an older client; others use subscriptions/listen',
        },
        undefined,
        { allow: 'POST' },
      )
    const last = request.header('last-event-id')
    if (last === undefined) return eventAnswer(session.listen())
    const [, id = '', number = ''] = /^(\w+):(\d{1,15})$/.exec(last) ?? []
    const frames = session.resume(id, Number(number))
    return frames
      ? eventAnswer(frames)
      : refusal(400, {
          code: RPC.invalidRequest,
          message: 'the stream of this Last-Event-ID is unknown or kept no longer',
        })
  }

  end(request: HttpRequest): HttpAnswer {
    const session = this.#find(request)
    if (session instanceof RpcError) return refusal(404, session.toObject())
    if (!session)
      return refusal(
        405,
        { code: RPC.invalidRequest, message: 'DELETE needs the id of a session' },
        undefined,
        { allow: 'POST' },
      )
    this.#sessions.end(session)
    return { status: 204, headers: {} }
  }

  #initialize(id: Id, params: Params): HttpAnswer {
    const session = this.#sessions.open()
    return legacyAnswer(
      attempt(id, () => session.initialize(params)),
      { 'mcp-session-id': session.id },
    )
  }

  #find(request: HttpRequest): HttpSession | undefined | RpcError {
    const id = request.header('mcp-session-id')
    if (id === undefined) return undefined
    return (
      this.#sessions.find(id) ??
      new RpcError(
        RPC.invalidRequest,
        'this session is unknown or over: begin a new one with initialize',
      )
    )
  }

  #answerStranger(
    request: HttpRequest,
    id: Id,
    method: string,
    params: Params,
  ): Promise<HttpAnswer> {
    const exchange = new HttpExchange({
      id,
      caller: this.#stranger.caller,
      request,
      answer: legacyAnswer,
    })
    void this.server.answer(method, params, exchange).then((answered) => exchange.finish(answered))
    return exchange.opened
  }
}

class SessionExchange extends HttpExchange {
  constructor(
    readonly session: HttpSession,
    id: Id,
    request: HttpRequest,
  ) {
    super({
      id,
      caller: session.caller,
      request,
      openStream: () => session.openStream(() => this.cancel()),
      onGone: (stream, cancel) => session.leave(stream, cancel),
      onEnd: (stream) => session.finish(stream),
      answer: legacyAnswer,
    })
  }

  async request(
    method: string,
    params: Params,
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

function attempt(id: Id, work: () => object): Answered {
  try {
    return { text: resultMessage(id, work()) }
  } catch (error) {
    if (error instanceof RpcError) return refuse(id, error.toObject())
    throw error
  }
}
