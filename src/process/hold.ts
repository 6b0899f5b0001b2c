import type { ChildProcess } from 'node:child_process'
import type { ChildEnd, ChildOptions } from './child-type.ts'
import { sendSignal } from './host.ts'
import { killKnown, killTree } from './kill-tree.ts'
import type { LimitReached } from './limits/limit-reached.ts'
import type { KnownProcess } from './process-table.ts'
import { listDescendants } from './process-table.ts'

/** What stands around a child: the command that is really started, and who ends it. */
export type Hold = {
  readonly command: ChildOptions['command']
  readonly cwd: string
  readonly env: ChildOptions['env']
  /** What the command gets as descriptor 3 and on: our descriptors, which are closed when it runs, or pipes to us. */
  readonly descriptors: readonly (number | 'pipe')[]
  /** Who it is, where that is not we ourselves; it has no other groups then. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** Once it runs. */
  take(child: ChildProcess, pid: number): Reins
}

/** Looks after what a tree uses, from its first process on, and tells once when it is too much; gives a function that ends the watch and tells who lived at its last look. `input`: the file in memory that it reads from. */
export type Watch = (
  root: () => number | undefined,
  onReached: (limit: LimitReached) => void,
  input: number | undefined,
) => () => readonly KnownProcess[]

/** Everything that a child gets around it. */
export type Prepared = {
  readonly hold: Hold
  readonly watch?: Watch
  /** Its end as if nothing had been around it. */
  explain(end: ChildEnd): ChildEnd | Promise<ChildEnd>
}

/** How a tree of processes is driven, whoever its first process is. */
export type Reins = {
  /** Asks the tool itself to end. */
  warn(): void
  /** Ends everything that belongs to it. */
  kill(): void
  /** After the first process is over: ends what is left, and resolves when nothing is. */
  clear(): Promise<void>
  /** Where the tree begins that is watched. */
  readonly root: () => number | undefined
}

/** Reins of a child that leads its own group, with nothing around it. `isTool`: it alone is asked to end, because it looks after its own children; otherwise all of them are. */
export function leadGroup(pid: number, isTool = false): Reins {
  let warned: readonly KnownProcess[] = []
  return {
    root: () => pid,
    warn: () => {
      // Found first: with their parent gone, those that made a session of their own could not be found any more.
      warned = listDescendants(pid)
      if (isTool || !sendSignal(-pid, 'SIGTERM')) sendSignal(pid, 'SIGTERM')
      for (const other of isTool ? [] : warned) sendSignal(other.pid, 'SIGTERM')
    },
    kill: () => killTree(pid),
    clear: () => {
      // What the child left in its group has no owner any more.
      sendSignal(-pid, 'SIGKILL')
      killKnown(warned)
      return Promise.resolve()
    },
  }
}
