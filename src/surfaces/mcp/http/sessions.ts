import { randomUUID } from 'node:crypto'
import { onAbort } from '../../../call/on-abort.ts'
import type { McpServer, ServerChange } from '../server-type.ts'
import { Session } from '../session.ts'
import type { Id } from '../wire/messages.ts'
import { EventStream } from './events.ts'

const IDLE_MS = 30 * 60_000
const RESUME_MS = 30_000
const MOST_FINISHED = 100
const MOST_SESSIONS = 10_000

/** A stream that its client can come back to, and what cancels the request that it belongs to. */
type Resumable = { readonly stream: EventStream; cancel: () => void; timer?: NodeJS.Timeout }

/** An older client over HTTP: its session, its requests, and the streams that it may come back to. */
export class HttpSession extends Session {
  readonly id = randomUUID()
  /** The requests that are being answered, each by what cancels it. */
  readonly requests = new Map<Id, () => void>()
  seen = 0
  // Carries what belongs to no request.
  #standalone: EventStream | undefined
  readonly #streams = new Map<string, Resumable>()
  #streamCount = 0

  /** True while the client waits for something. */
  get busy(): boolean {
    return this.requests.size > 0 || this.#standalone?.read === true
  }

  /** A stream for one request; the client can resume it, if it knows how to. */
  openStream(cancel: () => void): EventStream {
    if (this.caller.version < '2025-11-25') return new EventStream()
    const stream = new EventStream(`s${++this.#streamCount}`)
    this.#streams.set(stream.id!, { stream, cancel })
    return stream
  }

  /** The frames of a stream that the client lost; undefined when it is kept no longer. */
  resume(id: string, after: number): AsyncIterableIterator<string> | undefined {
    const lost = this.#streams.get(id)
    return lost?.stream.frames(after, () => this.leave(lost.stream, lost.cancel))
  }

  /** The client left a stream: it has some time to come back before its request is cancelled. */
  leave(stream: EventStream, cancel: () => void): void {
    const left = stream.id === undefined ? undefined : this.#streams.get(stream.id)
    if (!left || this.server.stopping.aborted) return cancel()
    this.#forgetLater(left)
  }

  /** The request of a stream is over: for a while the client can still fetch what it missed. */
  finish({ id }: EventStream): void {
    const finished = id === undefined ? undefined : this.#streams.get(id)
    if (!finished) return
    this.#forgetLater(finished)
    if (this.#streams.size > MOST_FINISHED)
      for (const other of this.#streams.values()) if (other.stream.over) return this.#forget(other)
  }

  /** The stream for what belongs to no request; a new one takes the place of the one before. */
  listen(): AsyncIterableIterator<string> {
    this.#standalone?.end()
    const stream = (this.#standalone = new EventStream())
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

  #forgetLater(resumable: Resumable): void {
    clearTimeout(resumable.timer)
    resumable.timer = setTimeout(() => {
      if (!resumable.stream.read) this.#forget(resumable)
      else if (resumable.stream.over) this.#forgetLater(resumable)
    }, RESUME_MS).unref()
  }

  #forget(resumable: Resumable): void {
    clearTimeout(resumable.timer)
    this.#streams.delete(resumable.stream.id!)
    if (!resumable.stream.over) resumable.cancel()
  }
}

/** The sessions of all older clients. */
export class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>()

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

  open(): HttpSession {
    this.#forgetIdle()
    const session = new HttpSession(this.server)
    session.seen = this.now()
    this.#sessions.set(session.id, session)
    return session
  }

  find(id: string): HttpSession | undefined {
    const session = this.#sessions.get(id)
    if (!session) return undefined
    session.seen = this.now()
    // Kept in the order of use, so that the one idle longest stands first.
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session
  }

  end(session: HttpSession): void {
    this.#sessions.delete(session.id)
    session.close()
  }

  #forgetIdle(): void {
    const oldest = this.now() - IDLE_MS
    for (const session of this.#sessions.values()) {
      const full = this.#sessions.size >= MOST_SESSIONS
      if (session.seen > oldest && !full) return
      if (full || !session.busy) this.end(session)
    }
  }
}
