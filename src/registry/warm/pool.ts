import { untilAborted } from '../../call/running.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { baseEnvironment } from '../../process/base-environment.ts'
import type { LookedAt } from '../cache/stamp.ts'
import { Backoff } from './backoff.ts'
import { NotSent, WarmProgram } from './program.ts'
import { callFields, promptFields, resourceFields } from './request-fields.ts'
import { areCurrent } from './stamps.ts'
import { WarmUnavailable } from './warm-type.ts'
import type { WarmCall, WarmContext, WarmSettings, WarmTarget } from './warm-type.ts'

const DEFAULTS: Omit<WarmSettings, 'env'> = {
  idle: 60_000,
  most: 8,
  share: 64,
  start: 10_000,
  check: 10_000,
  react: 5000,
}
const MOST_ATTEMPTS = 3
const LONGEST_REQUEST = 30 * 1024 * 1024

/** Programs that are kept running between calls. All of it throws WarmUnavailable where a program cannot be kept, before anything has happened: then it is to be called cold. */
export type WarmPool = {
  /** The outcome of a tool, its events and questions given to `ctx`, its program looked at right before; throws the ToolError that kept the call from having one. */
  call(call: WarmCall, ctx: WarmContext, looked?: LookedAt): Promise<Outcome>
  readResource(target: WarmTarget, uri: string, ctx: WarmContext): Promise<Outcome>
  renderPrompt(target: WarmTarget, name: string, input: unknown, ctx: WarmContext): Promise<Outcome>
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
export function warmPool(options: Partial<WarmSettings> & Pick<WarmSettings, 'env'>): WarmPool {
  const settings: WarmSettings = { ...DEFAULTS, ...options }
  const programs = new Map<string, Set<WarmProgram>>()
  const running = new Set<WarmProgram>()
  const backoff = new Backoff()
  let closed = false

  // The one that has least to do. Nobody waits for a second process: it is started for those who come later.
  const choose = (target: WarmTarget, looked?: LookedAt): WarmProgram => {
    const key = keyOf(target)
    const group = programs.get(key)
    const best = group && leastBusy(group)
    if (!best) return start(key, target)
    if (!areCurrent(best.stamps, looked)) {
      for (const program of group) program.retire()
      backoff.worked(key)
      return start(key, target)
    }
    if (
      best.load >= settings.share &&
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
    if (open.length < settings.most) return true
    const idle = open
      .filter(({ greeting, load }) => greeting.came && load === 0)
      .sort((left, right) => left.used - right.used)[0]
    idle?.retire()
    return idle !== undefined
  }

  const start = (key: string, target: WarmTarget): WarmProgram => {
    const reason = backoff.reason(key)
    if (reason !== undefined) throw new WarmUnavailable(reason)
    if (!hasRoom()) throw new WarmUnavailable(`${settings.most} programs are busy already`)
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
    target: WarmTarget,
    what: string,
    fields: string,
    ctx: WarmContext,
    looked?: LookedAt,
  ): Promise<Outcome> => {
    if (fields.length > LONGEST_REQUEST / 3 && Buffer.byteLength(fields) > LONGEST_REQUEST)
      throw new WarmUnavailable('the input is too large for a line')
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (closed) throw new ToolError('CANCELLED', 'the registry is closed')
      const program = choose(target, attempt === 0 ? looked : undefined)
      if (!program.greeting.came && !(await untilAborted(ctx.signal, () => isServing(program))))
        continue
      if (
        program.load === 0 &&
        performance.now() - program.used > settings.check &&
        !(await untilAborted(ctx.signal, () => program.isWell()))
      )
        continue
      if (!program.open) continue
      try {
        return await program.request(what, fields, ctx)
      } catch (error) {
        if (!(error instanceof NotSent)) throw error
      }
    }
    throw new WarmUnavailable('it ends as soon as it has started')
  }

  return {
    call: (call, ctx, looked) => request(call, call.tool, callFields(call, ctx), ctx, looked),
    readResource: (target, uri, ctx) => request(target, uri, resourceFields(uri, ctx), ctx),
    renderPrompt: (target, name, input, ctx) =>
      request(target, name, promptFields(name, input, ctx), ctx),
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

// False when it was told to end meanwhile: the next one may serve. Throws WarmUnavailable where it never will.
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

function leastBusy(group: ReadonlySet<WarmProgram>): WarmProgram | undefined {
  let best: WarmProgram | undefined
  for (const program of group) {
    if (!program.open || program.suspect) continue
    if (!best || (program.greeting.came && (!best.greeting.came || program.load < best.load)))
      best = program
  }
  return best
}

function keyOf({ command, cwd, host, env }: WarmTarget): string {
  return `${cwd}\0${command.join('\0')}${env ? `\0${keyOfVariables(env, identity)}` : ''}${host ? `\0${keyOfVariables(host, baseEnvironment)}` : ''}`
}

const keys = new WeakMap<object, string>()
const identity = <Value>(value: Value): Value => value

// By their contents, because callers make copies; found once for each copy, because reading all of it takes longer than the rest of a call.
function keyOfVariables<Variables extends object>(
  variables: Variables,
  pick: (variables: Variables) => object,
): string {
  let key = keys.get(variables)
  if (key === undefined) keys.set(variables, (key = JSON.stringify(pick(variables))))
  return key
}
