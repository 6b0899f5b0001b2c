import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { SERVE_VERSION } from '../../contract/serve-protocol.ts'
import type { ChildEnd } from '../../process/child-type.ts'
import { baseEnvironment } from '../../process/base-environment.ts'
import { openChild } from '../../process/open-child.ts'
import type { OpenChild } from '../../process/open-child.ts'
import { diedInCall, whyUnavailable } from './died.ts'
import { Exchange } from './exchange.ts'
import { Outbox } from './outbox.ts'
import { takeStamps } from './stamps.ts'
import type { Stamp } from './stamps.ts'
import { WarmUnavailable } from './warm-type.ts'
import type { WarmContext, WarmSettings, WarmTarget } from './warm-type.ts'

const LONGEST_LINE = 72 * 1024 * 1024
const KEPT_STDERR = 4000
const STRAYS_BEFORE_HELLO = 1000
const SUSPECT_MS = 200

/** A request was never sent: it may be made anew, to another process. */
export class NotSent extends Error {}

/** One process of a program that stays, and the requests that it is working on. */
export class WarmProgram {
  /** Resolves when it serves; rejects with WarmUnavailable when it does not. */
  readonly ready: Promise<void>
  /** Resolves when the process is over. */
  readonly over: Promise<void>
  readonly stamps: readonly Stamp[]
  isReady = false
  /** Takes new requests. */
  open = true
  /** It was told to end before anything was wrong with it. */
  retired = false
  /** When it was given its last request, on the monotonic clock. */
  used = performance.now()
  readonly #exchanges = new Map<number, Exchange>()
  readonly #outbox = new Outbox((lines) => (this.#child && !this.#ended ? this.#child.write(lines) : undefined))
  #child: OpenChild | undefined
  #ended = false
  #lastId = 0
  #strays = 0
  #abandoned = 0
  #abandonedSince = 0
  #onHello: (() => void) | undefined
  #onPong: (() => void) | undefined
  #checking: Promise<boolean> | undefined
  #stderr = ''
  readonly #idle: NodeJS.Timeout

