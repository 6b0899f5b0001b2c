const KEEP_ALIVE_MS = 15_000
const RETRY_MS = 1000
const MOST_KEPT = 2000
const MUCH = 8 * 1024 * 1024

/** A stream of server-sent events, each a message, with one reader at a time. A resumable one keeps what it sent, so that a client that lost the connection can go on. */
export class EventStream {
  readonly #frames: string[] = []
  /** The number of the oldest frame that is kept, and of the next one to send. */
  #first = 0
  #next = 0
  #unsent = 0
  #over = false
  #reader: Reader | undefined

  /** @param id names the stream in the ids of its events; without it the stream cannot be resumed. */
  constructor(readonly id?: string) {
    // An empty event with an id, so that the client can come back before anything was said.
    if (id !== undefined) this.#add(`id: ${id}:0\nretry: ${RETRY_MS}\ndata:\n\n`)
  }

  get over(): boolean {
    return this.#over
  }

  /** True while a client is connected. */
  get read(): boolean {
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
    if (this.#unsent <= MUCH) this.push(message)
  }

  end(): void {
    this.#over = true
    this.#reader?.look()
  }

  /** What was not sent yet, then what comes. Whoever reads takes over from the reader before. `after` is the number of the last event that the client has; `onGone` is told when the client leaves before the end. */
  frames(after?: number, onGone?: () => void): AsyncIterableIterator<string> {
    this.#reader?.end()
    if (after !== undefined) this.#rewind(after + 1)
    const reader = new Reader(
      () => this.#take(),
      (gone) => {
        if (this.#reader === reader) this.#reader = undefined
        if (gone) onGone?.()
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
    if (this.#frames.length > MOST_KEPT && this.#next > this.#first) this.#forget()
    this.#reader?.look()
  }

  #forget(): void {
    this.#frames.shift()
    this.#first++
  }
}

// No generator: one that waits for its next frame could not be left before that comes.
class Reader implements AsyncIterableIterator<string> {
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
      this.#keepAlive = setTimeout(() => this.#give(': keep-alive\n\n'), KEEP_ALIVE_MS)
      this.look()
    })
  }

  /** The client has left. */
  return(): Promise<IteratorResult<string, undefined>> {
    this.end(true)
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Gives a frame to who waits for one. */
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
