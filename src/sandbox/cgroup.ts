/**
 * Control groups, where one was delegated to us: the kernel then enforces memory and process limits
 * of a whole tree. Without one, watchdog.ts does.
 */

import type { ChildProcess } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import type { ChildEnd, LimitExceeded } from '../process/child.ts'
import type { ResourceLimits } from '../process/grants.ts'
import { getOwnPid, sendSignal } from '../process/host.ts'
import { identifyProcess, isAlive } from '../process/process-table.ts'
import { supervise } from '../process/supervise.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { delay } from '../util/async.ts'
import { hasErrorCode, isPathInside, readTextFile } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import { once } from '../util/values.ts'
import type { SandboxStatus } from './namespace.ts'

/** The control group of one sandbox. */
type SandboxCgroup = {
  /** The limits that the watchdog has to enforce. */
  readonly watchedLimits: ResourceLimits
  /** Adds the sandbox to the group before the tool starts, then lets it start. `giveUp`: on failure. */
  admit(child: ChildProcess, gate: number, status: SandboxStatus, giveUp: () => void): void
  /** Removes the group. The end says whether the kernel ended the tool, or why it did not start. */
  release(end: ChildEnd): Promise<ChildEnd>
}

/**
 * Finds where to create the control group of a sandbox with these limits. Undefined when it needs
 * none, or when this machine has none for us and the watchdog does everything.
 */
export async function findCgroupsFor(limits: ResourceLimits): Promise<CgroupParent | undefined> {
  const isNeeded = limits.memoryMb !== undefined || limits.processes !== undefined
  return isNeeded ? findCgroupParent() : undefined
}

/**
 * Creates the control group of a sandbox. Throws when that fails although the trial worked, because
 * the record says that the kernel enforces the limits.
 */
export function openCgroup(groups: CgroupParent, limits: ResourceLimits): SandboxCgroup {
  const { memoryMb: _enforced, ...watchedLimits } = limits
  let group: Cgroup
  try {
    group = groups.create(limits)
  } catch (error) {
    throw toCgroupError(groups, error)
  }
  let problem: ToolError | undefined
  return {
    watchedLimits,
    admit(child, gate, status, giveUp) {
      const opener = child.stdio[gate] as Writable & { unref?(): void }
      opener.on('error', () => {}).unref?.()
      void status.started.then((first) => {
        try {
          if (first) group.addProcess(first.pid)
          opener.end('x')
        } catch (error) {
          problem = toCgroupError(groups, error)
          giveUp()
        }
      })
    },
    async release(end) {
      const limit = group.getExceededLimit()
      await group.remove()
      if (problem) return { ...end, reason: 'not-started', problem }
      return limit && end.reason === 'exited' ? { ...end, reason: 'limit', limit } : end
    },
  }
}

function toCgroupError({ folder }: CgroupParent, error: unknown): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `There is no sandbox: no control group can be used in ${folder}, where one could before: ${(error as Error).message}`,
    { suggestion: 'toolable doctor', cause: error },
  )
}

/** A control group in which groups for runs can be created. */
type CgroupParent = {
  /** The folder that was delegated to us. */
  readonly folder: string
  /** Creates the group of one run. Throws when the system refuses. */
  create(limits: CgroupLimits): Cgroup
}

const CONTROLLERS = ['memory', 'pids']
const TRIAL_LIMITS = { memoryMb: 64, processes: 16 }
const TRIAL_TIMEOUT_MS = 5000

/**
 * Tries whether a group of this process was delegated to it, so that the kernel can limit the memory
 * of runs. Undefined when none was. Removes what killed runners left behind.
 */
export const findCgroupParent = once(searchCgroupParent)

async function searchCgroupParent(): Promise<CgroupParent | undefined> {
  for (const folder of listOwnCgroups()) {
    if (!hasControllers(folder)) continue
    const groups = toCgroupParent(folder)
    if (!(await canUseCgroups(groups))) continue
    void removeAbandoned(folder).catch(() => {})
    return groups
  }
  return undefined
}

// Only the outermost group may have both processes and controllers, so our own group rarely works.
function hasControllers(folder: string): boolean {
  try {
    const [offered, given] = ['cgroup.controllers', 'cgroup.subtree_control'].map((name) =>
      readFileSync(join(folder, name), 'latin1').trim().split(' '),
    ) as [string[], string[]]
    if (!CONTROLLERS.every((name) => offered.includes(name))) return false
    const missing = CONTROLLERS.filter((name) => !given.includes(name))
    if (missing.length > 0)
      writeFileSync(
        join(folder, 'cgroup.subtree_control'),
        missing.map((name) => `+${name}`).join(' '),
      )
    return true
  } catch {
    return false
  }
}

let cgroupCount = 0

function toCgroupParent(folder: string): CgroupParent {
  return {
    folder,
    create: (limits) =>
      createCgroup(join(folder, `${getOwnerName()}-${(cgroupCount += 1)}`), limits),
  }
}

