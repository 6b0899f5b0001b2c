/**
 * One process that stays, the requests it works on, and the files that make it current.
 */

import { resolve } from 'node:path'
import type { ChildEnd } from '../../process/child.ts'
import { buildCallEnv } from '../../process/environment.ts'
import { openChild } from '../../process/run.ts'
import type { OpenChild } from '../../process/run.ts'
import { MAX_TIMER_MS } from '../../protocol/limits.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import { statFile } from '../cache.ts'
import type { CheckedFile } from '../cache.ts'
import { WarmUnavailable } from '../child/child-call.ts'
import type { WarmContext, WarmProgramSpec, WarmSettings } from '../child/child-call.ts'
import { LineOutbox, ServeGreeting, WarmExchange } from './exchange.ts'

const MAX_LINE_BYTES = 72 * 1024 * 1024
const MAX_STDERR_KEPT = 4000
const UNRESPONSIVE_MS = 200

/** A request was never sent: it may be made anew, to another process. */
export class RequestNotSent extends Error {}

/** One process of a program that stays, and the requests that it is working on. */
export class WarmProgram {
  readonly greeting: ServeGreeting
  /** Resolves when the process is over. */
  readonly over: Promise<void>
  readonly stamps: readonly ProgramStamp[]
  /** Takes new requests. */
  open = true
  /** It was told to end before anything was wrong with it. */
  retired = false
  /** When it was given its last request, on the monotonic clock. */
  used = performance.now()
  readonly #exchanges = new Map<number, WarmExchange>()
  readonly #outbox = new LineOutbox((lines) =>
    this.#child && !this.#ended ? this.#child.write(lines) : undefined,
  )
  readonly #idle: NodeJS.Timeout
  // Keeps the host alive while it has work; the child's own handles would be four.
  readonly #alive = setInterval(() => undefined, MAX_TIMER_MS).unref()
  #child: OpenChild | undefined
  #ended = false
  #lastId = 0
  #abandoned = 0
  #abandonedSince = 0
  #onPong: (() => void) | undefined
  #checking: Promise<boolean> | undefined
  #stderr = ''

  constructor(
    readonly target: WarmProgramSpec,
    readonly settings: WarmSettings,
  ) {
    // Looked at before the start: what changes meanwhile is noticed at the next call.
    this.stamps = takeStamps(target)
    this.greeting = new ServeGreeting(settings.startTimeoutMs, () => this.kill())
    this.over = this.#run()
    this.#idle = setTimeout(() => this.#endWhenIdle(), settings.idleMs).unref()
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
    return this.#abandoned > 0 && performance.now() - this.#abandonedSince > UNRESPONSIVE_MS
  }

  /**
   * Sends a request, `fields` being its JSON without id and braces, and gives the outcome. Rejects
   * with NotSent where it never left.
   */
  request(what: string, fields: string, ctx: WarmContext): Promise<Outcome> {
    if (this.load === 0) this.#alive.ref()
    this.used = performance.now()
    const id = ++this.#lastId
    const exchange = new WarmExchange(what, ctx, {
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
    this.#child?.keepAlive(true)
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
      env: { ...buildCallEnv(host), ...env },
      grace: this.settings.reactionTimeoutMs,
      maxLine: MAX_LINE_BYTES,
      maxStderr: 0,
      onLine: (line) => this.#take(parseJsonObject(line)),
      onErrorLine: (line) => (this.#stderr = `${this.#stderr}${line}\n`.slice(-MAX_STDERR_KEPT)),
    }))
    if (!this.open) child.kill()
    const end = await child.end
    this.#ended = true
    this.open = false
    clearTimeout(this.#idle)
    clearInterval(this.#alive)
    this.greeting.fail(describeUnavailable(end, this.#stderr))
    this.#failAll((exchange) =>
      exchange.sent ? toDiedInCallError(exchange.what, end, this.#stderr) : new RequestNotSent(),
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
    if (this.greeting.came) this.#child?.keepAlive(false)
  }

  #answered(id: number): void {
    this.#exchanges.delete(id)
    this.#abandoned = 0
    if (this.load > 0) return
    if (!this.open) return this.#end()
    this.#idle.refresh()
    this.#alive.unref()
  }

  #abandon(id: number, exchange: WarmExchange): void {
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
    }, this.settings.reactionTimeoutMs).unref()
  }

  async #check(): Promise<boolean> {
    let slow: NodeJS.Timeout | undefined
    const well = await new Promise<boolean>((resolve) => {
      slow = setTimeout(() => resolve(false), this.settings.reactionTimeoutMs)
      this.#onPong = () => resolve(true)
      void this.over.then(() => resolve(false))
      this.#outbox.send('{"ping":1}')
    })
    clearTimeout(slow)
    if (!well) this.kill()
    return well
  }

  #failAll(errorOf: (exchange: WarmExchange) => Error): void {
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
    setTimeout(() => this.kill(), this.settings.reactionTimeoutMs).unref()
  }
}

