/**
 * Keeps toolable executables running between calls (`--serve`). A program that cannot be kept warm is called cold instead.
 */

import { runUntilAborted } from '../../core/lifecycle.ts'
import { buildCallEnv } from '../../process/environment.ts'
import type { Context } from '../../protocol/context.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { MEBIBYTE } from '../../util/units.ts'
import type { CheckedFile } from '../cache.ts'
import type { WarmCall, WarmProgramSpec, WarmSettings } from '../child/child-call.ts'
import { WarmUnavailable } from '../child/child-call.ts'
import { formatCallFields } from './exchange.ts'
import { areStampsCurrent, RequestNotSent, WarmProgram } from './warm-program.ts'

const DEFAULT_SETTINGS: Omit<WarmSettings, 'env'> = {
  idleMs: 60_000,
  maxProcesses: 8,
  maxCallsPerProcess: 64,
  startTimeoutMs: 10_000,
  healthCheckMs: 10_000,
  reactionTimeoutMs: 5000,
}
const MAX_ATTEMPTS = 3
const MAX_REQUEST_BYTES = 30 * MEBIBYTE

/**
 * Programs that are kept running between calls. `call` throws WarmUnavailable where a program
 * cannot be kept, before anything has happened, so it can be called cold.
 */
export type WarmPool = {
  /**
   * The outcome of a tool, its events and questions given to `ctx`. `checked` is its file right
   * before the call. Throws the ToolError that kept the call from having an outcome.
   */
  call(call: WarmCall, ctx: Context, checked?: CheckedFile): Promise<Outcome>
  /** Later calls get new processes; those that run end with their calls. */
  refresh(): void
  /** The processes that run now. */
  processes(): readonly {
    readonly pid: number | undefined
    readonly calls: number
    readonly command: readonly string[]
  }[]
  /** Stops all of them; resolves when they have exited. */
  close(): Promise<void>
}

/** Opens a pool. Nothing is started before the first call, and nothing keeps the host alive. */
export function createWarmPool(
  options: Partial<WarmSettings> & Pick<WarmSettings, 'env'>,
): WarmPool {
  const settings: WarmSettings = { ...DEFAULT_SETTINGS, ...options }
  const programs = new Map<string, Set<WarmProgram>>()
  const running = new Set<WarmProgram>()
  const backoff = new StartBackoff()
  let closed = false

  // The least busy one. No call waits for a second process: it is started for later calls.
  const choose = (target: WarmProgramSpec, checked?: CheckedFile): WarmProgram => {
    const key = getProgramKey(target)
    const group = programs.get(key)
    const best = group && findLeastBusy(group)
    if (!best) return start(key, target)
    if (!areStampsCurrent(best.stamps, checked)) {
      for (const program of group) program.retire()
      backoff.worked(key)
      return start(key, target)
    }
    if (
      best.load >= settings.maxCallsPerProcess &&
      ![...group].some(({ open, greeting }) => open && !greeting.came) &&
      backoff.reason(key) === undefined &&
      hasRoom()
    )
      start(key, target)
    return best
  }

  // Makes room by stopping the program that was idle for longest.
  const hasRoom = (): boolean => {
    const open = [...running].filter((program) => program.open)
    if (open.length < settings.maxProcesses) return true
    const idle = open
      .filter(({ greeting, load }) => greeting.came && load === 0)
      .sort((left, right) => left.used - right.used)[0]
    idle?.retire()
    return idle !== undefined
  }

  const start = (key: string, target: WarmProgramSpec): WarmProgram => {
    const reason = backoff.reason(key)
    if (reason !== undefined) throw new WarmUnavailable(reason)
    if (!hasRoom()) throw new WarmUnavailable(`${settings.maxProcesses} programs are busy already`)
    const program = new WarmProgram(target, settings)
    const group = programs.get(key) ?? new Set()
    programs.set(key, group.add(program))
    running.add(program)
    program.greeting.heard.then(
      () => backoff.worked(key),
      (error: Error) => {
        if (!program.retired) backoff.failed(key, error.message)
      },
    )
    void program.over.then(() => {
      running.delete(program)
      group.delete(program)
      if (group.size === 0 && programs.get(key) === group) programs.delete(key)
    })
    return program
  }

  const isIdleForLong = ({ load, used }: WarmProgram): boolean =>
    load === 0 && performance.now() - used > settings.healthCheckMs

  return {
    async call(call, ctx, checked) {
      const fields = formatCallFields(call, ctx)
      if (fields.length > MAX_REQUEST_BYTES / 3 && Buffer.byteLength(fields) > MAX_REQUEST_BYTES)
        throw new WarmUnavailable('the input is too large for a line')
      const check = (isReady: () => Promise<boolean>): Promise<boolean> =>
        runUntilAborted(ctx.signal, isReady)
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (closed) throw new ToolError('CANCELLED', 'the registry is closed')
        const program = choose(call, attempt === 0 ? checked : undefined)
        if (!program.greeting.came && !(await check(() => isServing(program)))) continue
        if (isIdleForLong(program) && !(await check(() => program.isWell()))) continue
        if (!program.open) continue
        try {
          return await program.request(call.tool, fields, ctx)
        } catch (error) {
          if (!(error instanceof RequestNotSent)) throw error
        }
      }
      throw new WarmUnavailable('it ends as soon as it has started')
    },
    refresh() {
      for (const program of running) program.retire()
    },
    processes: () =>
      [...running].map(({ pid, load, target: { command } }) => ({ pid, calls: load, command })),
    async close() {
      closed = true
      await Promise.all([...running].map((program) => program.close()))
    },
  }
}

