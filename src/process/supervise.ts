/**
 * The life of one child: spawn, timeouts, cancellation, limits, the kill of its whole tree, and the last bytes in its pipes.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { ToolError } from '../protocol/tool-error.ts'
import { quoteForShell } from '../util/text.ts'
import { compact } from '../util/values.ts'
import { maskInheritedDescriptors, openChannels } from './channels.ts'
import type { ChildChannels, ChildInput, PendingChannels } from './channels.ts'
import { createGroupController } from './child.ts'
import type {
  ChildEnd,
  ChildOptions,
  ChildReason,
  LaunchPlan,
  LimitExceeded,
  LimitWatcher,
} from './child.ts'
import { killGroupOnExit } from './host.ts'
import { collectErrors, collectOutput } from './output.ts'
import type { BackpressureListener } from './output.ts'
import { killDescriptorHolders, killProcesses } from './process-table.ts'

/** A child that runs under watch. */
export type SupervisedChild = {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined
  /** Null where it was not asked for, or the child could not be started. */
  readonly stdin: Writable | null
  /** What keeps our own process alive. */
  readonly handles: readonly unknown[]
  readonly end: Promise<ChildEnd>
  /**
   * Ends the tree, for the reason 'cancelled'; within so many milliseconds, where they are other
   * than the grace of its options.
   */
  stop(patience?: number): void
}

/**
 * Starts a child, as it stands in the options or in its hold, and watches it until it is over.
 * Never throws: what cannot be started has the end `not-started`.
 */
export async function supervise(
  options: ChildOptions,
  stdin: ChildInput | PendingChannels,
  hold?: LaunchPlan,
  watch?: LimitWatcher,
): Promise<SupervisedChild> {
  const { signal, timeout, grace = 0 } = options
  const began = performance.now()
  const started = await spawnChild(options, stdin, hold)
  if (started instanceof Error)
    return createUnstartedChild(began, 'not-started', await toStartError(started, options))
  if (started === 'cancelled') return createUnstartedChild(began, 'cancelled')
  const { child, pid, channels } = started
  const forget = killGroupOnExit(pid)
  const reins = hold?.attach(child, pid) ?? createGroupController(pid)
  options.onStart?.(pid)
  // A signal that cannot be delivered arrives here too, and is nobody's fault.
  child.on('error', () => {})

  let reason: ChildReason = 'exited'
  let problem: Error | undefined
  let limit: LimitExceeded | undefined
  const timers: NodeJS.Timeout[] = []
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  const stop = (why: ChildReason, cause?: Error, patience = grace): void => {
    if (reason !== 'exited') return
    reason = why
    problem = cause
    if (isOver()) return
    // Whoever takes too much is not asked, because it would go on taking.
    if (patience === 0 || why === 'limit') return reins.kill()
    reins.terminate()
    timers.push(setTimeout(reins.kill, patience))
  }
  const end = (patience?: number): void => {
    if (!isOver()) stop('cancelled', undefined, patience)
  }
  const onAbort = (): void => end()
  signal?.addEventListener('abort', onAbort, { once: true })
  // It may have been aborted while the start was waited for.
  if (signal?.aborted) onAbort()
  if (timeout !== undefined) timers.push(setTimeout(() => stop('timeout'), timeout))

  const endWatch = watch?.(
    reins.getRootPid,
    (reached) => {
      if (reason === 'exited') limit = reached
      stop('limit')
    },
    typeof stdin === 'number' ? stdin : undefined,
  )

  const output = collectOutput(channels.stdout, options, stop)
  const errors = collectErrors(channels.stderr, options, stop)

  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(
    async (): Promise<ChildEnd> => {
      forget()
      const left = endWatch?.() ?? []
      for (const timer of timers) clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      channels.stdin?.destroy()
      await reins.cleanUp()
      killProcesses(left)
      await drainPipes([channels.stdout, channels.stderr], [output.listener, errors.listener], () =>
        killDescriptorHolders(channels.pipeNames),
      )
      channels.release()
      output.finish()
      errors.finish()
      return compact({
        reason,
        status: child.exitCode,
        signal: child.signalCode,
        stdout: output.bytes(),
        stderr: errors.bytes(),
        stderrCut: errors.isTruncated(),
        duration: performance.now() - began,
        limit,
        problem,
      })
    },
  )
  return {
    pid,
    stdin: channels.stdin,
    handles: [child, channels.stdin, channels.stdout, channels.stderr],
    end: ended,
    stop: end,
  }
}

