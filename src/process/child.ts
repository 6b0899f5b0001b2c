/**
 * The contract of a child process: its options, its sandbox profile, how it ended, and the launch
 * plan and controller through which limits and sandboxes take part.
 */

import type { ChildProcess } from 'node:child_process'
import { ToolError } from '../protocol/tool-error.ts'
import type { Grants, ResourceLimits } from './grants.ts'
import { sendSignal } from './host.ts'
import type { ProcessIdentity } from './process-table.ts'
import { killProcesses, killTree, listDescendants } from './process-table.ts'

/** How to start a child. Nothing is inherited: `env` is complete, stdin is closed, no shell is used. */
export type ChildOptions = {
  readonly command: readonly [program: string, ...args: string[]]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  /** Written to stdin, which is closed after it. */
  readonly input?: string | Uint8Array
  /** Milliseconds until the whole tree is ended. */
  readonly timeout?: number
  /** Milliseconds between SIGTERM and SIGKILL; default 0: SIGKILL immediately. */
  readonly grace?: number
  /** Bytes of stdout; one more ends the tree. Default 64 MiB. */
  readonly maxStdout?: number
  /** Bytes of stderr that are kept; the rest is dropped. Default 1 MiB. */
  readonly maxStderr?: number
  /** Ends the tree. */
  readonly signal?: AbortSignal
  readonly sandbox?: SandboxProfile
  /**
   * How much it may use, besides the limits of the sandbox; more ends the tree with the reason
   * 'limit'. With limits, also empty ones, the child also dies when this process is killed.
   */
  readonly limits?: ResourceLimits
  /** A variable that gets `device:inode` of stdout, if that is known. */
  readonly stdoutVariable?: string
  /** Called with the process id after the start. */
  readonly onStart?: (pid: number) => void
  /**
   * Gets each whole line of stdout, without its end, instead of `ChildEnd.stdout`. A line longer
   * than `maxLine` ends the tree.
   */
  readonly onLine?: (line: string) => void
  /** Gets each whole line of stderr, in addition to `ChildEnd.stderr`. */
  readonly onErrorLine?: (line: string) => void
  /**
   * Gets chunks of stdout, instead of lines and of `ChildEnd.stdout`. The pipe is paused while its
   * promise is pending; a listener that throws or rejects ends the tree.
   */
  readonly onOutput?: (chunk: Buffer) => void | Promise<void>
  /** Gets chunks of stderr, instead of lines, in the same way. */
  readonly onErrorOutput?: (chunk: Buffer) => void | Promise<void>
  /** Bytes of a line; default 16 MiB. */
  readonly maxLine?: number
}

/** Why a child ended. `exited`: by itself, with a status or signal. */
export type ChildReason =
  'exited' | 'timeout' | 'cancelled' | 'stdout-limit' | 'line-limit' | 'limit' | 'not-started'

/** How a child ended. Its output until then was read; a grandchild with an open pipe causes no delay. */
export type ChildEnd = {
  readonly reason: ChildReason
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly stderrCut: boolean
  /** Milliseconds from start to end. */
  readonly duration: number
  /** The exceeded limit, with the reason 'limit'. */
  readonly limit?: LimitExceeded
  /** Why it could not be started. */
  readonly problem?: Error
}

/** The sandbox of a program that is only probed. Everything else is read-only or absent. */
export type ProbeProfile = {
  /** A private /tmp in memory, with an empty home, temporary and working folder; nothing else. */
  readonly writable: 'private-tmp'
  readonly network: 'none'
  /** Files and folders in homes, /tmp or /run, which are hidden otherwise, that are readable. */
  readonly readable?: readonly string[]
}

