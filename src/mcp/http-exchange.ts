/**
 * One request over HTTP, answered by one JSON document or by a stream of server-sent events.
 */

import { Cancellation } from '../core/call.ts'
import type { HttpRequest, HttpResponse } from '../http/exchange.ts'
import { ServerStoppedError } from '../http/exchange.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { MEBIBYTE } from '../util/units.ts'
import type {
  McpClient,
  McpExchange,
  RpcId,
  RpcParams,
  RpcRequest,
  RpcResponse,
} from './protocol.ts'
import { formatError, formatNotification, isDroppable, RPC_CODES } from './protocol.ts'

/** How an exchange ends, where eras differ. */
type McpHttpExchangeOptions = {
  readonly message: RpcRequest
  readonly client: McpClient
  readonly request: HttpRequest
  /** Creates the stream for what precedes the answer; by default it ends with its connection. */
  openStream?(): SseStream
  /** Called when the client left an open stream; without it that cancels the request. */
  onDisconnect?(stream: SseStream, cancel: () => void): void
  /** Called when the stream is complete. */
  onEnd?(stream: SseStream): void
  answer(answered: RpcResponse): HttpResponse
}

/**
 * One request over HTTP: answered by one JSON document, or by a stream of events as soon as there
 * is something to say before.
 */
export class McpHttpExchange implements McpExchange {
  readonly id: RpcId
  readonly meta: RpcParams | undefined
  readonly client: McpClient
  /** Whether the client takes streams of events. */
  readonly canStream: boolean
  readonly cancellation = new Cancellation()
  /** The answer, as soon as its form is known. */
  readonly opened: Promise<HttpResponse>
  readonly #options: McpHttpExchangeOptions
  #open!: (answer: HttpResponse) => void
  #stream: SseStream | undefined
  #stopped = false