/** The end of what never ran. */
export function createUnstartedChild(
  began: number,
  reason: ChildReason,
  problem?: Error,
): SupervisedChild {
  const nothing = Buffer.alloc(0)
  const end: ChildEnd = compact({
    reason,
    status: null,
    signal: null,
    stdout: nothing,
    stderr: nothing,
    stderrCut: false,
    duration: performance.now() - began,
    problem,
  })
  return { pid: undefined, stdin: null, handles: [], end: Promise.resolve(end), stop: () => {} }
}

/** A child that runs, and the streams to it. */
type SpawnedChild = {
  readonly child: ChildProcess
  readonly pid: number
  readonly channels: ChildChannels
}

/**
 * Starts a child, in a process group of its own; gives what the system says where it does not want
 * to.
 */
async function spawnChild(
  options: ChildOptions,
  stdin: ChildInput | PendingChannels,
  hold?: LaunchPlan,
): Promise<SpawnedChild | NodeJS.ErrnoException | 'cancelled'> {
  const { signal } = options
  const {
    command: [program, ...args],
    cwd,
    env,
  } = hold ?? options
  const descriptors = hold?.descriptors ?? []
  const { spawn } = await import('node:child_process')
  const opened = typeof stdin === 'object' ? stdin : await openChannels(stdin)
  const closeOurs = (): void =>
    descriptors.forEach((descriptor) => typeof descriptor === 'number' && closeSync(descriptor))
  if (signal?.aborted) {
    opened.discard()
    closeOurs()
    return 'cancelled'
  }
  const stdio = [...(opened.stdio as unknown[]), ...descriptors]
  let uncover = (): void => {}
  try {
    uncover = maskInheritedDescriptors(stdio)
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: stdio as StdioOptions,
      shell: false,
      detached: true,
      windowsHide: true,
      ...hold?.user,
    })
    if (child.pid !== undefined) return { child, pid: child.pid, channels: opened.connect(child) }
    opened.discard()
    return await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve))
  } catch (error) {
    opened.discard()
    return error as NodeJS.ErrnoException
  } finally {
    uncover()
    closeOurs()
  }
}

const MAX_ARGUMENT_BYTES = 131_071

/**
 * Why a child could not be started, in words: what is missing, forbidden or too large, and what to
 * do about it.
 */
export async function toStartError(
  error: NodeJS.ErrnoException,
  { command: [program], cwd }: ChildOptions,
): Promise<ToolError> {
  const { stat, open } = await import('node:fs/promises')
  const named = JSON.stringify(program)
  if (error.code === 'ERR_INVALID_ARG_VALUE') {
    return new ToolError(
      'INVALID_INPUT',
      `${named} cannot be started: an argument or a variable contains a NUL character`,
      { suggestion: 'Remove the character \\u0000 from the input', cause: error },
    )
  }
  if (error.code === 'E2BIG') {
    return new ToolError(
      'INVALID_INPUT',
      `${named} cannot be started: its arguments are too large; the system takes at most ${MAX_ARGUMENT_BYTES} bytes for each`,
      { suggestion: 'Give the input by stdin or by file', cause: error },
    )
  }
  const folder = await stat(cwd).catch(() => undefined)
  if (!folder?.isDirectory()) {
    return new ToolError(
      'INVALID_PATH',
      `${named} cannot be started in ${cwd}: there is no such directory`,
      { suggestion: `mkdir -p ${quoteForShell(cwd)}`, cause: error },
    )
  }
  if (error.code === 'ENOENT') {
    const interpreter = program.includes('/') ? await readInterpreter(program, open) : undefined
    if (interpreter !== undefined)
      return new ToolError(
        'CONFIG',
        `${named} cannot be started: its first line names the interpreter ${interpreter}, which is not on this machine`,
        {
          suggestion: `Install ${interpreter}, or change the first line of ${program}`,
          cause: error,
        },
      )
    return new ToolError('CONFIG', `The program ${named} was not found`, {
      suggestion: program.includes('/')
        ? `Check the path: ls -l ${quoteForShell(program)}`
        : `Install ${program}, or add its folder to PATH`,
      cause: error,
    })
  }
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new ToolError('PERMISSION', `${named} may not be executed`, {
      suggestion: `chmod +x ${quoteForShell(program)}`,
      cause: error,
    })
  }
  const busy =
    error.code === 'EAGAIN' ||
    error.code === 'EMFILE' ||
    error.code === 'ENFILE' ||
    error.code === 'ENOMEM'
  return new ToolError(
    busy ? 'DEPENDENCY' : 'CONFIG',
    `${named} cannot be started: ${error.message}`,
    {
      suggestion: busy
        ? 'Run fewer programs at the same time, then try again'
        : `Run it by hand: ${quoteForShell(program)}`,
      cause: error,
    },
  )
}

