/**
 * Watches what process trees use (memory, CPU time, processes, workspace size) and reports the
 * first limit that is exceeded.
 *
 * The polling interval adapts: it shortens as a limit comes near, and grows with the cost of
 * measuring, so watching never takes more than a fraction of our time.
 */

import { fstatSync, readFileSync, statfsSync, statSync } from 'node:fs'
import type { LimitExceeded } from '../process/child.ts'
import type { ResourceLimits } from '../process/grants.ts'
import { sendSignal } from '../process/host.ts'
import type { ProcessIdentity, ProcessInfo } from '../process/process-table.ts'
import { listAllChildren, readProcess } from '../process/process-table.ts'
import { KIBIBYTE, MEBIBYTE } from '../util/units.ts'
import { once } from '../util/values.ts'

const pollTrees = createPoller(40, 2)
/**
 * A tree this close to its memory limit is stopped while it is measured, because it could grow far
 * beyond the limit meanwhile.
 */
const NEAR_LIMIT_MS = 150
const pollFolders = createPoller(250, 30)

/** What is measured besides the processes. */
type WatchTargets = {
  readonly workspace?: string
  /** Folders in memory, as the processes see them. */
  readonly memoryFolders?: readonly string[]
  /** The file in memory with their input, which its owner may let grow. */
  readonly input?: number | undefined
  /** Whether nothing else limits the number of processes. */
  readonly countProcesses: boolean
}

/**
 * Watches what a tree uses and reports once when it is too much. The result ends the watch and
 * returns the processes of the last measurement.
 */
export function watchLimits(
  limits: ResourceLimits,
  targets: WatchTargets,
  root: () => number | undefined,
  onReached: (limit: LimitExceeded) => void,
): () => readonly ProcessIdentity[] {
  const { cpuSeconds, memoryMb, processes, workspaceMb } = limits
  const tree = trackTree(root)
  const addUp = createCpuTimeCounter()
  let isOver = false
  const compare = (
    what: LimitExceeded['what'],
    allowed: number | undefined,
  ): ((measure: (allowed: number) => number) => number | undefined) => {
    const foresee = createForecast()
    return (measure) => {
      if (isOver || allowed === undefined) return undefined
      const seen = measure(allowed)
      if (seen <= allowed) return foresee(seen, allowed)
      isOver = true
      onReached({ what, allowed, seen: Math.round(seen * 100) / 100 })
      return undefined
    }
  }
  const [memory, processor, number, folder] = [
    compare('memoryMb', memoryMb),
    compare('cpuSeconds', cpuSeconds),
    compare('processes', targets.countProcesses ? processes : undefined),
    compare('workspaceMb', workspaceMb),
  ]
  let isClose = false
  const endTree = pollTrees(() => {
    const still = isClose ? tree.getLast() : []
    for (const { pid } of still) sendSignal(pid, 'SIGSTOP')
    const rows = tree.refresh()
    const left = memory((allowed) =>
      measureMemoryMb(rows, targets.memoryFolders ?? [], targets.input, allowed),
    )
    // A tree beyond its limit stays stopped until it is killed.
    if (!isOver) for (const { pid } of still) sendSignal(pid, 'SIGCONT')
    isClose = left !== undefined && left < NEAR_LIMIT_MS
    return pickSoonest([
      left,
      processor(() => addUp(rows)),
      number(() => sum(rows.map(({ threads }) => threads))),
    ])
  })
  const { workspace } = targets
  const endFolder =
    workspace === undefined || workspaceMb === undefined
      ? undefined
      : pollFolders(async () => {
          const seen = await measureWorkspaceMb(workspace, tree.getLast(), workspaceMb)
          return folder(() => seen)
        })
  return () => {
    isOver = true
    endTree()
    endFolder?.()
    return tree.getLast()
  }
}

// Half of the time until the limit is reached, at the speed since the last measurement.
function createForecast(): (seen: number, allowed: number) => number | undefined {
  let last: { readonly seen: number; readonly at: number } | undefined
  let speed = 0
  return (seen, allowed) => {
    const now = { seen, at: performance.now() }
    const measured = last === undefined ? 0 : (seen - last.seen) / (now.at - last.at)
    // An exact measurement can be lower than the rough one before it, although the tree has grown.
    speed = measured < 0 ? speed / 2 : measured
    last = now
    return speed > 0 ? (allowed - seen) / speed / 2 : undefined
  }
}

