import { randomUUID } from 'node:crypto'
import type { McpServer, ServerChange } from '../server-type.ts'
import { Session } from '../session.ts'
import { EventStream } from './events.ts'

const IDLE_MS = 30 * 60_000
const RESUME_MS = 30_000
const MOST_SESSIONS = 10_000
const MOST_ENDED_STREAMS = 50

/** An older client over HTTP: its session, and the streams that it may come back to. */
export class HttpSession extends Session {
  readonly id = randomUUID()
  readonly streams = new Map<string, EventStream>()
  /** Carries what belongs to no request. */
  standalone: EventStream | undefined
  seen = 0
  readonly #running = new Set<() => void>()
  #streamCount = 0

  /** A stream that the client can resume, if it knows how to. */
  openStream(): EventStream {
    if (this.caller.version < '2025-11-25') return new EventStream()
    const stream = new EventStream(`s${++this.#streamCount}`)
    this.#forgetStreams()
    this.streams.set(stream.id!, stream)
    return stream
  }

  // A client may have lost the very end of a stream, so the last ones that ended are kept.
  #forgetStreams(): void {
    const ended = [...this.streams].filter(([, stream]) => stream.over)
    for (const [id] of ended.slice(0, Math.max(0, ended.length - MOST_ENDED_STREAMS))) this.streams.delete(id)
  }

  /** The client left a stream: it has some time to come back before its request is cancelled. */
  leave(stream: EventStream, cancel: () => void): void {
    if (stream.id === undefined) return cancel()
    const giveUp = (): void => {
      this.#running.delete(giveUp)
      clearTimeout(timer)
      if (stream.read) return
      this.streams.delete(stream.id!)
      cancel()
    }
    const timer = setTimeout(giveUp, RESUME_MS).unref()
    this.#running.add(giveUp)
  }

  tell(change: ServerChange): void {
    const text = this.notificationOf(change)
    if (text !== undefined) this.standalone?.push(text)
  }

  close(): void {
    this.standalone?.end()
    for (const stream of this.streams.values()) stream.end()
    for (const giveUp of this.#running) giveUp()
  }
}

/** The sessions of all older clients. */
export class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>()
  readonly #stopListening: () => void

  constructor(readonly server: McpServer, readonly now: () => number) {
    this.#stopListening = server.onChange((change) => {
      for (const session of this.#sessions.values()) session.tell(change)
    })
    server.stopping.addEventListener('abort', () => this.close(), { once: true })
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

  close(): void {
    this.#stopListening()
    for (const session of [...this.#sessions.values()]) this.end(session)
  }

  #forgetIdle(): void {
    const oldest = this.now() - IDLE_MS
    for (const session of this.#sessions.values()) {
      if (session.seen > oldest && this.#sessions.size < MOST_SESSIONS) return
      if (!session.standalone?.read || this.#sessions.size >= MOST_SESSIONS) this.end(session)
    }
  }
}
