const KEEP_ALIVE_MS = 15_000
const RETRY_MS = 1000
const MOST_KEPT = 2000

/** A stream of server-sent events, each a message. A resumable one keeps what it sent, so that a client that lost the connection can go on. */
export class EventStream {
  readonly #frames: string[] = []
  #first = 0
  #next = 0
  #over = false
  #wake: (() => void) | undefined
  #readers = 0

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
    return this.#readers > 0
  }

  push(message: string): void {
    if (this.#over) return
    this.#add(`${this.id === undefined ? '' : `id: ${this.id}:${this.#first + this.#frames.length}\n`}event: message\ndata: ${message}\n\n`)
  }

  end(): void {
    this.#over = true
    this.#wake?.()
  }

  /** What was not sent yet, then what comes; `after` is the number of the last event that the client has. */
  async *frames(after?: number, onGone?: () => void): AsyncGenerator<string> {
    if (after !== undefined) this.#next = Math.max(this.#first, after + 1)
    this.#readers++
    // A client that came back takes over from the connection that it lost.
    const turn = this.#readers
    this.#wake?.()
    let complete = false
    try {
      for (;;) {
        while (this.#next < this.#first + this.#frames.length) {
          const frame = this.#frames[this.#next - this.#first]!
          this.#next++
          if (this.id === undefined) this.#forget()
          yield frame
        }
        if (this.#over) break
        if (!(await this.#more())) yield ': keep-alive\n\n'
        if (turn !== this.#readers) return
      }
      complete = true
    } finally {
      if (turn === this.#readers) {
        this.#readers = 0
        if (!complete) onGone?.()
      }
    }
  }

  #add(frame: string): void {
    this.#frames.push(frame)
    if (this.#frames.length > MOST_KEPT && this.#next > this.#first) this.#forget()
    this.#wake?.()
  }

  #forget(): void {
    this.#frames.shift()
    this.#first++
  }

  #more(): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (came: boolean): void => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve(came)
      }
      const timer = setTimeout(() => end(false), KEEP_ALIVE_MS)
      this.#wake = () => end(true)
    })
  }
}