function pickSoonest(delays: readonly (number | undefined)[]): number | undefined {
  const soonest = Math.min(...delays.filter((delay) => delay !== undefined))
  return Number.isFinite(soonest) ? soonest : undefined
}

/** Checks limits, and returns in how many milliseconds to check again; undefined: as usual. */
type CheckLimits = () => number | undefined | Promise<number | undefined>

/** A round is followed by a rest of this many times its cost: usually, and close to a limit. */
const IDLE_REST_FACTOR = 6
const URGENT_REST_FACTOR = 0.5

/**
 * Creates one timer for all checks: it runs them, then rests as long as they allow, and longer after
 * an expensive round, so that watching many trees takes a bounded share of our time. It does not keep
 * the process alive.
 */
function createPoller(usual: number, shortest: number): (look: CheckLimits) => () => void {
  const looks = new Set<CheckLimits>()
  let timer: NodeJS.Timeout | undefined
  const wait = (milliseconds: number): void => {
    timer = setTimeout(() => void go(), milliseconds).unref()
  }
  const go = async (): Promise<void> => {
    const began = performance.now()
    let next = usual
    for (const look of looks) {
      const wanted = look()
      next = Math.min(next, (typeof wanted === 'object' ? await wanted : wanted) ?? usual)
    }
    if (looks.size === 0) return void (timer = undefined)
    const restFactor = next < usual ? URGENT_REST_FACTOR : IDLE_REST_FACTOR
    wait(Math.max(next, shortest, (performance.now() - began) * restFactor))
  }
  return (look) => {
    looks.add(look)
    if (timer === undefined) wait(shortest)
    return () => void looks.delete(look)
  }
}

/** More processes than any tree has that is within its limits. */
const MAX_TRACKED_PROCESSES = 20_000

/** A tree of processes. A process stays part of it when its parents have ended. */
type TrackedTree = {
  /** Returns the living processes. */
  refresh(): readonly ProcessInfo[]
  /** Returns the processes of the last refresh. */
  getLast(): readonly ProcessInfo[]
}

/** Tracks the tree of a process, which may not be known yet. */
function trackTree(root: () => number | undefined): TrackedTree {
  let seen: ReadonlyMap<number, ProcessInfo> = new Map()
  return {
    getLast: () => [...seen.values()],
    refresh() {
      const first = root()
      const found = new Map<number, ProcessInfo>()
      const queue: { readonly pid: number; readonly start?: string }[] =
        first === undefined ? [] : [{ pid: first }, ...seen.values()]
      for (const { pid, start } of queue) {
        if (found.has(pid) || found.size >= MAX_TRACKED_PROCESSES) continue
        const row = readProcess(pid)
        // The number may belong to another process by now.
        if (!row || (start !== undefined && row.start !== start)) continue
        found.set(pid, row)
        for (const child of listAllChildren(row)) queue.push({ pid: child })
      }
      seen = found
      return [...found.values()]
    },
  }
}

/** The cost of a file in memory besides its content. */
const INODE_BYTES = KIBIBYTE
const AT_PAGESZ = 6n
const BLOCK_BYTES = 512

/**
 * Measures the memory of processes, of their folders in memory and of their input file. Shared memory
 * is counted once, but only when it matters: a cheap sum that counts it repeatedly is returned while
 * it is below `allowed`.
 */
function measureMemoryMb(
  rows: readonly ProcessInfo[],
  folders: readonly string[],
  input: number | undefined,
  allowed: number,
): number {
  if (rows.length === 0) return 0
  const inFiles =
    sum(folders.map((folder) => measureMemoryFolder(rows, folder))) +
    (input === undefined ? 0 : fstatSync(input).blocks * BLOCK_BYTES)
  const most = sum(rows.map(({ memoryPages }) => memoryPages * getPageSize())) + inFiles
  if (most <= allowed * MEBIBYTE) return most / MEBIBYTE
  const exact = rows.map(
    ({ pid, memoryPages }) => readProportionalBytes(pid) ?? memoryPages * getPageSize(),
  )
  return (sum(exact) + inFiles) / MEBIBYTE
}

