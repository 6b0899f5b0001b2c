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
import { isPathInside } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { SandboxStatus } from './namespace.ts'

/** The control group of one sandbox. */
type SandboxCgroup = {
  /** What is left to be watched. */
  readonly watchedLimits: ResourceLimits
  /**
   * Puts everything that is in the sandbox into the group, before the tool is there, then lets it
   * go; `giveUp` where that fails.
   */
  admit(child: ChildProcess, gate: number, status: SandboxStatus, giveUp: () => void): void
  /**
   * Takes the group away; the end says whether the kernel ended the tool, or why it never started.
   */
  release(end: ChildEnd): Promise<ChildEnd>
}

/**
 * Where the control group of a sandbox with these limits is made; undefined where it needs none or
 * this machine does not let us, so that everything is watched.
 */
export async function findCgroupsFor({
  memoryMb,
  processes,
}: ResourceLimits): Promise<CgroupParent | undefined> {
  return memoryMb === undefined && processes === undefined ? undefined : findCgroupParent()
}

/**
 * Makes the control group of a sandbox. Throws where this machine suddenly does not let us any
 * more, because the record says that the kernel holds the tool.
 */
export function openCgroup(groups: CgroupParent, limits: ResourceLimits): SandboxCgroup {
  const { memoryMb: _held, ...watched } = limits
  const group = makeOrExplain(groups, limits)
  let problem: ToolError | undefined
  return {
    watchedLimits: watched,
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

function makeOrExplain(groups: CgroupParent, limits: ResourceLimits): Cgroup {
  try {
    return groups.create(limits)
  } catch (error) {
    throw toCgroupError(groups, error)
  }
}

function toCgroupError({ folder }: CgroupParent, error: unknown): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `There is no sandbox: no control group can be used in ${folder}, where one could before: ${(error as Error).message}`,
    { suggestion: 'toolable doctor', cause: error },
  )
}

/** Where groups for runs can be made. */
type CgroupParent = {
  /** The folder that was given into our hands. */
  readonly folder: string
  /** A group for one run. Throws where the system does not want to. */
  create(limits: CgroupLimits): Cgroup
}

const CONTROLLERS = ['memory', 'pids']
const TRIAL_LIMITS = { memoryMb: 64, processes: 16 }
const TRIAL_TIMEOUT_MS = 5000

let cgroupParent: Promise<CgroupParent | undefined> | undefined

/**
 * Finds out, by trying it, whether a group that we are in was given into our hands, so that the
 * kernel holds runs to their memory. Undefined where none was. Takes away what runners left that
 * were killed.
 */
export function findCgroupParent(): Promise<CgroupParent | undefined> {
  cgroupParent ??= searchCgroupParent()
  return cgroupParent
}

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

// Processes and controllers exclude each other in all groups but the outermost, so that the one
// that we are in ourselves seldom serves.
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

/**
 * Whose groups they are: a process, by its number, the moment of its start, and the namespace that
 * both belong to.
 */
function getOwnerName(): string {
  return `toolable-${readPidNamespace()}-${getOwnPid()}-${identifyProcess(getOwnPid())?.start ?? 0}`
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [, namespace, pid, start] = /^toolable-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? []
    // Whether processes of another namespace live cannot be seen from here.
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

/**
 * How often, and after how many milliseconds, a group is removed again that still has somebody in
 * it.
 */
const MAX_REMOVE_ATTEMPTS = 100
const REMOVE_RETRY_MS = 5

/** What the kernel holds down by a control group. */
type CgroupLimits = Pick<ResourceLimits, 'memoryMb' | 'processes'>

/** A control group of one run. */
type Cgroup = {
  /**
   * Puts a process into it; those that it starts later are in it too. Throws where the system does
   * not want to.
   */
  addProcess(pid: number): void
  /** What it used too much of, where the kernel ended it for that. */
  getExceededLimit(): LimitExceeded | undefined
  /** Kills whoever is left in it and takes it away. */
  remove(): Promise<void>
}

/**
 * Makes a group in which all processes together are held to these limits by the kernel: who wants
 * more memory is ended with all the others, and nothing goes to swap instead. Throws where one of
 * the limits cannot be set.
 */
function createCgroup(folder: string, { memoryMb, processes }: CgroupLimits): Cgroup {
  mkdirSync(folder)
  const set = (name: string, value: number): void =>
    writeFileSync(join(folder, name), String(value))
  try {
    if (memoryMb !== undefined) {
      set('memory.max', Math.floor(memoryMb * MEBIBYTE))
      set('memory.oom.group', 1)
      // There is no such file where there is no swap.
      if (existsSync(join(folder, 'memory.swap.max'))) set('memory.swap.max', 0)
    }
    if (processes !== undefined) set('pids.max', processes)
  } catch (error) {
    rmdirSync(folder)
    throw error
  }
  return {
    addProcess: (pid) => set('cgroup.procs', pid),
    // Whoever is killed because the whole machine has no memory left is counted too, but did not
    // come to its own limit.
    getExceededLimit: () =>
      memoryMb !== undefined &&
      countMemoryEvents(folder, 'oom_kill') > 0 &&
      countMemoryEvents(folder, 'oom') > 0
        ? { what: 'memoryMb', allowed: memoryMb, seen: memoryMb }
        : undefined,
    remove: () => removeCgroup(folder),
  }
}

/** Kills whoever is in a group and takes it away; leaves it where that takes too long. */
async function removeCgroup(folder: string): Promise<void> {
  for (let round = 0; round < MAX_REMOVE_ATTEMPTS; round += 1) {
    try {
      return rmdirSync(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return
    }
    killCgroup(folder)
    await new Promise((resolve) => setTimeout(resolve, REMOVE_RETRY_MS))
  }
}

function killCgroup(folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1')
  } catch {
    // Older kernels have no such file.
    for (const pid of readOrEmpty(join(folder, 'cgroup.procs'))
      .split('\n')
      .filter((line) => line !== ''))
      sendSignal(Number(pid), 'SIGKILL')
  }
}

function countMemoryEvents(folder: string, event: string): number {
  return Number(
    new RegExp(`^${event} (\\d+)$`, 'm').exec(readOrEmpty(join(folder, 'memory.events')))?.[1] ?? 0,
  )
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

/**
 * The control groups that we are in, the innermost first, as folders; empty where the machine has
 * none of the second version, or shows us only those of others.
 */
function listOwnCgroups(): readonly string[] {
  try {
    return parseOwnCgroups(
      readFileSync('/proc/self/mountinfo', 'utf8'),
      readFileSync('/proc/self/cgroup', 'utf8'),
    )
  } catch {
    return []
  }
}

/**
 * The same from the texts of /proc: a mount has its root in its file system and its place before a
 * dash, and its type after it.
 */
export function parseOwnCgroups(mounts: string, memberships: string): readonly string[] {
  const own = /^0::(\/.*)$/m.exec(memberships)?.[1]
  const [, root, top] = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mounts) ?? []
  if (
    own === undefined ||
    root === undefined ||
    top === undefined ||
    own.includes('/..') ||
    !isPathInside(root, own)
  )
    return []
  const groups = [`${top}/${own.slice(root.length)}`.replace(/\/+/g, '/').replace(/\/$/, '')]
  while (groups.at(-1) !== top) groups.push(dirname(groups.at(-1)!))
  return groups
}
