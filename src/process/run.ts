/**
 * Starting other programs: the entry of this folder.
 *
 * `runChild` runs a program to its end, `openChild` keeps one open for a conversation in lines,
 * `spawnDetached` starts one that outlives this process.
 * All three end in `spawnSupervised`, which loads a sandbox or limits only when the options ask for
 * them.
 *
 * Read on in this order: child.ts (what goes in and comes out), supervise.ts (the life of one
 * child), channels.ts and output.ts (its pipes), process-table.ts (its tree in /proc).
 * permissions.ts, policy.ts and their neighbours decide what a tool may do; inputs.ts and
 * staging.ts handle the paths it is given; redaction.ts keeps secrets out of what it prints.
 */

import { closeSync, fstatSync, openSync } from 'node:fs'
import { MEBIBYTE } from '../util/units.ts'
import type { ChildInput, PendingChannels } from './channels.ts'
import { openChannels, openMemoryFile } from './channels.ts'
import type { ChildEnd, ChildOptions, PreparedLaunch, SandboxProfile } from './child.ts'
import type { SupervisedChild } from './supervise.ts'
import { createUnstartedChild, supervise } from './supervise.ts'

/** Runs a program to its end. Never throws: the ChildEnd says what happened. */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { input } = options
  if (input === undefined) return (await spawnSupervised(options, 'ignore')).end
  const file = openInputFile(input)
  const { stdin, end } = await spawnSupervised(options, file ?? 'pipe')
  // The watchdog measures it until then, because a child of the same user can let it grow.
  if (file !== undefined) void end.then(() => closeSync(file))
  // A child may ignore its input.
  stdin?.on('error', () => {})
  stdin?.end(input)
  return end
}

/** A child that stays open for lines. Its output goes to `onLine` and `onErrorLine` of its options. */
export type OpenChild = {
  /** Undefined when it could not be started; then `end` says why. */
  readonly pid: number | undefined
  /** Sends a line. Resolves to true when the child can take more, to false when it has ended. */
  write(line: string): Promise<boolean>
  /** Ends the input of the child. */
  closeInput(): void
  /** Whether it keeps this process alive; true at first. */
  keepAlive(alive: boolean): void
  /**
   * Ends the whole tree with the reason 'cancelled', and kills it after `graceMs` (default: `grace`
   * of its options). Does nothing when it has ended.
   */
  kill(graceMs?: number): void
  readonly end: Promise<ChildEnd>
}

const ACCEPTS_MORE = Promise.resolve(true)
const ACCEPTS_NOTHING = Promise.resolve(false)

/**
 * Starts a child that stays. Never throws; `timeout` is the longest life, `maxStdout` has no limit
 * unless one is given, and `input` is written first.
 */
export async function openChild(options: ChildOptions): Promise<OpenChild> {
  const { pid, stdin, handles, end, stop } = await spawnSupervised(
    { maxStdout: Infinity, ...options },
    'pipe',
  )
  stdin?.on('error', () => {})
  if (options.input !== undefined) stdin?.write(options.input)
  return {
    pid,
    end,
    kill: stop,
    write: (line) => {
      if (!stdin?.writable) return ACCEPTS_NOTHING
      return stdin.write(`${line}\n`)
        ? ACCEPTS_MORE
        : new Promise((resolve) => {
            const settle = (): void => {
              stdin.off('drain', settle).off('close', settle)
              resolve(stdin.writable)
            }
            stdin.on('drain', settle).on('close', settle)
          })
    },
    closeInput: () => void stdin?.end(),
    keepAlive: (alive) => {
      for (const handle of handles as readonly (RefCountedHandle | null)[])
        handle?.[alive ? 'ref' : 'unref']?.()
    },
  }
}

// The pipes of a child are sockets, although their type is Readable.
type RefCountedHandle = { ref?(): unknown; unref?(): unknown }

/** Starts a child with its limits and in its sandbox, and supervises it until its end. */
async function spawnSupervised(options: ChildOptions, stdin: ChildInput): Promise<SupervisedChild> {
  if (options.stdoutVariable === undefined) return spawnPrepared(options, stdin)
  const opened = await openChannels(stdin)
  return spawnPrepared(
    { ...options, env: { ...options.env, ...identifyStdout(options.stdoutVariable, opened) } },
    opened,
  )
}

async function spawnPrepared(
  options: ChildOptions,
  stdin: ChildInput | PendingChannels,
): Promise<SupervisedChild> {
  const { sandbox, limits } = options
  if (sandbox === undefined && limits === undefined) return supervise(options, stdin)
  const prepare = await loadPreparer(sandbox)
  const began = performance.now()
  const prepared = await prepare(options)
  if (prepared instanceof Error) {
    if (typeof stdin === 'object') stdin.discard()
    return createUnstartedChild(began, 'not-started', prepared)
  }
  const supervised = await supervise(options, stdin, prepared.plan, prepared.watch)
  return { ...supervised, end: supervised.end.then(prepared.explain) }
}

// Programs that a tool starts inherit its variables, but not always its stdout. This lets them
// recognise it.
function identifyStdout(
  variable: string,
  { stdio }: PendingChannels,
): { readonly [name: string]: string } {
  const stdout: unknown = stdio[1]
  if (typeof stdout !== 'number') return {}
  const { dev, ino } = fstatSync(stdout)
  return { [variable]: `${dev}:${ino}` }
}

async function loadPreparer(
  sandbox: SandboxProfile | undefined,
): Promise<(options: ChildOptions) => Promise<PreparedLaunch | Error>> {
  if (sandbox === undefined) return (await import('../sandbox/limits.ts')).prepareLimits
  return 'grants' in sandbox
    ? (await import('../sandbox/tool-sandbox.ts')).prepareToolSandbox
    : (await import('../sandbox/probe-sandbox.ts')).prepareProbeSandbox
}

const MAX_INPUT_FILE_BYTES = MEBIBYTE

/**
 * Opens a descriptor from which a child reads the input. Unlike Node's sockets, it can be opened as
 * /dev/stdin. Returns undefined when the input is large or the system does not support it.
 */
function openInputFile(input: string | Uint8Array): number | undefined {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input
  return bytes.length > MAX_INPUT_FILE_BYTES ? undefined : openMemoryFile(bytes)
}

/**
 * Starts a process that outlives this one, in its own session, with its output in `logFile`. Returns
 * its id, or why it could not be started.
 */
export async function spawnDetached(
  { command: [program, ...args], cwd, env }: Pick<ChildOptions, 'command' | 'cwd' | 'env'>,
  logFile: string,
): Promise<number | Error> {
  const { spawn } = await import('node:child_process')
  const file = openSync(logFile, 'a', 0o600)
  try {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', file, file],
      detached: true,
      shell: false,
      windowsHide: true,
    })
    if (child.pid === undefined)
      return await new Promise<Error>((resolve) => child.once('error', resolve))
    child.unref()
    return child.pid
  } finally {
    closeSync(file)
  }
}