// False when it was retired meanwhile: the next one may serve. Throws WarmUnavailable where it never
// will.
async function isServing(program: WarmProgram): Promise<boolean> {
  try {
    await program.greeting.heard
    return true
  } catch (error) {
    if (program.retired) return false
    throw error
  }
}

function findLeastBusy(group: ReadonlySet<WarmProgram>): WarmProgram | undefined {
  let best: WarmProgram | undefined
  for (const program of group) {
    if (!program.open || program.suspect) continue
    if (!best || (program.greeting.came && (!best.greeting.came || program.load < best.load)))
      best = program
  }
  return best
}

function getProgramKey({ command, cwd, host, env }: WarmProgramSpec): string {
  const parts = [cwd, ...command]
  if (env) parts.push(getVariablesKey(env, (variables) => variables))
  if (host) parts.push(getVariablesKey(host, buildCallEnv))
  return parts.join('\0')
}

const variableKeys = new WeakMap<object, string>()

// By contents, because callers make copies. Once per copy, because reading all variables takes
// longer than the rest of a call.
function getVariablesKey<Variables extends object>(
  variables: Variables,
  pick: (variables: Variables) => object,
): string {
  const key = variableKeys.get(variables) ?? JSON.stringify(pick(variables))
  variableKeys.set(variables, key)
  return key
}

const INITIAL_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000
const MAX_FAILURES_KEPT = 1000

/** Remembers which programs did not start, and pauses before the next try. */
class StartBackoff {
  readonly #failures = new Map<string, { until: number; pause: number; reason: string }>()

  /** Why a program is not to be started now; undefined where it may be. */
  reason(key: string): string | undefined {
    const failure = this.#failures.get(key)
    return failure && performance.now() < failure.until ? failure.reason : undefined
  }

  failed(key: string, reason: string): void {
    const before = this.#failures.get(key)?.pause ?? INITIAL_PAUSE_MS / 2
    const pause = Math.min(MAX_PAUSE_MS, before * 2)
    this.#failures.delete(key)
    if (this.#failures.size >= MAX_FAILURES_KEPT)
      this.#failures.delete(this.#failures.keys().next().value!)
    this.#failures.set(key, { until: performance.now() + pause, pause, reason })
  }

  worked(key: string): void {
    this.#failures.delete(key)
  }
}
