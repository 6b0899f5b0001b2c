import { isUtf8 } from 'node:buffer'
import { ToolError } from '../../contract/tool-error.ts'
import { Cancellation } from '../../call/cancellation.ts'
import { isModern, mayBeLost, readCaller } from './exchange.ts'
import type { Caller, Exchange } from './exchange.ts'
import { refuse } from './wire/answered.ts'
import type { McpServer, ServerChange } from './server-type.ts'
import type { Answered } from './wire/answered.ts'
import { Session } from './session.ts'
import {
  errorMessage,
  idInUse,
  notificationMessage,
  readMessage,
  resultMessage,
  RPC,
  RpcError,
} from './wire/messages.ts'
import type { Id, Message, Params } from './wire/messages.ts'
import { Until } from '../wire/until.ts'
import type { Writer } from '../wire/writer.ts'

type Request = Message & { readonly kind: 'request' }

/** A client behind one pair of streams. Each request is taken by what it says itself, so that both generations may be mixed. */
export class Connection {
  readonly #session: Session
  readonly #requests = new Map<Id, StreamExchange>()
  /** Requests that are being answered; open subscriptions do not count. */
  running = 0
  readonly #until = new Until()

  constructor(
    readonly server: McpServer,
    readonly writer: Pick<Writer, 'write' | 'offer'>,
  ) {
    this.#session = new Session(server)
  }

  /** Takes one line. */
  take(line: Buffer): void {
    const message = this.#read(line)
    if (!message) return
    if (message.kind === 'request') void this.#answer(message)
    else if (message.kind === 'response') this.#session.take(message)
    else if (message.kind === 'invalid')
      this.writer.write(
        errorMessage(message.id, { code: RPC.invalidRequest, message: message.problem }),
      )
    else if (message.method === 'notifications/cancelled') this.#cancel(message.params)
  }

  /** Tells an older client of a change; modern ones subscribe. */
  tell(change: ServerChange): void {
    const text = this.#session.notificationOf(change)
    if (text !== undefined) this.writer.write(text)
  }

  /** Resolves when no call is being answered any more, or after a time. */
  idle(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#until.wait(() => this.running === 0, milliseconds, signal)
  }

  /** Resolves when everything is answered, subscriptions too, or after a time. */
  over(milliseconds: number): Promise<void> {
    return this.#until.wait(() => this.#requests.size === 0, milliseconds)
  }

  #read(line: Buffer): Message | undefined {
    try {
      if (!isUtf8(line)) throw new SyntaxError('it is not valid UTF-8')
      return readMessage(JSON.parse(line.toString('utf8')))
    } catch (error) {
      this.writer.write(
        errorMessage(undefined, {
          code: RPC.parse,
          message: `the line is not JSON: ${(error as Error).message}`,
        }),
      )
      return undefined
    }
  }

  async #answer({ id, method, params }: Request): Promise<void> {
    if (this.#requests.has(id)) return this.writer.write(errorMessage(id, idInUse().toObject()))
    const exchange = new StreamExchange(id, this.#session, this.writer)
    const counts = method === 'subscriptions/listen' ? 0 : 1
    this.#requests.set(id, exchange)
    this.running += counts
    const answered = await this.#dispatch(method, params, exchange)
    this.#requests.delete(id)
    if (!exchange.cancellation.aborted) this.writer.write(answered.text)
    this.running -= counts
    this.#until.tell()
  }

  async #dispatch(method: string, params: Params, exchange: StreamExchange): Promise<Answered> {
    try {
      // Only modern clients know server/discover: without its metadata it is a modern request with a fault.
      if (isModern(params) || method === 'server/discover') exchange.caller = readCaller(params)
      else {
        const own = this.#session.find(method)
        if (own) return { text: resultMessage(exchange.id, own(params)) }
      }
    } catch (error) {
      if (error instanceof RpcError) return refuse(exchange.id, error.toObject())
      throw error
    }
    return this.server.answer(method, params, exchange)
  }

  #cancel({ requestId }: Params): void {
    this.#requests.get(requestId as Id)?.cancel()
  }
}

class StreamExchange implements Exchange {
  caller: Caller
  readonly cancellation = new Cancellation()

  constructor(
    readonly id: Id,
    readonly session: Session,
    readonly writer: Connection['writer'],
  ) {
    this.caller = session.caller
  }

  cancel(): void {
    this.cancellation.cancel(new ToolError('CANCELLED', 'the client cancelled the request'))
  }

  notify(method: string, params: Params): void {
    if (this.cancellation.aborted) return
    const text = notificationMessage(method, params)
    if (mayBeLost(method)) this.writer.offer(text)
    else this.writer.write(text)
  }

  request(method: string, params: Params, signal: AbortSignal | Cancellation): Promise<unknown> {
    return this.session.ask(method, params, signal, (text) => this.writer.write(text))
  }
}