// Cached files, which the kernel can drop at any time, do not count.
function readProportionalBytes(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    const parts = ['Pss_Anon', 'Pss_Shmem', 'SwapPss'].map((name) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN),
    )
    const bytes = sum(parts) * KIBIBYTE
    return Number.isNaN(bytes) ? undefined : bytes
  } catch {
    return undefined
  }
}

function measureMemoryFolder(rows: readonly ProcessInfo[], folder: string): number {
  for (const { pid } of rows) {
    try {
      // A process that has no own folder yet sees the one of the machine.
      if (statSync(`/proc/${pid}/root${folder}`).dev === getDevice(folder)) return 0
      const { bsize, blocks, bfree, files, ffree } = statfsSync(`/proc/${pid}/root${folder}`)
      return (blocks - bfree) * bsize + (files - ffree) * INODE_BYTES
    } catch {
      // The next process may be readable.
    }
  }
  return 0
}

const deviceCache = new Map<string, number | undefined>()

function getDevice(folder: string): number | undefined {
  if (!deviceCache.has(folder))
    deviceCache.set(folder, statSync(folder, { throwIfNoEntry: false })?.dev)
  return deviceCache.get(folder)
}

// From the auxiliary vector of this process.
const getPageSize = once((): number => {
  try {
    const words = readFileSync('/proc/self/auxv')
    for (let at = 0; at + 16 <= words.length; at += 16)
      if (words.readBigUInt64LE(at) === AT_PAGESZ) return Number(words.readBigUInt64LE(at + 8))
  } catch {
    // 4096 is right almost everywhere.
  }
  return 4096
})

/** Adds up the processor time of a tree, in seconds. */
function createCpuTimeCounter(): (rows: readonly ProcessInfo[]) => number {
  let living: ReadonlyMap<string, number> = new Map()
  let endedMs = 0
  let most = 0
  return (rows) => {
    const now = new Map(rows.map(({ pid, start, ownCpuMs }) => [`${pid} ${start}`, ownCpuMs]))
    for (const [process, own] of living) if (!now.has(process)) endedMs += own
    living = now
    // A parent includes the children it waited for; the others were seen while they lived.
    const withWaitedFor = sum(rows.map(({ totalCpuMs }) => totalCpuMs))
    most = Math.max(most, withWaitedFor, endedMs + sum([...now.values()]))
    return most / 1000
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** The least that a file takes on a disk. */
const MIN_FILE_BYTES = 4096
const MAX_FOLDER_DEPTH = 128
const MAX_CHECKED_DESCRIPTORS = 4096

/**
 * Measures a folder on its disk, with deleted files that these processes still have open. Stops at
 * `enough`. Folders that are unreadable or too deep count as enough.
 */
async function measureWorkspaceMb(
  folder: string,
  rows: readonly ProcessInfo[],
  enough: number,
): Promise<number> {
  const { lstat, opendir, readdir, stat } = await import('node:fs/promises')
  let size = 0
  const hide = (): void => {
    size += (enough + 1) * MEBIBYTE
  }
  const isEnough = (): boolean => size > enough * MEBIBYTE

  const count = async (path: string, depth: number): Promise<void> => {
    if (depth > MAX_FOLDER_DEPTH) return hide()
    const entries = await opendir(path, { bufferSize: 256 }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EACCES' || error.code === 'ENAMETOOLONG') hide()
      },
    )
    if (!entries) return
    try {
      for await (const entry of entries) {
        if (isEnough()) return
        const found = await lstat(`${path}/${entry.name}`).catch(() => undefined)
        if (!found) continue
        size += Math.max(found.blocks * BLOCK_BYTES, MIN_FILE_BYTES)
        if (found.isDirectory()) await count(`${path}/${entry.name}`, depth + 1)
      }
    } catch {
      // The folder was removed meanwhile.
    }
  }
  await count(folder, 0)

  const device = (await stat(folder).catch(() => undefined))?.dev
  let looked = 0
  for (const { pid } of rows) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (isEnough() || (looked += 1) > MAX_CHECKED_DESCRIPTORS) return size / MEBIBYTE
      const held = await stat(`/proc/${pid}/fd/${descriptor}`).catch(() => undefined)
      if (held?.isFile() && held.nlink === 0 && held.dev === device)
        size += held.blocks * BLOCK_BYTES
    }
  }
  return size / MEBIBYTE
}
