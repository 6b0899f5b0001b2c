/**
 * One process that stays, the requests it works on, and the files that make it current.
 */

import { resolve } from 'node:path'
import type { ChildEnd } from '../../process/child.ts'
import { buildCallEnv } from '../../process/environment.ts'
import type { OpenChild } from '../../process/run.ts'
import { openChild } from '../../process/run.ts'
import type { Context } from '../../protocol/context.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { waitAtMost } from '../../util/async.ts'
import { MAX_TIMER_MS, MEBIBYTE } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import type { CheckedFile } from '../cache.ts'
import { statFile } from '../cache.ts'
import type { WarmProgramSpec, WarmSettings } from '../child/child-call.ts'
import { WarmUnavailable } from '../child/child-call.ts'
import { LineOutbox, ServeGreeting, WarmExchange } from './exchange.ts'

const MAX_LINE_BYTES = 72 * MEBIBYTE
const MAX_STDERR_KEPT = 4000
const UNRESPONSIVE_MS = 200

/** A request was never sent, so it may be sent to another process. */
export class RequestNotSent extends Error {}

/** One process of a program that stays, and the requests that it is working on. */
export class WarmProgram {
  readonly greeting: ServeGreeting
  /** Resolves when the process has exited. */
  readonly over: Promise<void>
  readonly stamps: readonly ProgramStamp[]
  /** It takes new requests. */
  open = true
  /** It was asked to stop, without being at fault. */
  retired = false
  /** The time of its last request, on the monotonic clock. */
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
    // Before the start, so that changes during the start are noticed at the next call.
    this.stamps = takeStamps(target)
    this.greeting = new ServeGreeting(settings.startTimeoutMs, () => this.kill())
    this.over = this.#run()
    this.#idle = setTimeout(() => this.#endWhenIdle(), settings.idleMs).unref()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The number of requests that it works on. */
  get load(): number {
    return this.#exchanges.size
  }

  /** It does not react to a cancelled call, so it gets no new ones. */
  get suspect(): boolean {
    return this.#abandoned > 0 && performance.now() - this.#abandonedSince > UNRESPONSIVE_MS
  }

  /**
   * Calls a tool; `fields` is the request as JSON without id and braces. Rejects with
   * RequestNotSent where it never left.
   */
  request(tool: string, fields: string, ctx: Context): Promise<Outcome> {
    if (this.load === 0) this.#alive.ref()
    this.used = performance.now()
    const id = ++this.#lastId
    const exchange = new WarmExchange(
      tool,
      ctx,
      (more) => this.#outbox.send(`{"id":${id},${more}}`),
      () => this.#abandon(id, exchange),
    )
    if (exchange.over) return exchange.result
    this.#exchanges.set(id, exchange)
    this.#outbox.send(`{"id":${id},${fields}}`, exchange)
    return exchange.result
  }

  /** Whether it answers a ping. One that does not is killed. */
  isWell(): Promise<boolean> {
    return (this.#checking ??= this.#check().finally(() => (this.#checking = undefined)))
  }

  /** Takes no new requests, and exits when those that it has are answered. */
  retire(): void {
    this.retired = true
    this.open = false
    if (this.load === 0) this.#end()
  }

  /** Stops it with the requests that it works on; resolves when it has exited. */
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
      exchange.sent ? toDiedInCallError(exchange.tool, end, this.#stderr) : new RequestNotSent(),
    )
  }

  #take(line: JsonObject | undefined): void {
    if (!this.greeting.came) {
      this.greeting.take(line)
      if (this.greeting.came) this.#child?.keepAlive(false)
      return
    }
    const id = line?.['id'] as number
    const exchange = this.#exchanges.get(id)
    if (line && exchange) {
      if (exchange.take(line)) this.#answered(id)
    } else if (line?.['pong'] === 1) this.#onPong?.()
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
    // Without further calls nothing else would notice that it is stuck.
    setTimeout(() => {
      if (this.#exchanges.has(id)) this.kill()
    }, this.settings.reactionTimeoutMs).unref()
  }

