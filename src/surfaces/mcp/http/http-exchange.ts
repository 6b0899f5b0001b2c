import { ToolError } from '../../../contract/tool-error.ts'
import { Cancellation } from '../../../call/cancellation.ts'
import { ServerStops } from '../../http/exchange.ts'
import type { HttpAnswer, HttpRequest } from '../../http/exchange.ts'
import { mayBeLost } from '../exchange.ts'
import type { Caller, Exchange } from '../exchange.ts'
import type { Answered } from '../wire/answered.ts'
import { notificationMessage } from '../wire/messages.ts'
import type { Id, Params } from '../wire/messages.ts'
import { eventAnswer } from './answers.ts'
import { EventStream } from './events.ts'

/** How an exchange ends, where eras differ. */
export type HttpExchangeOptions = {
  readonly id: Id
  readonly caller: Caller
  readonly request: HttpRequest
  /** Makes the stream when something is to be said before the answer; by default one that ends with its connection. */
  openStream?(): EventStream
  /** Told when the client left an open stream; without it that cancels the request. */
  onGone?(stream: EventStream, cancel: () => void): void
  /** Told when the stream has all that it will ever have. */
  onEnd?(stream: EventStream): void
  answer(answered: Answered): HttpAnswer
}

/** One request over HTTP: answered by one JSON document, or by a stream of events as soon as there is something to say before. */
export class HttpExchange implements Exchange {
  readonly id: Id
  readonly caller: Caller
  /** Whether the client takes streams of events. */
  readonly canStream: boolean
  readonly cancellation = new Cancellation()
  /** The answer, as soon as its form is known. */
  readonly opened: Promise<HttpAnswer>
  readonly #options: HttpExchangeOptions
  #open!: (answer: HttpAnswer) => void
  #stream: EventStream | undefined
  #stopped = false

  constructor(options: HttpExchangeOptions) {
    this.#options = options
    this.id = options.id
    this.caller = options.caller
    this.canStream = /text\/event-stream|text\/\*|\*\/\*/i.test(
      options.request.header('accept') ?? '*/*',
    )
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
    options.request.onGone((why) => this.#leave(why))
  }

  cancel(): void {
    this.cancellation.cancel(new ToolError('CANCELLED', 'the client cancelled the request'))
  }

  notify(method: string, params: Params): void {
    if (!this.canStream || this.cancellation.aborted) return
    const text = notificationMessage(method, params)
    if (mayBeLost(method)) this.stream().offer(text)
    else this.stream().push(text)
  }

  /** Answers the request; one that was cancelled is not answered, only ended. */
  finish(answered: Answered): void {
    const silent = this.cancellation.aborted && !this.#stopped
    if (silent && this.canStream) this.#open(eventAnswer(endedStream().frames()))
    else if (this.#stream && !silent) this.#stream.push(answered.text)
    else this.#open(this.#options.answer(answered))
    if (!this.#stream) return
    this.#stream.end()
    this.#options.onEnd?.(this.#stream)
  }

  /** The stream on which everything goes from here on. */
  protected stream(): EventStream {
    return (this.#stream ??= this.#openStream())
  }

  #leave(why: ToolError): void {
    if (why instanceof ServerStops) {
      this.#stopped = true
      this.cancellation.cancel(why)
    } else if (!this.#stream) this.cancel()
    // An open stream has its own way of noticing that nobody reads.
  }

  #openStream(): EventStream {
    const stream = this.#options.openStream?.() ?? new EventStream()
    const cancel = (): void => this.cancel()
    this.#open(
      eventAnswer(
        stream.frames(undefined, () =>
          this.#options.onGone ? this.#options.onGone(stream, cancel) : cancel(),
        ),
      ),
    )
    return stream
  }
}

function endedStream(): EventStream {
  const stream = new EventStream()
  stream.end()
  return stream
}