  constructor(options: McpHttpExchangeOptions) {
    this.#options = options
    this.id = options.message.id
    this.meta = options.message.meta
    this.client = options.client
    this.canStream = /text\/event-stream|text\/\*|\*\/\*/i.test(
      options.request.header('accept') ?? '*/*',
    )
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
    options.request.onDisconnect((why) => this.#leave(why))
  }

  cancel(): void {
    this.cancellation.cancel(new ToolError('CANCELLED', 'the client cancelled the request'))
  }

  notify(method: string, params: RpcParams): void {
    if (!this.canStream || this.cancellation.aborted) return
    const text = formatNotification(method, params)
    if (isDroppable(method)) this.stream().offer(text)
    else this.stream().push(text)
  }

  /** Answers the request; one that was cancelled is not answered, only ended. */
  finish(answered: RpcResponse): void {
    const silent = this.cancellation.aborted && !this.#stopped
    if (silent && this.canStream) this.#open(toEventResponse(createEndedStream().frames()))
    else if (this.#stream && !silent) this.#stream.push(answered.text)
    else this.#open(this.#options.answer(answered))
    if (!this.#stream) return
    this.#stream.end()
    this.#options.onEnd?.(this.#stream)
  }

  /** The stream on which everything goes from here on. */
  protected stream(): SseStream {
    return (this.#stream ??= this.#openStream())
  }

  #leave(why: ToolError): void {
    if (why instanceof ServerStoppedError) {
      this.#stopped = true
      this.cancellation.cancel(why)
    } else if (!this.#stream) this.cancel()
    // An open stream notices by itself that its reader is gone.
  }

  #openStream(): SseStream {
    const { openStream, onDisconnect } = this.#options
    const stream = openStream?.() ?? new SseStream()
    const cancel = (): void => this.cancel()
    const leave = onDisconnect ? () => onDisconnect(stream, cancel) : cancel
    this.#open(toEventResponse(stream.frames(undefined, leave)))
    return stream
  }
}

function createEndedStream(): SseStream {
  const stream = new SseStream()
  stream.end()
  return stream
}

const KEEP_ALIVE_INTERVAL_MS = 15_000
const CLIENT_RETRY_MS = 1000
const MAX_KEPT_FRAMES = 2000
const MAX_UNSENT_CHARS = 8 * MEBIBYTE

/**
 * A stream of server-sent events, each a message, with one reader at a time. A resumable one keeps
 * what it sent, so that a client that lost the connection can go on.
 */
export class SseStream {
  readonly #frames: string[] = []
  /** The number of the oldest frame that is kept, and of the next one to send. */
  #first = 0
  #next = 0
  #unsent = 0
  #over = false
  #reader: SseReader | undefined

  /**
   * @param id names the stream in the ids of its events; without it the stream cannot be resumed.
   */
  constructor(readonly id?: string) {
    // An empty event with an id, so that the client can come back before anything was said.
    if (id !== undefined) this.#add(`id: ${id}:0\nretry: ${CLIENT_RETRY_MS}\ndata:\n\n`)
  }

  get isEnded(): boolean {
    return this.#over
  }

  /** True while a client is connected. */
  get hasReader(): boolean {
    return this.#reader !== undefined
  }

  push(message: string): void {
    if (this.#over) return
    this.#add(
      `${this.id === undefined ? '' : `id: ${this.id}:${this.#end}\n`}event: message\ndata: ${message}\n\n`,
    )
  }

  /** Pushes what may be left out, and leaves it out when the client is far behind. */
  offer(message: string): void {
    if (this.#unsent <= MAX_UNSENT_CHARS) this.push(message)
  }

  end(): void {
    this.#over = true
    this.#reader?.look()
  }

  /**
   * What was not sent yet, then what comes. A new reader takes over from the one before. `after` is
   * the number of the last event that the client has; `onDisconnect` is called when the client
   * leaves before the end.
   */
  frames(after?: number, onDisconnect?: () => void): AsyncIterableIterator<string> {
    this.#reader?.end()
    if (after !== undefined) this.#rewind(after + 1)
    const reader = new SseReader(
      () => this.#take(),
      (gone) => {
        if (this.#reader === reader) this.#reader = undefined
        if (gone) onDisconnect?.()
      },
    )
    this.#reader = reader
    return reader
  }

  get #end(): number {
    return this.#first + this.#frames.length
  }

  #rewind(to: number): void {
    this.#next = Math.min(Math.max(this.#first, to), this.#end)
    this.#unsent = this.#frames
      .slice(this.#next - this.#first)
      .reduce((sum, frame) => sum + frame.length, 0)
  }

  #take(): string | 'nothing yet' | 'over' {
    if (this.#next === this.#end) return this.#over ? 'over' : 'nothing yet'
    const frame = this.#frames[this.#next - this.#first]!
    this.#next++
    this.#unsent -= frame.length
    if (this.id === undefined) this.#forget()
    return frame
  }

  #add(frame: string): void {
    this.#frames.push(frame)
    this.#unsent += frame.length
    if (this.#frames.length > MAX_KEPT_FRAMES && this.#next > this.#first) this.#forget()
    this.#reader?.look()
  }

  #forget(): void {
    this.#frames.shift()
    this.#first++
  }
}

// No generator: one that waits for its next frame could not be left before that comes.
class SseReader implements AsyncIterableIterator<string> {
  #waiting: ((result: IteratorResult<string, undefined>) => void) | undefined
  #keepAlive: NodeJS.Timeout | undefined
  #ended = false

  constructor(
    readonly take: () => string | 'nothing yet' | 'over',
    readonly onEnd: (gone: boolean) => void,
  ) {}

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<string, undefined>> {
    return new Promise((resolve) => {
      this.#waiting = resolve
      if (this.#ended) return this.#give()
      this.#keepAlive = setTimeout(() => this.#give(': keep-alive\n\n'), KEEP_ALIVE_INTERVAL_MS)
      this.look()
    })
  }

  /** The client has left. */
  return(): Promise<IteratorResult<string, undefined>> {
    this.end(true)
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Gives a frame to a reader that waits for one. */
  look(): void {
    if (!this.#waiting) return
    const frame = this.take()
    if (frame === 'over') this.end()
    else if (frame !== 'nothing yet') this.#give(frame)
  }

  end(gone = false): void {
    if (this.#ended) return
    this.#ended = true
    this.#give()
    this.onEnd(gone)
  }

  #give(frame?: string): void {
    clearTimeout(this.#keepAlive)
    this.#waiting?.(
      frame === undefined ? { done: true, value: undefined } : { done: false, value: frame },
    )
    this.#waiting = undefined
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' } as const

// Faults of the request as such; an answered request is 200 even where its answer is an error.
const HTTP_STATUS_BY_CODE: { readonly [code: number]: number } = {
  [RPC_CODES.parse]: 400,
  [RPC_CODES.invalidRequest]: 400,
  [RPC_CODES.headerMismatch]: 400,
  [RPC_CODES.missingCapability]: 400,
  [RPC_CODES.unsupportedVersion]: 400,
  [RPC_CODES.methodNotFound]: 404,
}

/** The answer to a modern request. */
export function toModernResponse({ text, error }: RpcResponse): HttpResponse {
  return {
    status: error === undefined ? 200 : (HTTP_STATUS_BY_CODE[error] ?? 200),
    headers: JSON_HEADERS,
    body: text,
  }
}

type ResponseHeaders = { readonly [name: string]: string }

/** The answer to an older client's request: errors are results like others. */
export function toLegacyResponse(
  { text }: RpcResponse,
  headers: ResponseHeaders = {},
): HttpResponse {
  return { status: 200, headers: { ...JSON_HEADERS, ...headers }, body: text }
}

type RpcRefusalOptions = {
  /** Default: invalid request. */
  readonly code?: number
  readonly id?: RpcId | undefined
  readonly headers?: ResponseHeaders
}

/** The refusal of a request before its method is looked at. */
export function createRpcRefusal(
  status: number,
  message: string,
  { code = RPC_CODES.invalidRequest, id, headers }: RpcRefusalOptions = {},
): HttpResponse {
  return {
    status,
    headers: { ...JSON_HEADERS, ...headers },
    body: formatError(id, { code, message }),
  }
}

export const ACCEPTED_RESPONSE: HttpResponse = { status: 202, headers: {} }

/** A stream of events; proxies are asked not to hold it back. */
export function toEventResponse(frames: AsyncIterable<string>): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
    body: frames,
  }
}
