import { isUtf8 } from 'node:buffer'
import { ToolError } from '../../contract/tool-error.ts'
import { Cancellation } from '../../call/cancellation.ts'
import { onAbort } from '../../call/on-abort.ts'
import { isModern, readCaller } from './exchange.ts'
import type { Caller, Exchange } from './exchange.ts'
import { refuse } from './wire/answered.ts'
import type { McpServer, ServerChange } from './server-type.ts'
import type { Answered } from './wire/answered.ts'
import { Session } from './session.ts'
import { errorMessage, notificationMessage, readMessage, resultMessage, RPC, RpcError } from './wire/messages.ts'
import type { Id, Message, Params } from './wire/messages.ts'

type Request = Message & { readonly kind: 'request' }

/** A client behind one pair of streams. Each request is taken by what it says itself, so that both generations may be mixed. */
export class Connection {
  readonly #session: Session
  readonly #requests = new Map<Id, StreamExchange>()
  /** Requests that are being answered; open subscriptions do not count. */
  running = 0
  #onIdle: (() => void) | undefined

  constructor(readonly server: McpServer, readonly send: (message: string) => void) {
    this.#session = new Session(server)
  }

  /** Takes one line. */
  take(line: Buffer): void {
    const message = this.#read(line)
    if (!message) return
    if (message.kind === 'request') void this.#answer(message)
    else if (message.kind === 'response') this.#session.take(message)
    else if (message.kind === 'invalid') this.send(errorMessage(message.id, { code: RPC.invalidRequest, message: message.problem }))
    else if (message.method === 'notifications/cancelled') this.#cancel(message.params)
  }

  /** Tells an older client of a change; modern ones subscribe. */
  tell(change: ServerChange): void {
    const text = this.#session.notificationOf(change)
    if (text !== undefined) this.send(text)
  }

  /** Resolves when nothing is being answered any more, or after a time. */
  async idle(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (this.running === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      const stopListening = signal && onAbort(signal, resolve)
      this.#onIdle = () => {
        clearTimeout(timer)
        stopListening?.()
        resolve()
      }
    })
  }

  #read(line: Buffer): Message | undefined {
    try {
      if (!isUtf8(line)) throw new SyntaxError('it is not valid UTF-8')
      return readMessage(JSON.parse(line.toString('utf8')))
    } catch (error) {
      this.send(errorMessage(undefined, { code: RPC.parse, message: `the line is not JSON: ${(error as Error).message}` }))
      return undefined
    }
  }

  async #answer({ id, method, params }: Request): Promise<void> {
    if (this.#requests.has(id)) return this.send(errorMessage(id, { code: RPC.invalidRequest, message: 'this id is in use by a request that is not answered yet' }))
    const exchange = new StreamExchange(id, this.#session, this.send)
    const counts = method === 'subscriptions/listen' ? 0 : 1
    this.#requests.set(id, exchange)
    this.running += counts
    const answered = await this.#dispatch(method, params, exchange)
    this.#requests.delete(id)
    if (!exchange.cancellation.aborted) this.send(answered.text)
    this.running -= counts
    if (this.running === 0) this.#onIdle?.()
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

  constructor(readonly id: Id, readonly session: Session, readonly send: (message: string) => void) {
    this.caller = session.caller
  }

  cancel(): void {
    this.cancellation.cancel(new ToolError('CANCELLED', 'the client cancelled the request'))
  }

  notify(method: string, params: Params): void {
    if (!this.cancellation.aborted) this.send(notificationMessage(method, params))
  }

  request(method: string, params: Params, signal: AbortSignal | Cancellation): Promise<unknown> {
    return this.session.ask(method, params, signal, this.send)
  }
}
