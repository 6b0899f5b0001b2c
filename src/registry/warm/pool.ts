/**
 * Keeps toolable executables running between calls (`--serve`). A program that cannot be kept warm is called cold instead.
 */

import { runUntilAborted } from '../../core/lifecycle.ts'
import { buildCallEnv } from '../../process/environment.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { CheckedFile } from '../cache.ts'
import { WarmUnavailable } from '../child/child-call.ts'
import type { WarmCall, WarmContext, WarmProgramSpec, WarmSettings } from '../child/child-call.ts'
import { formatCallFields, formatPromptFields, formatResourceFields } from './exchange.ts'
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
const MAX_REQUEST_BYTES = 30 * 1024 * 1024

/**
 * Programs that are kept running between calls. All of it throws WarmUnavailable where a program
 * cannot be kept, before anything has happened: then it is to be called cold.
 */
export type WarmPool = {
  /**
   * The outcome of a tool, its events and questions given to `ctx`, its program looked at right
   * before; throws the ToolError that kept the call from having one.
   */
  call(call: WarmCall, ctx: WarmContext, looked?: CheckedFile): Promise<Outcome>
  readResource(target: WarmProgramSpec, uri: string, ctx: WarmContext): Promise<Outcome>
  renderPrompt(
    target: WarmProgramSpec,
    name: string,
    input: unknown,
    ctx: WarmContext,
  ): Promise<Outcome>
  /** From here on new processes answer; those that run end with their calls. */
  refresh(): void
  /** The processes that run now. */
  processes(): readonly {
    readonly pid: number | undefined
    readonly calls: number
    readonly command: readonly string[]
  }[]
  /** Ends all of them; resolves when they are gone. */
  close(): Promise<void>
}

/** Opens a pool; nothing is started before it is needed, and nothing of it keeps the host alive. */
export function createWarmPool(
  options: Partial<WarmSettings> & Pick<WarmSettings, 'env'>,
): WarmPool {
  const settings: WarmSettings = { ...DEFAULT_SETTINGS, ...options }
  const programs = new Map<string, Set<WarmProgram>>()
  const running = new Set<WarmProgram>()
  const backoff = new StartBackoff()
  let closed = false

  // The one that has least to do. Nobody waits for a second process: it is started for those who
  // come later.
  const choose = (target: WarmProgramSpec, looked?: CheckedFile): WarmProgram => {
    const key = getProgramKey(target)
    const group = programs.get(key)
    const best = group && findLeastBusy(group)
    if (!best) return start(key, target)
    if (!areStampsCurrent(best.stamps, looked)) {
      for (const program of group) program.retire()
      backoff.worked(key)
      return start(key, target)
    }
    if (
      best.load >= settings.maxCallsPerProcess &&
      !isStarting(group) &&
      backoff.reason(key) === undefined &&
      hasRoom()
    )
      start(key, target)
    return best
  }

  // Makes room by ending the program that was not used for longest.
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

  const request = async (
    target: WarmProgramSpec,
    what: string,
    fields: string,
    ctx: WarmContext,
    looked?: CheckedFile,
  ): Promise<Outcome> => {
    if (fields.length > MAX_REQUEST_BYTES / 3 && Buffer.byteLength(fields) > MAX_REQUEST_BYTES)
      throw new WarmUnavailable('the input is too large for a line')
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (closed) throw new ToolError('CANCELLED', 'the registry is closed')
      const program = choose(target, attempt === 0 ? looked : undefined)
      if (!program.greeting.came && !(await runUntilAborted(ctx.signal, () => isServing(program))))
        continue
      if (
        program.load === 0 &&
        performance.now() - program.used > settings.healthCheckMs &&
        !(await runUntilAborted(ctx.signal, () => program.isWell()))
      )
        continue
      if (!program.open) continue
      try {
        return await program.request(what, fields, ctx)
      } catch (error) {
        if (!(error instanceof RequestNotSent)) throw error
      }
    }
    throw new WarmUnavailable('it ends as soon as it has started')
  }

  return {
    call: (call, ctx, looked) => request(call, call.tool, formatCallFields(call, ctx), ctx, looked),
    readResource: (target, uri, ctx) => request(target, uri, formatResourceFields(uri, ctx), ctx),
    renderPrompt: (target, name, input, ctx) =>
      request(target, name, formatPromptFields(name, input, ctx), ctx),
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

// False when it was told to end meanwhile: the next one may serve. Throws WarmUnavailable where it
// never will.
async function isServing(program: WarmProgram): Promise<boolean> {
  try {
    await program.greeting.heard
    return true
  } catch (error) {
    if (program.retired) return false
    throw error
  }
}

function isStarting(group: ReadonlySet<WarmProgram>): boolean {
  for (const { open, greeting } of group) if (open && !greeting.came) return true
  return false
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
  return `${cwd}\0${command.join('\0')}${env ? `\0${getVariablesKey(env, identity)}` : ''}${host ? `\0${getVariablesKey(host, buildCallEnv)}` : ''}`
}

const variableKeys = new WeakMap<object, string>()
const identity = <Value>(value: Value): Value => value

// By their contents, because callers make copies; found once for each copy, because reading all of
// it takes longer than the rest of a call.
function getVariablesKey<Variables extends object>(
  variables: Variables,
  pick: (variables: Variables) => object,
): string {
  let key = variableKeys.get(variables)
  if (key === undefined) variableKeys.set(variables, (key = JSON.stringify(pick(variables))))
  return key
}

const INITIAL_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000
const MAX_FAILURES_KEPT = 1000

/** Remembers what did not start, so that it is not tried again at once. */
class StartBackoff {
  readonly #failures = new Map<
    string,
    { readonly until: number; readonly pause: number; readonly why: string }
  >()

  /** Why something is not to be tried now; undefined where it may be. */
  reason(key: string): string | undefined {
    const failure = this.#failures.get(key)
    return failure && performance.now() < failure.until ? failure.why : undefined
  }

  failed(key: string, why: string): void {
    const pause = Math.min(
      MAX_PAUSE_MS,
      (this.#failures.get(key)?.pause ?? INITIAL_PAUSE_MS / 2) * 2,
    )
    this.#failures.delete(key)
    if (this.#failures.size >= MAX_FAILURES_KEPT)
      this.#failures.delete(this.#failures.keys().next().value!)
    this.#failures.set(key, { until: performance.now() + pause, pause, why })
  }

  worked(key: string): void {
    this.#failures.delete(key)
  }
}
