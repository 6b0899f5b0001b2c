/**
 * Runs a command line as this process: signals, crashes, the cancel file of a runner, and the exit
 * status.
 */

import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Cancellation, waitForBackground } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import type { Servable } from '../core/provider.ts'
import { getBuiltProgramMark } from '../protocol/built-program.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import { main } from './main.ts'
import { createProcessIo } from './process-io.ts'
import type { CommandHost, ServerLifecycle } from './types.ts'

const EXIT_STATUS_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
const MAX_SHUTDOWN_MS = 2000
// Time for a handler that was cancelled to clean up. One that ignores the signal costs this much.
const MAX_CLEANUP_MS = 500
const CANCEL_FILE_POLL_MS = 250

/** A program as it is given to a build, which looks at it instead of running it. */
export type CapturedProgram = {
  readonly set: Servable
  readonly main: typeof main
  readonly makeToolset: CommandHost['makeToolset']
  /**
   * Command lines that a build may run where it was started, the last one like most of its calls;
   * default: made up ones, without the work of its tools.
   */
  readonly rehearsal?: readonly (readonly string[])[]
  /** Runs it, or another in its place, as this process. */
  run(shown: Servable): Promise<void>
}

let isStarted = false

/** True when a toolset runs as this process. */
export function hasStarted(): boolean {
  return isStarted
}

/** Runs a toolset as this process: reads its arguments, answers, and ends it. */
export async function runAsProcess(
  set: Servable,
  makeToolset: CommandHost['makeToolset'],
  entry?: ImportMeta,
): Promise<void> {
  if (entry && !isEntryPoint(entry)) return
  await runOrCapture(set, main, makeToolset)
}

/**
 * Runs a toolset as this process with its own command line, or hands both to the build that
 * inspects them.
 */
export async function runOrCapture(
  set: Servable,
  command: typeof main,
  makeToolset: CommandHost['makeToolset'],
  rehearsal?: CapturedProgram['rehearsal'],
): Promise<void> {
  isStarted = true
  const run = (shown: Servable): Promise<void> =>
    runProcess((argv, io, host) => command(shown, argv, io, host), makeToolset)
  const take = getBuiltProgramMark()?.take
  await (take
    ? take(compact({ set, main: command, makeToolset, run, rehearsal }) satisfies CapturedProgram)
    : run(set))
}

/** Runs a command line as this process, and ends it with the status that it gives. */
async function runProcess(
  command: (argv: readonly string[], io: Io, host: CommandHost) => Promise<number>,
  makeToolset: CommandHost['makeToolset'],
): Promise<void> {
  const ending = new Cancellation()
  const exit = process.exit.bind(process)
  const cancelFile = process.env['RUN_ID'] ? process.env['CANCEL_FILE'] : undefined
  let signalled: number | undefined
  let leave: ServerLifecycle['leave']
  // A closed terminal takes the output before its signal arrives.
  const io = createProcessIo((hungUp) =>
    ending.cancel(
      (hungUp && leave?.('SIGHUP', EXIT_STATUS_BY_SIGNAL.SIGHUP)?.error) ||
        new ToolError('CANCELLED', 'nobody reads the output any more'),
    ),
  )

  const prepareForTools = (redirectStrayOutput: () => void, serving?: ServerLifecycle): void => {
    let asked = false
    leave = serving?.leave?.bind(serving)
    for (const [signal, status] of Object.entries(EXIT_STATUS_BY_SIGNAL)) {
      process.on(signal, () => {
        // A second signal means that the first shutdown hangs.
        if (asked) return killSelf(signal)
        asked = true
        if (!serving) signalled = status
        const left = leave?.(signal, status)
        const message = `the call was cancelled by ${signal}`
        ending.cancel(left?.error ?? new ToolError('CANCELLED', message))
        const limit = (left ?? serving)?.shutdownTimeoutMs ?? MAX_SHUTDOWN_MS
        setTimeout(() => killSelf(signal), limit).unref()
      })
    }
    // Nothing is left that could wake the handler: without this the process would exit without an
    // outcome.
    process.once('beforeExit', () =>
      ending.cancel(
        new ToolError('INTERNAL', 'the tool waits for something that can never happen'),
      ),
    )
    const crash = (thrown: unknown): void =>
      serving ? serving.onCrash(toCrashError(thrown)) : ending.cancel(toCrashError(thrown))
    process.on('uncaughtException', crash)
    process.on('unhandledRejection', crash)
    const pollCancelFile = (): void => {
      if (existsSync(cancelFile!)) ending.cancel(new ToolError('CANCELLED', 'cancel-file'))
    }
    if (!serving && cancelFile) setInterval(pollCancelFile, CANCEL_FILE_POLL_MS).unref()
    redirectStrayOutput()
  }
  const status = await command(process.argv.slice(2), io, {
    get signal() {
      return ending.signal
    },
    ending,
    started: { execPath: process.execPath, execArgv: process.execArgv, script: process.argv[1] },
    prepareForTools,
    makeToolset,
  })
  await io.stdout.flush()
  await waitForBackground(MAX_CLEANUP_MS)
  // A runner cancels by its file and by a signal; a signal alone has its own status.
  const isCancelled = signalled !== undefined && cancelFile && existsSync(cancelFile)
  exit(isCancelled ? EXIT_STATUS_BY_SIGNAL.SIGINT : (signalled ?? status))
}

// exit() waits for the threads that write, and hangs when their output is never read; a signal does
// not.
function killSelf(signal: string): void {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

/** True where a module is the one that this process was started with. */
export function isEntryPoint(meta: ImportMeta & { readonly main?: boolean }): boolean {
  if (meta.main !== undefined) return meta.main
  const script = process.argv[1]
  if (script === undefined) return false
  const module = fileURLToPath(meta.url)
  if (script === module) return true
  // `node tool` may mean tool.js, and an installed program is a link.
  return [script, `${script}.js`, `${script}.mjs`].some(
    (candidate) => resolveRealPath(candidate) === resolveRealPath(module),
  )
}

// Not from util/files.ts, which would load node:os at every start.
function resolveRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

function toCrashError(thrown: unknown): ToolError {
  const error = toToolError(thrown)
  return new ToolError('INTERNAL', `the tool left an error unhandled: ${error.message}`, {
    cause: thrown,
    details: error.details ?? {},
  })
}