  constructor(readonly target: WarmTarget, readonly settings: WarmSettings) {
    // Looked at before the start: what changes meanwhile is noticed at the next call.
    this.stamps = takeStamps(target)
    const { promise, resolve, reject } = defer()
    this.ready = promise
    this.#onHello = resolve
    this.over = this.#run(reject)
    this.#idle = setTimeout(() => this.#endWhenIdle(), settings.idle).unref()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Requests that it works on. */
  get load(): number {
    return this.#exchanges.size
  }

  /** It does not react to a cancelled call: no place for new ones. */
  get suspect(): boolean {
    return this.#abandoned > 0 && performance.now() - this.#abandonedSince > SUSPECT_MS
  }

  /** Sends a request, `fields` being its JSON without id and braces, and gives the outcome. Rejects with NotSent where it never left. */
  request(what: string, fields: string, ctx: WarmContext): Promise<Outcome> {
    if (this.#exchanges.size === 0) this.#child!.hold(true)
    this.used = performance.now()
    const id = ++this.#lastId
    const exchange = new Exchange(what, ctx, {
      say: (more) => this.#outbox.send(`{"id":${id},${more}}`),
      abandoned: () => this.#abandon(id, exchange),
    })
    this.#exchanges.set(id, exchange)
    this.#outbox.send(`{"id":${id},${fields}}`, exchange)
    return exchange.result
  }

  /** Whether it answers. One that does not is ended. */
  isWell(): Promise<boolean> {
    return (this.#checking ??= this.#check().finally(() => (this.#checking = undefined)))
  }

  /** Takes no new requests, and ends as soon as those that it has are answered. */
  retire(): void {
    this.retired = true
    this.open = false
    if (this.load === 0) this.#end()
  }

  /** Ends it, whatever it works on; resolves when it is over. */
  async close(): Promise<void> {
    this.retired = true
    this.open = false
    this.#child?.hold(true)
    this.#fail(() => new WarmUnavailable('it is being closed'))
    this.#end()
    await this.over
  }

  kill(): void {
    this.open = false
    this.#child?.kill()
  }

  async #run(unavailable: (error: Error) => void): Promise<void> {
    const { command: [program, ...args], cwd, host = this.settings.env, env } = this.target
    const child = await openChild({
      command: [program, ...args, '--serve'],
      cwd,
      env: { ...baseEnvironment(host), ...env },
      grace: this.settings.react,
      maxLine: LONGEST_LINE,
      maxStderr: 0,
      onLine: (line) => this.#take(line),
      onErrorLine: (line) => (this.#stderr = `${this.#stderr}${line}\n`.slice(-KEPT_STDERR)),
    })
    this.#child = child
    if (!this.open) child.kill()
    const slow = setTimeout(() => {
      unavailable(new WarmUnavailable(`it did not say within ${this.settings.start / 1000} seconds that it serves`))
      this.kill()
    }, this.settings.start)
    void this.ready.catch(() => undefined).then(() => clearTimeout(slow))
    this.#settled(await child.end, unavailable)
  }

  #settled(end: ChildEnd, unavailable: (error: Error) => void): void {
    this.#ended = true
    this.open = false
    clearTimeout(this.#idle)
    unavailable(new WarmUnavailable(whyUnavailable(end, this.#stderr)))
    this.#fail((exchange) => (exchange.sent ? diedInCall(exchange.what, end, this.#stderr) : new NotSent()))
  }

  #fail(errorOf: (exchange: Exchange) => Error): void {
    for (const exchange of this.#exchanges.values()) exchange.fail(errorOf(exchange))
    this.#exchanges.clear()
  }

  async #check(): Promise<boolean> {
    let slow: NodeJS.Timeout | undefined
    const well = await new Promise<boolean>((resolve) => {
      slow = setTimeout(() => resolve(false), this.settings.react)
      this.#onPong = () => resolve(true)
      void this.over.then(() => resolve(false))
      this.#outbox.send('{"ping":1}')
    })
    clearTimeout(slow)
    if (!well) this.kill()
    return well
  }

  #take(text: string): void {
    const line = parse(text)
    if (!line) return this.#stray()
    if (this.#onHello) return line['serve'] === SERVE_VERSION ? this.#hello() : this.#stray()
    const exchange = this.#exchanges.get(line['id'] as number)
    if (exchange) {
      if (exchange.take(line)) this.#answered(line['id'] as number)
    } else if (line['pong'] === 1) this.#onPong?.()
  }

  #hello(): void {
    this.isReady = true
    this.#onHello?.()
    this.#onHello = undefined
    this.#release()
  }

  // What a library prints before we could stop it is no reason to give up, a flood of it is.
  #stray(): void {
    if (this.#onHello && ++this.#strays > STRAYS_BEFORE_HELLO) this.kill()
  }

  #answered(id: number): void {
    this.#exchanges.delete(id)
    if (this.#abandoned > 0) this.#abandoned = 0
    if (this.load > 0) return
    if (!this.open) return this.#end()
    this.#idle.refresh()
    this.#release()
  }

  #abandon(id: number, exchange: Exchange): void {
    if (!exchange.sent) {
      this.#outbox.drop(exchange)
      return this.#answered(id)
    }
    this.#outbox.send(`{"id":${id},"cancel":true}`)
    if (this.#abandoned++ === 0) this.#abandonedSince = performance.now()
    // Nobody else would ever notice that it is stuck.
    setTimeout(() => { if (this.#exchanges.has(id)) this.kill() }, this.settings.react).unref()
  }

  // From here on it keeps nobody alive.
  #release(): void {
    if (this.load === 0 && this.open) this.#child?.hold(false)
  }

  #endWhenIdle(): void {
    if (this.load === 0 && this.isReady) this.retire()
    else this.#idle.refresh()
  }

  #end(): void {
    if (!this.#child) return this.kill()
    this.#child.closeInput()
    setTimeout(() => this.kill(), this.settings.react).unref()
  }
}

function parse(text: string): JsonObject | undefined {
  try {
    const line: unknown = JSON.parse(text)
    return isObject(line) ? line : undefined
  } catch {
    return undefined
  }
}

function defer(): { readonly promise: Promise<void>; resolve(): void; reject(error: Error): void } {
  let resolve!: () => void
  let reject!: (error: Error) => void
  const promise = new Promise<void>((settle, refuse) => {
    resolve = settle
    reject = refuse
  })
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
