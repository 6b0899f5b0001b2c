import type { Writable } from 'node:stream'
import type { ChildInput, OpenedChannels } from './channels.ts'
import type { ChildEnd, ChildOptions, ChildReason } from './child-type.ts'
import { collectErrors, collectOutput } from './collect.ts'
import { drain } from './drain.ts'
import type { Hold, Watch } from './hold.ts'
import { leadGroup } from './hold.ts'
import { endWithUs } from './host.ts'
import { killHolders, killKnown } from './kill-tree.ts'
import type { LimitReached } from './limits/limit-reached.ts'
import { start } from './start.ts'
import { explainStart } from './start-problem.ts'

/** A child that runs under watch. */
export type Supervised = {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined
  /** Null where it was not asked for, or the child could not be started. */
  readonly stdin: Writable | null
  /** What keeps our own process alive. */
  readonly handles: readonly unknown[]
  readonly end: Promise<ChildEnd>
  /** Ends the tree, for the reason 'cancelled'; within so many milliseconds, where they are other than the grace of its options. */
  stop(patience?: number): void
}

/** Starts a child, as it stands in the options or in its hold, and watches it until it is over. Never throws: what cannot be started has the end `not-started`. */
export async function supervise(
  options: ChildOptions,
  stdin: ChildInput | OpenedChannels,
  hold?: Hold,
  watch?: Watch,
): Promise<Supervised> {
  const { signal, timeout, grace = 0 } = options
  const began = performance.now()
  const started = await start(options, stdin, hold)
  if (started instanceof Error)
    return neverStarted(began, 'not-started', await explainStart(started, options))
  if (started === 'cancelled') return neverStarted(began, 'cancelled')
  const { child, pid, channels } = started
  const forget = endWithUs(pid)
  const reins = hold?.take(child, pid) ?? leadGroup(pid)
  options.onStart?.(pid)
  // A signal that cannot be delivered arrives here too, and is nobody's fault.
  child.on('error', () => {})

  let reason: ChildReason = 'exited'
  let problem: Error | undefined
  let limit: LimitReached | undefined
  const timers: NodeJS.Timeout[] = []
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  const stop = (why: ChildReason, cause?: Error, patience = grace): void => {
    if (reason !== 'exited') return
    reason = why
    problem = cause
    if (isOver()) return
    // Whoever takes too much is not asked, because it would go on taking.
    if (patience === 0 || why === 'limit') return reins.kill()
    reins.warn()
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
    reins.root,
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
      await reins.clear()
      killKnown(left)
      await drain([channels.stdout, channels.stderr], [output.listener, errors.listener], () =>
        killHolders(channels.names),
      )
      channels.release()
      output.finish()
      errors.finish()
      return {
        reason,
        status: child.exitCode,
        signal: child.signalCode,
        stdout: output.bytes(),
        stderr: errors.bytes(),
        stderrCut: errors.cut(),
        duration: performance.now() - began,
        ...(limit && { limit }),
        ...(problem && { problem }),
      }
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
export function neverStarted(began: number, reason: ChildReason, problem?: Error): Supervised {
  const nothing = Buffer.alloc(0)
  const end: ChildEnd = {
    reason,
    status: null,
    signal: null,
    stdout: nothing,
    stderr: nothing,
    stderrCut: false,
    duration: performance.now() - began,
    ...(problem && { problem }),
  }
  return { pid: undefined, stdin: null, handles: [], end: Promise.resolve(end), stop: () => {} }
}