async function readInterpreter(
  program: string,
  open: typeof import('node:fs/promises').open,
): Promise<string | undefined> {
  try {
    const file = await open(program)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0)
      return /^#!\s*(\S+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1]
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

/**
 * How long a pipe may stay silent after its child is over before whoever holds it is looked for,
 * and how long all of that may take.
 */
const SILENCE_MS = 30
const MAX_DRAIN_MS = 1000
/** How many times as long we wait for a listener of our own that has not taken what came. */
const MAX_LISTENER_ROUNDS = 30

/**
 * Reads what is still in the pipes. A pipe that stays open has an owner that outlived the child; it
 * is ended, and then the pipe is given up. While a listener of ours holds a pipe, its silence means
 * nothing.
 */
async function drainPipes(
  pipes: readonly Readable[],
  listeners: readonly (BackpressureListener | undefined)[],
  endHolders: () => void,
): Promise<void> {
  const open = pipes.filter((pipe) => !pipe.closed && !pipe.readableEnded)
  const isHeld = (): boolean => listeners.some((listener) => listener?.isPaused())
  // A pipe that waits for its listener can end before the listener is done with the last chunk.
  const closed = Promise.all(
    open.map(
      (pipe) => new Promise<void>((resolve) => pipe.once('close', resolve).once('end', resolve)),
    ),
  ).then(() => Promise.all(listeners.map((listener) => listener?.whenIdle() ?? Promise.resolve())))
  let over = false
  void closed.then(() => {
    over = true
  })
  await Promise.race([closed, waitForSilence(pipes, isHeld, 0)])
  if (over) return
  endHolders()
  // Nobody writes any more, so that what is left is little and it is worth waiting for.
  await Promise.race([closed, waitForSilence(pipes, isHeld, MAX_LISTENER_ROUNDS)])
  for (const pipe of pipes) pipe.destroy()
}

/**
 * Resolves when no pipe said anything for a while and none is held, or everything takes too long.
 */
function waitForSilence(
  pipes: readonly Readable[],
  isHeld: () => boolean,
  patience: number,
): Promise<void> {
  return new Promise((resolve) => {
    let heard = false
    const hear = (): void => {
      heard = true
    }
    const finish = (): void => {
      clearTimeout(longest)
      clearTimeout(quiet)
      for (const pipe of pipes) pipe.off('data', hear)
      resolve()
    }
    const decide = (): void => {
      if (!heard && !isHeld()) return finish()
      heard = false
      quiet.refresh()
    }
    let rounds = 0
    const longest = setTimeout(() => {
      rounds += 1
      if (rounds > patience || !isHeld()) finish()
      else longest.refresh()
    }, MAX_DRAIN_MS)
    // Where we were busy ourselves, the pipes have had no turn yet; after one turn of theirs
    // silence is silence.
    const quiet = setTimeout(() => setImmediate(decide), SILENCE_MS)
    for (const pipe of pipes) pipe.on('data', hear)
  })
}