/** The sandbox of a tool that runs by its manifest. Everything else is absent. */
export type ToolProfile = {
  readonly grants: Grants
  /** Its folder, readable and writable, and its working directory. */
  readonly workspace: string
  /** Folders that it may read besides its grants: its own code, and the cancel file. */
  readonly readable: readonly string[]
  /** Folders in a grant that look empty, except for `readable` paths in them. */
  readonly hidden?: readonly string[]
  /** Files that exist only inside, in memory, mode 0400: secrets. */
  readonly files?: readonly { readonly path: string; readonly content: Uint8Array }[]
  /** Where to search bubblewrap: the PATH of the caller, never of the tool, which could replace it. */
  readonly searchPath?: string | undefined
  /** Called for every connection, made or refused. */
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

/** The working directory of a probed program. */
export const PROBE_HOME = '/tmp/private'

/** How a child is really started, and how it is controlled. */
export type LaunchPlan = {
  readonly command: ChildOptions['command']
  readonly cwd: string
  readonly env: ChildOptions['env']
  /** Descriptors from 3: ours, which are closed after the start, or pipes. */
  readonly descriptors: readonly (number | 'pipe')[]
  /** The user of the command, if it is not ours. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** Called after the start. */
  attach(child: ChildProcess, pid: number): ProcessController
}

/**
 * Watches what a tree uses and reports once when it is too much. The result ends the watch and
 * returns the processes of the last measurement. `input`: the file in memory with its input.
 */
export type LimitWatcher = (
  root: () => number | undefined,
  onReached: (limit: LimitExceeded) => void,
  input: number | undefined,
) => () => readonly ProcessIdentity[]

/** A prepared start with limits or a sandbox. */
export type PreparedLaunch = {
  readonly plan: LaunchPlan
  readonly watch?: LimitWatcher
  /** Turns the end of the launcher into the end of the child. */
  explain(end: ChildEnd): ChildEnd | Promise<ChildEnd>
}

/** Controls a tree of processes. */
export type ProcessController = {
  /** Sends SIGTERM to the tool. */
  terminate(): void
  /** Kills the whole tree. */
  kill(): void
  /** After the end of the first process: kills the rest, and resolves when nothing is left. */
  cleanUp(): Promise<void>
  /** The root of the watched tree. */
  readonly getRootPid: () => number | undefined
}

/**
 * Controls a child that leads its own group. `isTool`: SIGTERM goes to the child only, which looks
 * after its own children; otherwise to all of them.
 */
export function createGroupController(pid: number, isTool = false): ProcessController {
  let warned: readonly ProcessIdentity[] = []
  return {
    getRootPid: () => pid,
    terminate: () => {
      // Listed first, because processes in their own session cannot be found without their parent.
      warned = listDescendants(pid)
      if (isTool || !sendSignal(-pid, 'SIGTERM')) sendSignal(pid, 'SIGTERM')
      for (const other of isTool ? [] : warned) sendSignal(other.pid, 'SIGTERM')
    },
    kill: () => killTree(pid),
    cleanUp: () => {
      // What is left in the group has no owner any more.
      sendSignal(-pid, 'SIGKILL')
      killProcesses(warned)
      return Promise.resolve()
    },
  }
}

/** An exceeded limit: its value and the measured value, in the unit of the limit. */
export type LimitExceeded = {
  readonly what: 'cpuSeconds' | 'memoryMb' | 'processes' | 'workspaceMb'
  readonly allowed: number
  readonly seen: number
}

/** The error code, unit and manifest key of each limit. */
const LIMIT_ERRORS: {
  readonly [what in LimitExceeded['what']]: readonly [code: string, words: string, key: string]
} = {
  cpuSeconds: ['TIMEOUT', 'seconds of processor time', 'cpu_seconds'],
  workspaceMb: ['DISK_FULL', 'MB of its workspace', 'workspace_mb'],
  memoryMb: ['E_MEMORY_LIMIT', 'MB of memory', 'memory_mb'],
  processes: ['E_PROCESS_LIMIT', 'processes', 'processes'],
}

/** The error of a tool that was ended for exceeding a limit. */
export function toLimitError({ what, allowed, seen }: LimitExceeded): ToolError {
  const [code, words, key] = LIMIT_ERRORS[what]
  // With a limit of the kernel, the measured value is never higher.
  const used =
    seen > allowed
      ? `used ${Math.round(seen * 10) / 10} ${words} where it may use ${allowed}`
      : `wanted more than the ${allowed} ${words} that it may use`
  return new ToolError(code, `the tool ${used}, and was ended`, {
    category: 'runtime',
    suggestion: `Raise resources.${key} in its manifest, or give it less to do`,
  })
}