  async #check(): Promise<boolean> {
    const pong = new Promise<boolean>((resolve) => {
      this.#onPong = () => resolve(true)
    })
    this.#outbox.send('{"ping":1}')
    const exited = this.over.then(() => false)
    const isWell = await waitAtMost(this.settings.reactionTimeoutMs, Promise.race([pong, exited]))
    if (!isWell) this.kill()
    return isWell === true
  }

  #failAll(toError: (exchange: WarmExchange) => Error): void {
    for (const exchange of this.#exchanges.values()) exchange.fail(toError(exchange))
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

/** A file as it was when the program was started. */
type ProgramStamp = {
  readonly path: string
  readonly ino: number
  readonly size: number
  readonly mtime: number
  /** When it was checked last, for what hardly ever changes: the interpreter, the directory. */
  checkedAt?: number
}

const RECHECK_MS = 20

/** The files that make a program what it is (the program, and arguments that are files), and cwd. */
function takeStamps({ command, cwd }: WarmProgramSpec): readonly ProgramStamp[] {
  const checkedAt = performance.now()
  const paths = command
    .filter((word) => !word.startsWith('-') && (word.includes('/') || word.includes('.')))
    .map((word) => resolve(cwd, word))
  const files = [...new Set(paths)].flatMap((path): ProgramStamp[] => {
    const info = statFile(path)
    if (!info?.isFile) return []
    const isInterpreter = command.length > 1 && path === paths[0]
    return [
      { path, ...info.stamp, ...compact({ checkedAt: isInterpreter ? checkedAt : undefined }) },
    ]
  })
  // Of a directory only its identity counts: the program runs in the one that was replaced.
  const ino = statFile(cwd)?.stamp.ino ?? 0
  return [...files, { path: cwd, ino, size: -1, mtime: 0, checkedAt }]
}

/** False when one of the files was changed or removed. `checked` is one of them as it is now. */
export function areStampsCurrent(stamps: readonly ProgramStamp[], checked?: CheckedFile): boolean {
  for (const stamp of stamps) {
    const { path, ino, size, mtime, checkedAt } = stamp
    if (checkedAt !== undefined) {
      const now = performance.now()
      if (now - checkedAt < RECHECK_MS) continue
      stamp.checkedAt = now
    }
    const found = path === checked?.path ? checked.stamp : statFile(path)?.stamp
    if (found?.ino !== ino) return false
    if (size !== -1 && (found.size !== size || found.mtime !== mtime)) return false
  }
  return true
}

// It may have done its work before it died, so the call is not repeated.
function toDiedInCallError(tool: string, end: ChildEnd, stderr: string): ToolError {
  return new ToolError(
    'DEPENDENCY',
    `${tool}: the program ${describeEnd(end)} in the middle of the call`,
    {
      details: compact({
        status: end.status ?? undefined,
        signal: end.signal ?? undefined,
        stderr: stderr.trim() || undefined,
      }),
      suggestion: {
        action: 'retry_with_modified_input',
        fix: 'Look whether the work was done, then call again: the program is started anew',
      },
    },
  )
}

/** Why a program that was started does not serve. */
function describeUnavailable(end: ChildEnd, stderr: string): string {
  if (end.reason === 'not-started')
    return `it could not be started: ${end.problem?.message ?? 'no reason is known'}`
  const reason = `it ${describeEnd(end)} instead of serving`
  return stderr.trim() === '' ? reason : `${reason}: ${stderr.trim()}`
}

function describeEnd({ reason, status, signal }: ChildEnd): string {
  if (reason === 'line-limit') return 'was ended because a line of it was too long'
  if (reason === 'cancelled') return 'was ended because it did not react'
  return signal === null ? `exited with ${status}` : `was killed by ${signal}`
}
