/**
 * The contract of a child process: its options, its sandbox profile, how it ended, and the launch
 * plan and controller through which limits and sandboxes take part.
 */

import type { ChildProcess } from 'node:child_process'
import { ToolError } from '../protocol/tool-error.ts'
import type { Grants, ResourceLimits } from './grants.ts'
import { sendSignal } from './host.ts'
import { killProcesses, killTree, listDescendants } from './process-table.ts'
import type { ProcessIdentity } from './process-table.ts'

/**
 * What is started, and how far it may go. Nothing is inherited: the environment is whole, stdin is
 * closed where no input is given, no shell is in between.
 */
export type ChildOptions = {
  readonly command: readonly [program: string, ...args: string[]]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  /** Written to stdin, which is closed after it. */
  readonly input?: string | Uint8Array
  /** Milliseconds; then the whole tree is ended. */
  readonly timeout?: number
  /**
   * Milliseconds between SIGTERM and SIGKILL when the tree is ended; 0 kills at once. Default 0.
   */
  readonly grace?: number
  /** Bytes of stdout that are taken; one more ends the tree. Default 64 MiB. */
  readonly maxStdout?: number
  /**
   * Bytes of stderr that are kept, from its beginning; the rest is read and dropped. Default 1 MiB.
   */
  readonly maxStderr?: number
  /** Ends the tree. */
  readonly signal?: AbortSignal
  readonly sandbox?: SandboxProfile
  /**
   * How much it may use; what it uses more ends the tree at once, for the reason 'limit'. Those of
   * the sandbox count besides.
   * With limits, also empty ones, the child also dies when our own process is killed.
   */
  readonly limits?: ResourceLimits
  /** A variable that tells the child `device:inode` of its stdout, where that is known. */
  readonly stdoutVariable?: string
  /** Told the process id as soon as there is one. */
  readonly onStart?: (pid: number) => void
  /**
   * Gets each whole line of stdout, without its end, instead of `ChildEnd.stdout`. A line longer
   * than `maxLine` ends the tree.
   */
  readonly onLine?: (line: string) => void
  /** Gets each whole line of stderr besides. */
  readonly onErrorLine?: (line: string) => void
  /**
   * Gets stdout as it comes, instead of lines and of `ChildEnd.stdout`. The pipe waits while a
   * promise of it is pending, and with it the child; one that throws or rejects ends the tree.
   */
  readonly onOutput?: (chunk: Buffer) => void | Promise<void>
  /** Gets stderr as it comes, instead of lines; it holds its pipe in the same way. */
  readonly onErrorOutput?: (chunk: Buffer) => void | Promise<void>
  /** Bytes of a line; default 16 MiB. */
  readonly maxLine?: number
}

/**
 * Why a child is over. `exited` is its own end, by status or signal; everything else was our doing,
 * or it never ran.
 */
export type ChildReason =
  'exited' | 'timeout' | 'cancelled' | 'stdout-limit' | 'line-limit' | 'limit' | 'not-started'

/**
 * How a child ended. It is over when it exited and what it wrote until then was read: a grandchild
 * that keeps the pipe open delays nobody.
 */
export type ChildEnd = {
  readonly reason: ChildReason
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly stderrCut: boolean
  /** Milliseconds from start to end. */
  readonly duration: number
  /** What it used too much of, where the reason is 'limit'. */
  readonly limit?: LimitExceeded
  /** Why it could not be started. */
  readonly problem?: Error
}

/**
 * What a child may see and touch that is only asked what it is. Everything else is read-only or
 * absent.
 */
export type ProbeProfile = {
  /**
   * A /tmp of its own, in memory; nothing else can be written. An empty folder in it is the home,
   * the temporary and the working directory of the child.
   */
  readonly writable: 'private-tmp'
  readonly network: 'none'
  /**
   * Files and folders that are seen, read-only, although they lie where everything is hidden: in
   * homes of users, /tmp or /run.
   */
  readonly readable?: readonly string[]
}

/**
 * What a tool may see and touch that runs by its manifest. Everything else is absent: no files of
 * users, no other processes, no network.
 */
export type ToolProfile = {
  readonly grants: Grants
  /** Its own folder, read and write, where it also starts. */
  readonly workspace: string
  /** Folders that it may read besides its grants: where it lies itself, and the cancel file. */
  readonly readable: readonly string[]
  /**
   * Folders that look empty to it although a grant contains them; what it is shown in them is seen
   * all the same.
   */
  readonly hidden?: readonly string[]
  /** Files that exist only inside, in memory, mode 0400: secrets. */
  readonly files?: readonly { readonly path: string; readonly content: Uint8Array }[]
  /**
   * Where bubblewrap may lie besides the folders of the system: the PATH of whoever starts the
   * tool, never that of the tool, which could name a program of its own.
   */
  readonly searchPath?: string | undefined
  /** Told of every connection to a server, made or refused. */
  readonly onConnection?: (connection: EgressConnection) => void
}