async function canUseCgroups(groups: CgroupParent): Promise<boolean> {
  let group: Cgroup | undefined
  try {
    group = groups.create(TRIAL_LIMITS)
    const { pid, stdin, end, stop } = await supervise(
      { command: ['/bin/cat'], cwd: '/', env: {}, timeout: TRIAL_TIMEOUT_MS },
      'pipe',
    )
    stdin?.on('error', () => {})
    if (pid === undefined) return false
    try {
      group.addProcess(pid)
      return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/${getOwnerName()}-`)
    } finally {
      stop()
      await end
    }
  } catch {
    return false
  } finally {
    await group?.remove()
  }
}

/** Identifies this process in names of groups: its PID namespace, its number and its start time. */
function getOwnerName(): string {
  return `toolable-${readPidNamespace()}-${getOwnPid()}-${identifyProcess(getOwnPid())?.start ?? 0}`
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [, namespace, pid, start] = /^toolable-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? []
    // Processes of another namespace cannot be seen from here.
    if (
      start === undefined ||
      namespace !== readPidNamespace() ||
      isAlive({ pid: Number(pid), start })
    )
      continue
    await removeCgroup(join(folder, name))
  }
}

function readPidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}

/** A group that still has processes is removed again this often, after this many milliseconds. */
const MAX_REMOVE_ATTEMPTS = 100
const REMOVE_RETRY_MS = 5

/** The limits that a control group enforces. */
type CgroupLimits = Pick<ResourceLimits, 'memoryMb' | 'processes'>

/** A control group of one run. */
type Cgroup = {
  /** Adds a process; its future children are in the group too. Throws when the system refuses. */
  addProcess(pid: number): void
  /** The limit for which the kernel ended it. */
  getExceededLimit(): LimitExceeded | undefined
  /** Kills the remaining processes and removes the group. */
  remove(): Promise<void>
}

/**
 * Creates a group that limits all its processes together: beyond the memory limit the kernel kills
 * all of them, and nothing is swapped. Throws when a limit cannot be set.
 */
function createCgroup(folder: string, { memoryMb, processes }: CgroupLimits): Cgroup {
  mkdirSync(folder)
  const set = (name: string, value: number): void =>
    writeFileSync(join(folder, name), String(value))
  try {
    if (memoryMb !== undefined) {
      set('memory.max', Math.floor(memoryMb * MEBIBYTE))
      set('memory.oom.group', 1)
      // The file is missing without swap.
      if (existsSync(join(folder, 'memory.swap.max'))) set('memory.swap.max', 0)
    }
    if (processes !== undefined) set('pids.max', processes)
  } catch (error) {
    rmdirSync(folder)
    throw error
  }
  return {
    addProcess: (pid) => set('cgroup.procs', pid),
    // A process killed because the whole machine is out of memory counts as oom_kill, but not as oom.
    getExceededLimit: () =>
      memoryMb !== undefined &&
      countMemoryEvents(folder, 'oom_kill') > 0 &&
      countMemoryEvents(folder, 'oom') > 0
        ? { what: 'memoryMb', allowed: memoryMb, seen: memoryMb }
        : undefined,
    remove: () => removeCgroup(folder),
  }
}

/** Kills the processes of a group and removes it; gives up when that takes too long. */
async function removeCgroup(folder: string): Promise<void> {
  for (let round = 0; round < MAX_REMOVE_ATTEMPTS; round += 1) {
    try {
      return rmdirSync(folder)
    } catch (error) {
      if (!hasErrorCode(error, 'EBUSY')) return
    }
    killCgroup(folder)
    await delay(REMOVE_RETRY_MS)
  }
}

function killCgroup(folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1')
  } catch {
    // Older kernels have no such file.
    const pids = readTextFile(join(folder, 'cgroup.procs'))?.match(/\d+/g) ?? []
    for (const pid of pids) sendSignal(Number(pid), 'SIGKILL')
  }
}

function countMemoryEvents(folder: string, event: string): number {
  const events = readTextFile(join(folder, 'memory.events')) ?? ''
  return Number(new RegExp(`^${event} (\\d+)$`, 'm').exec(events)?.[1] ?? 0)
}

/**
 * Lists the folders of the control groups (version 2) that this process is in, the innermost first.
 * Empty when there are none or they are not visible.
 */
function listOwnCgroups(): readonly string[] {
  const [mounts = '', memberships = ''] = ['mountinfo', 'cgroup'].map((name) =>
    readTextFile(`/proc/self/${name}`),
  )
  return parseOwnCgroups(mounts, memberships)
}

/** The same from the texts of /proc: in a mount, root and folder precede a dash, the type follows it. */
export function parseOwnCgroups(mounts: string, memberships: string): readonly string[] {
  const own = /^0::(\/.*)$/m.exec(memberships)?.[1]
  const [, root, top] = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mounts) ?? []
  if (own === undefined || root === undefined || top === undefined) return []
  if (own.includes('/..') || !isPathInside(root, own)) return []
  const groups = [`${top}/${own.slice(root.length)}`.replace(/\/+/g, '/').replace(/\/$/, '')]
  while (groups.at(-1) !== top) groups.push(dirname(groups.at(-1)!))
  return groups
}
