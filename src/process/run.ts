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

import { closeSync, fstatSync } from 'node:fs'
import { MEBIBYTE } from '../util/units.ts'
import type { ChildInput, PendingChannels } from './channels.ts'
import { openChannels, openMemoryFile } from './channels.ts'
import type { ChildEnd, ChildOptions, PreparedLaunch, SandboxProfile } from './child.ts'
import type { SupervisedChild } from './supervise.ts'
import { createUnstartedChild, supervise } from './supervise.ts'

/**
 * Runs a program to its end. Never throws and never hangs: however it goes, there is a ChildEnd
 * that says how.
 */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { input } = options
  if (input === undefined) return (await spawnSupervised(options, 'ignore')).end
  const held = openInputFile(input)
  const { stdin, end } = await spawnSupervised(options, held ?? 'pipe')
  // Until then it is watched, because a child of the same user can let it grow.
  if (held !== undefined) void end.then(() => closeSync(held))
  // A child that does not read, or closes early, is its own business.
  stdin?.on('error', () => {})
  stdin?.end(input)
  return end
}

/**
 * A child that is talked to in lines, as long as both want. What it says goes to `onLine` and
 * `onErrorLine` of its options.
 */
export type OpenChild = {
  /** Undefined where it could not be started; then `end` says why. */
  readonly pid: number | undefined
  /**
   * Sends a line. Resolves with true when the child can take more, with false when it takes nothing
   * any more.
   */
  write(line: string): Promise<boolean>
  /** Tells the child that nothing more will come. */
  closeInput(): void
  /** Whether it keeps our own process alive; true in the beginning. */
  keepAlive(alive: boolean): void
  /**
   * Ends the whole tree, after `grace` or the milliseconds that are given; the reason is
   * 'cancelled'. Harmless when it is over already.
   */
  kill(patience?: number): void
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

// The pipes of a child are sockets, whatever their type says.
type RefCountedHandle = { ref?(): unknown; unref?(): unknown }

/**
 * Starts a child, held by its limits and inside its sandbox where it has them, and watches it until
 * it is over.
 */
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
  const { prepare } = await loadPreparer(sandbox)
  const began = performance.now()
  const prepared = await prepare(options)
  if (prepared instanceof Error) {
    if (typeof stdin === 'object') stdin.discard()
    return createUnstartedChild(began, 'not-started', prepared)
  }
  const supervised = await supervise(options, stdin, prepared.plan, prepared.watch)
  return { ...supervised, end: supervised.end.then(prepared.explain) }
}

// Programs that a tool starts inherit its variables, but not always its stdout: by this they tell
// the difference.
function identifyStdout(
  variable: string,
  { stdio }: PendingChannels,
): { readonly [name: string]: string } {
  const stdout: unknown = stdio[1]
  if (typeof stdout !== 'number') return {}
  const { dev, ino } = fstatSync(stdout)
  return { [variable]: `${dev}:${ino}` }
}

type LaunchPreparer = { prepare(options: ChildOptions): Promise<PreparedLaunch | Error> }

function loadPreparer(sandbox: SandboxProfile | undefined): Promise<LaunchPreparer> {
  if (sandbox === undefined) return import('../sandbox/limits.ts')
  return 'grants' in sandbox
    ? import('../sandbox/tool-sandbox.ts')
    : import('../sandbox/probe-sandbox.ts')
}

const MAX_INPUT_FILE_BYTES = MEBIBYTE

/**
 * A descriptor from which a child reads that input, then its end. Unlike the sockets that Node
 * makes it can be opened as /dev/stdin, and nobody has to feed it.
 * Undefined where the input is large or the system has no such place; then a pipe has to do.
 */
function openInputFile(input: string | Uint8Array): number | undefined {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input
  return bytes.length > MAX_INPUT_FILE_BYTES ? undefined : openMemoryFile(bytes)
}

/**
 * Starts a process that outlives ours: in a session of its own, with nothing of ours in its hands
 * but a file that takes what it says when it breaks. Gives its id, or why there is none.
 */
export async function spawnDetached(
  { command: [program, ...args], cwd, env }: Pick<ChildOptions, 'command' | 'cwd' | 'env'>,
  complaints: string,
): Promise<number | Error> {
  const [{ spawn }, { closeSync, openSync }] = await Promise.all([
    import('node:child_process'),
    import('node:fs'),
  ])
  const file = openSync(complaints, 'a', 0o600)
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
