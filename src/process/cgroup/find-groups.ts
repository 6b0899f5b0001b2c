import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownPid } from '../host.ts'
import { identify, isStillThere } from '../process-table.ts'
import { supervise } from '../supervise.ts'
import type { Group, GroupLimits } from './group.ts'
import { makeGroup, removeGroup } from './group.ts'
import { listOwnGroups } from './own-groups.ts'

/** Where groups for runs can be made. */
export type Groups = {
  /** The folder that was given into our hands. */
  readonly folder: string
  /** A group for one run. Throws where the system does not want to. */
  make(limits: GroupLimits): Group
}

const CONTROLLERS = ['memory', 'pids']
const TRIAL = { memoryMb: 64, processes: 16 }
const TRIAL_TIME = 5000

let known: Promise<Groups | undefined> | undefined

/** Finds out, by trying it, whether a group that we are in was given into our hands, so that the kernel holds runs to their memory. Undefined where none was. Takes away what runners left that were killed. */
export function findGroups(): Promise<Groups | undefined> {
  known ??= find()
  return known
}

async function find(): Promise<Groups | undefined> {
  for (const folder of listOwnGroups()) {
    if (!hasControllers(folder)) continue
    const groups = groupsIn(folder)
    if (!(await works(groups))) continue
    void removeLeft(folder).catch(() => {})
    return groups
  }
  return undefined
}

// Processes and controllers exclude each other in all groups but the outermost, so that the one that we are in ourselves seldom serves.
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

let made = 0

function groupsIn(folder: string): Groups {
  return {
    folder,
    make: (limits) => makeGroup(join(folder, `${ownName()}-${(made += 1)}`), limits),
  }
}

async function works(groups: Groups): Promise<boolean> {
  let group: Group | undefined
  try {
    group = groups.make(TRIAL)
    const { pid, stdin, end, stop } = await supervise(
      { command: ['/bin/cat'], cwd: '/', env: {}, timeout: TRIAL_TIME },
      'pipe',
    )
    stdin?.on('error', () => {})
    if (pid === undefined) return false
    try {
      group.take(pid)
      return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/${ownName()}-`)
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

/** Whose groups they are: a process, by its number, the moment of its start, and the namespace that both belong to. */
function ownName(): string {
  return `toolable-${processNamespace()}-${ownPid()}-${identify(ownPid())?.start ?? 0}`
}

async function removeLeft(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [, namespace, pid, start] = /^toolable-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? []
    // Whether processes of another namespace live cannot be seen from here.
    if (
      start === undefined ||
      namespace !== processNamespace() ||
      isStillThere({ pid: Number(pid), start })
    )
      continue
    await removeGroup(join(folder, name))
  }
}

function processNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}
