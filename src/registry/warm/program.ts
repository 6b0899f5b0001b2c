import { parseObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { LONGEST_TIMER_MS } from '../../contract/duration.ts'
import { baseEnvironment } from '../../process/base-environment.ts'
import { openChild } from '../../process/open-child.ts'
import type { OpenChild } from '../../process/open-child.ts'
import { diedInCall, whyUnavailable } from './died.ts'
import { Exchange } from './exchange.ts'
import { Greeting } from './greeting.ts'
import { Outbox } from './outbox.ts'
import { takeStamps } from './stamps.ts'
import type { Stamp } from './stamps.ts'
import { WarmUnavailable } from './warm-type.ts'
import type { WarmContext, WarmSettings, WarmTarget } from './warm-type.ts'

const LONGEST_LINE = 72 * 1024 * 1024
const KEPT_STDERR = 4000
const SUSPECT_MS = 200

/** A request was never sent: it may be made anew, to another process. */
export class NotSent extends Error {}

/** One process of a program that stays, and the requests that it is working on. */
export class WarmProgram {
  readonly greeting: Greeting
  /** Resolves when the process is over. */
  readonly over: Promise<void>
  readonly stamps: readonly Stamp[]
  /** Takes new requests. */
  open = true
  /** It was told to end before anything was wrong with it. */
  retired = false
  /** When it was given its last request, on the monotonic clock. */
  used = performance.now()
  readonly #exchanges = new Map<number, Exchange>()
  readonly #outbox = new Outbox((lines) =>
    this.#child && !this.#ended ? this.#child.write(lines) : undefined,
  )
  readonly #idle: NodeJS.Timeout
  // Keeps the host alive while it has work; the child's own handles would be four.
  readonly #alive = setInterval(() => undefined, LONGEST_TIMER_MS).unref()
  #child: OpenChild | undefined
  #ended = false
  #lastId = 0
  #abandoned = 0
  #abandonedSince = 0
  #onPong: (() => void) | undefined
  #checking: Promise<boolean> | undefined
  #stderr = ''

  constructor(
    readonly target: WarmTarget,
    readonly settings: WarmSettings,
  ) {
    // Looked at before the start: what changes meanwhile is noticed at the next call.
    this.stamps = takeStamps(target)
    this.greeting = new Greeting(settings.start, () => this.kill())
    this.over = this.#run()
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
    if (this.load === 0) this.#alive.ref()
    this.used = performance.now()
    const id = ++this.#lastId
    const exchange = new Exchange(what, ctx, {
      say: (more) => this.#outbox.send(`{"id":${id},${more}}`),
      abandoned: () => this.#abandon(id, exchange),
    })
    if (exchange.over) return exchange.result
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
    this.#child?.hold(true)
    this.#failAll(() => new WarmUnavailable('the program is being closed'))
    this.retire()
    await this.over
  }

  kill(): void {
    this.open = false
    this.#child?.kill()
  }

  async #run(): Promise<void> {
    const {
      command: [program, ...args],
      cwd,
      host = this.settings.env,
      env,
    } = this.target
    const child = (this.#child = await openChild({
      command: [program, ...args, '--serve'],
      cwd,
      env: { ...baseEnvironment(host), ...env },
      grace: this.settings.react,
      maxLine: LONGEST_LINE,
      maxStderr: 0,
      onLine: (line) => this.#take(parseObject(line)),
      onErrorLine: (line) => (this.#stderr = `${this.#stderr}${line}\n`.slice(-KEPT_STDERR)),
    }))
    if (!this.open) child.kill()
    const end = await child.end
    this.#ended = true
    this.open = false
    clearTimeout(this.#idle)
    clearInterval(this.#alive)
    this.greeting.fail(whyUnavailable(end, this.#stderr))
    this.#failAll((exchange) =>
      exchange.sent ? diedInCall(exchange.what, end, this.#stderr) : new NotSent(),
    )
  }

  #take(line: JsonObject | undefined): void {
    if (!this.greeting.came) return this.#greet(line)
    const id = line?.['id'] as number
    const exchange = this.#exchanges.get(id)
    if (line && exchange) {
      if (exchange.take(line)) this.#answered(id)
    } else if (line?.['pong'] === 1) this.#onPong?.()
  }

  #greet(line: JsonObject | undefined): void {
    this.greeting.take(line)
    if (this.greeting.came) this.#child?.hold(false)
  }

  #answered(id: number): void {
    this.#exchanges.delete(id)
    this.#abandoned = 0
    if (this.load > 0) return
    if (!this.open) return this.#end()
    this.#idle.refresh()
    this.#alive.unref()
  }

  #abandon(id: number, exchange: Exchange): void {
    if (!this.#exchanges.has(id)) return
    if (!exchange.sent) {
      this.#outbox.drop(exchange)
      return this.#answered(id)
    }
    this.#outbox.send(`{"id":${id},"cancel":true}`)
    if (this.#abandoned++ === 0) this.#abandonedSince = performance.now()
    // Nobody else would ever notice that it is stuck.
    setTimeout(() => {
      if (this.#exchanges.has(id)) this.kill()
    }, this.settings.react).unref()
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

  #failAll(errorOf: (exchange: Exchange) => Error): void {
    for (const exchange of this.#exchanges.values()) exchange.fail(errorOf(exchange))
    this.#exchanges.clear()
  }

  #endWhenIdle(): void {
    if (this.load === 0 && this.greeting.came) this.retire()
    else this.#idle.refresh()
  }

  #end(): void {
    if (this.#ended) return
    this.#child?.closeInput()
    setTimeout(() => this.kill(), this.settings.react).unref()
  }
}