/** What a file was when it was looked at. */
type ProgramStamp = {
  readonly path: string
  readonly ino: number
  readonly size: number
  readonly mtime: number
  /** When it was looked at last, for what hardly ever changes: the interpreter, the directory. */ looked?: number
}

const RECHECK_MS = 20

/**
 * The files that make a program what it is, and its directory: the executable, the program, and the
 * arguments that are files.
 */
function takeStamps({ command, executable, cwd }: WarmProgramSpec): readonly ProgramStamp[] {
  const named = command
    .filter((word) => !word.startsWith('-') && (word.includes('/') || word.includes('.')))
    .map((word) => resolve(cwd, word))
  const paths = new Set([...(executable === undefined ? [] : [resolve(cwd, executable)]), ...named])
  const files = [...paths].flatMap((path) => {
    const seen = statFile(path)
    const isInterpreter = command.length > 1 && path === named[0] && path !== executable
    return seen?.isFile
      ? [
          {
            path,
            ...seen.stamp,
            ...compact({ looked: isInterpreter ? performance.now() : undefined }),
          },
        ]
      : []
  })
  // Of a directory only its identity counts: one that was made anew is not where the program runs.
  return [
    ...files,
    {
      path: cwd,
      ino: statFile(cwd)?.stamp.ino ?? 0,
      size: -1,
      mtime: 0,
      looked: performance.now(),
    },
  ]
}

/**
 * False as soon as one of the files is another one, or gone. `looked` is one of them as it is now.
 */
export function areStampsCurrent(stamps: readonly ProgramStamp[], looked?: CheckedFile): boolean {
  for (const stamp of stamps) {
    const { path, ino, size, mtime, looked: lately } = stamp
    if (lately !== undefined) {
      const now = performance.now()
      if (now - lately < RECHECK_MS) continue
      stamp.looked = now
    }
    const found = path === looked?.path ? looked.stamp : statFile(path)?.stamp
    if (
      !found ||
      found.ino !== ino ||
      (size !== -1 && (found.size !== size || found.mtime !== mtime))
    )
      return false
  }
  return true
}

/**
 * The failure of a call whose program died under it. Whether it did its work nobody knows, so that
 * it is not made again by itself.
 */
function toDiedInCallError(what: string, end: ChildEnd, said: string): ToolError {
  const stderr = said.trim()
  return new ToolError(
    'DEPENDENCY',
    `${what}: the program ${describeEnd(end)} in the middle of the call`,
    {
      details: compact({
        status: end.status !== null ? end.status : undefined,
        signal: end.signal !== null ? end.signal : undefined,
        stderr: stderr !== '' ? stderr : undefined,
      }),
      suggestion: {
        action: 'retry_with_modified_input',
        fix: 'Look whether the work was done, then call again: the program is started anew',
      },
    },
  )
}

/** Why a program that was started does not serve. */
function describeUnavailable(end: ChildEnd, said: string): string {
  if (end.reason === 'not-started')
    return `it could not be started: ${end.problem?.message ?? 'no reason is known'}`
  const stderr = said.trim()
  return `it ${describeEnd(end)} instead of serving${stderr === '' ? '' : `: ${stderr}`}`
}

function describeEnd({ reason, status, signal }: ChildEnd): string {
  if (reason === 'line-limit') return 'was ended because a line of it was too long'
  if (reason === 'cancelled') return 'was ended because it did not react'
  return signal === null ? `exited with ${status}` : `was killed by ${signal}`
}