/** A connection to a server, made or refused. */
export type EgressConnection = {
  readonly host: string
  readonly port: number
  readonly address?: string
  readonly refused?: string
}

export type SandboxProfile = ProbeProfile | ToolProfile

/** Where a child starts that is only asked what it is. */
export const PROBE_HOME = '/tmp/private'

/** What stands around a child: the command that is really started, and who ends it. */
export type LaunchPlan = {
  readonly command: ChildOptions['command']
  readonly cwd: string
  readonly env: ChildOptions['env']
  /**
   * What the command gets as descriptor 3 and on: our descriptors, which are closed when it runs,
   * or pipes to us.
   */
  readonly descriptors: readonly (number | 'pipe')[]
  /** Who it is, where that is not we ourselves; it has no other groups then. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** Once it runs. */
  attach(child: ChildProcess, pid: number): ProcessController
}

/**
 * Looks after what a tree uses, from its first process on, and tells once when it is too much;
 * gives a function that ends the watch and tells who lived at its last look. `input`: the file in
 * memory that it reads from.
 */
export type LimitWatcher = (
  root: () => number | undefined,
  onReached: (limit: LimitExceeded) => void,
  input: number | undefined,
) => () => readonly ProcessIdentity[]

/** Everything that a child gets around it. */
export type PreparedLaunch = {
  readonly plan: LaunchPlan
  readonly watch?: LimitWatcher
  /** Its end as if nothing had been around it. */
  explain(end: ChildEnd): ChildEnd | Promise<ChildEnd>
}

/** How a tree of processes is driven, whoever its first process is. */
export type ProcessController = {
  /** Asks the tool itself to end. */
  terminate(): void
  /** Ends everything that belongs to it. */
  kill(): void
  /** After the first process is over: ends what is left, and resolves when nothing is. */
  cleanUp(): Promise<void>
  /** Where the tree begins that is watched. */
  readonly getRootPid: () => number | undefined
}

/**
 * Reins of a child that leads its own group, with nothing around it. `isTool`: it alone is asked to
 * end, because it looks after its own children; otherwise all of them are.
 */
export function createGroupController(pid: number, isTool = false): ProcessController {
  let warned: readonly ProcessIdentity[] = []
  return {
    getRootPid: () => pid,
    terminate: () => {
      // Found first: with their parent gone, those that made a session of their own could not be
      // found any more.
      warned = listDescendants(pid)
      if (isTool || !sendSignal(-pid, 'SIGTERM')) sendSignal(pid, 'SIGTERM')
      for (const other of isTool ? [] : warned) sendSignal(other.pid, 'SIGTERM')
    },
    kill: () => killTree(pid),
    cleanUp: () => {
      // What the child left in its group has no owner any more.
      sendSignal(-pid, 'SIGKILL')
      killProcesses(warned)
      return Promise.resolve()
    },
  }
}

/**
 * A limit that a tree went beyond: which one, what it was, and what was seen, in the unit of the
 * limit.
 */
export type LimitExceeded = {
  readonly what: 'cpuSeconds' | 'memoryMb' | 'processes' | 'workspaceMb'
  readonly allowed: number
  readonly seen: number
}

/** The code of each limit, what was used of it in words, and what the manifest calls it. */
const LIMIT_ERRORS: {
  readonly [what in LimitExceeded['what']]: readonly [code: string, words: string, key: string]
} = {
  cpuSeconds: ['TIMEOUT', 'seconds of processor time', 'cpu_seconds'],
  workspaceMb: ['DISK_FULL', 'MB of its workspace', 'workspace_mb'],
  memoryMb: ['E_MEMORY_LIMIT', 'MB of memory', 'memory_mb'],
  processes: ['E_PROCESS_LIMIT', 'processes', 'processes'],
}

/** The failure of a tool that used more than it may, and was ended for it. */
export function toLimitError({ what, allowed, seen }: LimitExceeded): ToolError {
  const [code, words, key] = LIMIT_ERRORS[what]
  // The kernel lets nobody beyond a limit of its own.
  const used =
    seen > allowed
      ? `used ${Math.round(seen * 10) / 10} ${words} where it may use ${allowed}`
      : `wanted more than the ${allowed} ${words} that it may use`
  return new ToolError(code, `the tool ${used}, and was ended`, {
    category: 'runtime',
    suggestion: `Raise resources.${key} in its manifest, or give it less to do`,
  })
}
