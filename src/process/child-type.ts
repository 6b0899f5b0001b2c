import type { LimitReached } from './limits/limit-reached.ts'
import type { Limits } from './permissions/grants.ts'
import type { SandboxProfile } from './sandbox/profile.ts'

/** What is started, and how far it may go. Nothing is inherited: the environment is whole, stdin is closed where no input is given, no shell is in between. */
export type ChildOptions = {
  readonly command: readonly [program: string, ...args: string[]]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  /** Written to stdin, which is closed after it. */
  readonly input?: string | Uint8Array
  /** Milliseconds; then the whole tree is ended. */
  readonly timeout?: number
  /** Milliseconds between SIGTERM and SIGKILL when the tree is ended; 0 kills at once. Default 0. */
  readonly grace?: number
  /** Bytes of stdout that are taken; one more ends the tree. Default 64 MiB. */
  readonly maxStdout?: number
  /** Bytes of stderr that are kept, from its beginning; the rest is read and dropped. Default 1 MiB. */
  readonly maxStderr?: number
  /** Ends the tree. */
  readonly signal?: AbortSignal
  readonly sandbox?: SandboxProfile
  /**
   * How much it may use; what it uses more ends the tree at once, for the reason 'limit'. Those of the sandbox count besides.
   * With limits, also empty ones, the child also dies when our own process is killed.
   */
  readonly limits?: Limits
  /** A variable that tells the child `device:inode` of its stdout, where that is known. */
  readonly stdoutVariable?: string
  /** Told the process id as soon as there is one. */
  readonly onStart?: (pid: number) => void
  /** Gets each whole line of stdout, without its end, instead of `ChildEnd.stdout`. A line longer than `maxLine` ends the tree. */
  readonly onLine?: (line: string) => void
  /** Gets each whole line of stderr besides. */
  readonly onErrorLine?: (line: string) => void
  /** Gets stdout as it comes, instead of lines and of `ChildEnd.stdout`. The pipe waits while a promise of it is pending, and with it the child; one that throws or rejects ends the tree. */
  readonly onOutput?: (chunk: Buffer) => void | Promise<void>
  /** Gets stderr as it comes, instead of lines; it holds its pipe in the same way. */
  readonly onErrorOutput?: (chunk: Buffer) => void | Promise<void>
  /** Bytes of a line; default 16 MiB. */
  readonly maxLine?: number
}

/** Why a child is over. `exited` is its own end, by status or signal; everything else was our doing, or it never ran. */
export type ChildReason =
  'exited' | 'timeout' | 'cancelled' | 'stdout-limit' | 'line-limit' | 'limit' | 'not-started'

/** How a child ended. It is over when it exited and what it wrote until then was read: a grandchild that keeps the pipe open delays nobody. */
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
  readonly limit?: LimitReached
  /** Why it could not be started. */
  readonly problem?: Error
}
