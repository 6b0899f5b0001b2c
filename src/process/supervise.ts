/**
 * The life of one child: spawn, timeouts, cancellation, limits, the kill of its whole tree, and the last bytes in its pipes.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode } from '../util/files.ts'
import { quoteForShell } from '../util/text.ts'
import { compact } from '../util/values.ts'
import type { ChildChannels, ChildInput, PendingChannels } from './channels.ts'
import { maskInheritedDescriptors, openChannels } from './channels.ts'
import type {
  ChildEnd,
  ChildOptions,
  ChildReason,
  LaunchPlan,
  LimitExceeded,
  LimitWatcher,
} from './child.ts'
import { createGroupController } from './child.ts'
import { killGroupOnExit } from './host.ts'
import type { BackpressureListener } from './output.ts'
import { collectErrors, collectOutput } from './output.ts'
import { killDescriptorHolders, killProcesses } from './process-table.ts'

/** A supervised child. */
export type SupervisedChild = {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined
  /** Null without a pipe, or when the child could not be started. */
  readonly stdin: Writable | null
  /** What keeps this process alive. */
  readonly handles: readonly unknown[]
  readonly end: Promise<ChildEnd>
  /** Ends the tree with the reason 'cancelled'; `graceMs` replaces the grace of its options. */
  stop(graceMs?: number): void
}

/** Starts a child, by its launch plan if it has one, and supervises it until its end. Never throws. */
export async function supervise(
  options: ChildOptions,
  stdin: ChildInput | PendingChannels,
  plan?: LaunchPlan,
  watch?: LimitWatcher,
): Promise<SupervisedChild> {
  const { signal, timeout, grace = 0 } = options
  const began = performance.now()
  const started = await spawnChild(options, stdin, plan)
  if (started instanceof Error)
    return createUnstartedChild(began, 'not-started', await toStartError(started, options))
  if (started === 'cancelled') return createUnstartedChild(began, 'cancelled')
  const { child, pid, channels } = started
  const forget = killGroupOnExit(pid)
  const controller = plan?.attach(child, pid) ?? createGroupController(pid)
  options.onStart?.(pid)
  // A signal that cannot be delivered is an error event too.
  child.on('error', () => {})

  let reason: ChildReason = 'exited'
  let problem: Error | undefined
  let limit: LimitExceeded | undefined
  const timers: NodeJS.Timeout[] = []
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  const stop = (why: ChildReason, cause?: Error, graceMs = grace): void => {
    if (reason !== 'exited') return
    reason = why
    problem = cause
    if (isOver()) return
    // A tree beyond a limit is killed immediately, because it would take more.
    if (graceMs === 0 || why === 'limit') return controller.kill()
    controller.terminate()
    timers.push(setTimeout(controller.kill, graceMs))
  }
  const cancel = (graceMs?: number): void => {
    if (!isOver()) stop('cancelled', undefined, graceMs)
  }
  const onAbort = (): void => cancel()
  signal?.addEventListener('abort', onAbort, { once: true })
  // It may have been aborted during the start.
  if (signal?.aborted) onAbort()
  if (timeout !== undefined) timers.push(setTimeout(() => stop('timeout'), timeout))

  const endWatch = watch?.(
    controller.getRootPid,
    (reached) => {
      if (reason === 'exited') limit = reached
      stop('limit')
    },
    typeof stdin === 'number' ? stdin : undefined,
  )

  const output = collectOutput(channels.stdout, options, stop)
  const errors = collectErrors(channels.stderr, options, stop)

  const end = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(
    async (): Promise<ChildEnd> => {
      forget()
      const left = endWatch?.() ?? []
      for (const timer of timers) clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      channels.stdin?.destroy()
      await controller.cleanUp()
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
    end,
    stop: cancel,
  }
}

/** The end of a child that never ran. */
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

/** A running child and its streams. */
type SpawnedChild = {
  readonly child: ChildProcess
  readonly pid: number
  readonly channels: ChildChannels
}

/** Starts a child in its own process group, or returns the error of the system. */
async function spawnChild(
  options: ChildOptions,
  stdin: ChildInput | PendingChannels,
  plan?: LaunchPlan,
): Promise<SpawnedChild | NodeJS.ErrnoException | 'cancelled'> {
  const { signal } = options
  const {
    command: [program, ...args],
    cwd,
    env,
  } = plan ?? options
  const descriptors = plan?.descriptors ?? []
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
  let unmask = (): void => {}
  try {
    unmask = maskInheritedDescriptors(stdio)
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: stdio as StdioOptions,
      shell: false,
      detached: true,
      windowsHide: true,
      ...plan?.user,
    })
    if (child.pid !== undefined) return { child, pid: child.pid, channels: opened.connect(child) }
    opened.discard()
    return await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve))
  } catch (error) {
    opened.discard()
    return error as NodeJS.ErrnoException
  } finally {
    unmask()
    closeOurs()
  }
}

const MAX_ARGUMENT_BYTES = 131_071

/** Explains why a child could not be started, and how to fix it. */
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
  const busy = hasErrorCode(error, 'EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM')
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

/** After the end of a child: the silence after which a pipe is given up, and the longest wait. */
const SILENCE_MS = 30
const MAX_DRAIN_MS = 1000
/** Wait this many times longer for a busy listener of ours. */
const MAX_LISTENER_ROUNDS = 30

/**
 * Reads the rest of the pipes. A pipe that stays open belongs to a process that outlived the child;
 * it is killed, and then the pipe is given up. A pipe that our listener has paused is not silent.
 */
async function drainPipes(
  pipes: readonly Readable[],
  listeners: readonly (BackpressureListener | undefined)[],
  endHolders: () => void,
): Promise<void> {
  const open = pipes.filter((pipe) => !pipe.closed && !pipe.readableEnded)
  const isPaused = (): boolean => listeners.some((listener) => listener?.isPaused())
  // A pipe can end before its listener has processed the last chunk.
  const closed = Promise.all(
    open.map(
      (pipe) => new Promise<void>((resolve) => pipe.once('close', resolve).once('end', resolve)),
    ),
  ).then(() => Promise.all(listeners.map((listener) => listener?.whenIdle() ?? Promise.resolve())))
  let over = false
  void closed.then(() => {
    over = true
  })
  await Promise.race([closed, waitForSilence(pipes, isPaused, 0)])
  if (over) return
  endHolders()
  // Without writers, little is left, and it is worth waiting for.
  await Promise.race([closed, waitForSilence(pipes, isPaused, MAX_LISTENER_ROUNDS)])
  for (const pipe of pipes) pipe.destroy()
}

/** Resolves when no pipe has had data for a while and none is paused, or when it takes too long. */
function waitForSilence(
  pipes: readonly Readable[],
  isPaused: () => boolean,
  maxRounds: number,
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
      if (!heard && !isPaused()) return finish()
      heard = false
      quiet.refresh()
    }
    let rounds = 0
    const longest = setTimeout(() => {
      rounds += 1
      if (rounds > maxRounds || !isPaused()) finish()
      else longest.refresh()
    }, MAX_DRAIN_MS)
    // If this process was busy, the pipes had no turn of the event loop yet.
    const quiet = setTimeout(() => setImmediate(decide), SILENCE_MS)
    for (const pipe of pipes) pipe.on('data', hear)
  })
}
