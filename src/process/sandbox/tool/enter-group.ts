import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'
import { ToolError } from '../../../contract/tool-error.ts'
import type { Groups } from '../../cgroup/find-groups.ts'
import { findGroups } from '../../cgroup/find-groups.ts'
import type { Group } from '../../cgroup/group.ts'
import type { ChildEnd } from '../../child-type.ts'
import type { Limits } from '../../permissions/grants.ts'
import type { Status } from './namespace.ts'

/** The control group of one sandbox. */
export type GroupHold = {
  /** What is left to be watched. */
  readonly watched: Limits
  /** Puts everything that is in the sandbox into the group, before the tool is there, then lets it go; `giveUp` where that fails. */
  admit(child: ChildProcess, gate: number, status: Status, giveUp: () => void): void
  /** Takes the group away; the end says whether the kernel ended the tool, or why it never started. */
  release(end: ChildEnd): Promise<ChildEnd>
}

/** Where the control group of a sandbox with these limits is made; undefined where it needs none or this machine does not let us, so that everything is watched. */
export async function groupsFor({ memoryMb, processes }: Limits): Promise<Groups | undefined> {
  return memoryMb === undefined && processes === undefined ? undefined : findGroups()
}

/** Makes the control group of a sandbox. Throws where this machine suddenly does not let us any more, because the record says that the kernel holds the tool. */
export function openGroup(groups: Groups, limits: Limits): GroupHold {
  const { memoryMb: _held, ...watched } = limits
  const group = make(groups, limits)
  let problem: ToolError | undefined
  return {
    watched,
    admit(child, gate, status, giveUp) {
      const opener = child.stdio[gate] as Writable & { unref?(): void }
      opener.on('error', () => {}).unref?.()
      void status.known.then((first) => {
        try {
          if (first) group.take(first.pid)
          opener.end('x')
        } catch (error) {
          problem = refuse(groups, error)
          giveUp()
        }
      })
    },
    async release(end) {
      const limit = group.reached()
      await group.remove()
      if (problem) return { ...end, reason: 'not-started', problem }
      return limit && end.reason === 'exited' ? { ...end, reason: 'limit', limit } : end
    },
  }
}

function make(groups: Groups, limits: Limits): Group {
  try {
    return groups.make(limits)
  } catch (error) {
    throw refuse(groups, error)
  }
}

function refuse({ folder }: Groups, error: unknown): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `There is no sandbox: no control group can be used in ${folder}, where one could before: ${(error as Error).message}`,
    { suggestion: 'toolable doctor', cause: error },
  )
}
