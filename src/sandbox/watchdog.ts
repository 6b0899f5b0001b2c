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

const pollTrees = createPoller(40, 2)
/**
 * Milliseconds to the limit from which on a tree that takes memory stands still while it is looked
 * at: a look takes long enough for a greedy one to go far beyond.
 */
const NEAR_LIMIT_MS = 150
const pollFolders = createPoller(250, 30)

/** What is watched besides the processes. */
type WatchTargets = {
  readonly workspace?: string
  /** Folders in memory, as the processes see them. */
  readonly memoryFolders?: readonly string[]
  /** A file in memory that they were given to read, and that its owner may let grow. */
  readonly input?: number | undefined
  /** Whether nobody else holds the number of processes down. */
  readonly countProcesses: boolean
}

/**
 * Watches what a tree uses, from its first process on, and tells once when it is too much. Gives a
 * function that ends the watch and tells who lived at the last look.
 */
export function watchLimits(
  limits: ResourceLimits,
  places: WatchTargets,
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
    compare('processes', places.countProcesses ? processes : undefined),
    compare('workspaceMb', workspaceMb),
  ]
  let isClose = false
  const endTree = pollTrees(() => {
    const still = isClose ? tree.getLast() : []
    for (const { pid } of still) sendSignal(pid, 'SIGSTOP')
    const rows = tree.refresh()
    const left = memory((allowed) =>
      measureMemoryMb(rows, places.memoryFolders ?? [], places.input, allowed),
    )
    // What is over its limit stays as it is until it is ended.
    if (!isOver) for (const { pid } of still) sendSignal(pid, 'SIGCONT')
    isClose = left !== undefined && left < NEAR_LIMIT_MS
    return pickSoonest([
      left,
      processor(() => addUp(rows)),
      number(() => rows.reduce((sum, { threads }) => sum + threads, 0)),
    ])
  })
  const { workspace } = places
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

// Half of the milliseconds until the limit is reached, at the speed since the last look.
function createForecast(): (seen: number, allowed: number) => number | undefined {
  let last: { readonly seen: number; readonly at: number } | undefined
  let speed = 0
  return (seen, allowed) => {
    const now = { seen, at: performance.now() }
    const measured = last === undefined ? 0 : (seen - last.seen) / (now.at - last.at)
    // An exact look finds less than the rough one before it, although the tree has grown.
    speed = measured < 0 ? speed / 2 : measured
    last = now
    return speed > 0 ? (allowed - seen) / speed / 2 : undefined
  }
}

function pickSoonest(wishes: readonly (number | undefined)[]): number | undefined {
  const soonest = Math.min(...wishes.filter((wish) => wish !== undefined))
  return Number.isFinite(soonest) ? soonest : undefined
}

/**
 * Looks at something, and says in how many milliseconds it should be looked at again; undefined is
 * as usual.
 */
type CheckLimits = () => number | undefined | Promise<number | undefined>

/**
 * How many times the cost of a round is rested after it: usually, and where something is about to
 * happen.
 */
const IDLE_REST_FACTOR = 6
const URGENT_REST_FACTOR = 0.5

/**
 * One clock for everything that is watched: it goes round all looks, then rests as long as they
 * allow, and longer where looking was dear, so that watching many trees
 * never takes more than a part of our time. Keeps no process alive.
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
    if (looks.size === 0) timer = undefined
    else
      wait(
        Math.max(
          next,
          shortest,
          (performance.now() - began) * (next < usual ? URGENT_REST_FACTOR : IDLE_REST_FACTOR),
        ),
      )
  }
  return (look) => {
    looks.add(look)
    if (timer === undefined) wait(shortest)
    return () => void looks.delete(look)
  }
}

/** More than any tree has that is not caught already. */
const MAX_TRACKED_PROCESSES = 20_000

/**
 * A tree of processes that is looked at again and again. What was seen in it once stays part of it,
 * also when its parents are gone.
 */
type TrackedTree = {
  /** Who lives now. */
  refresh(): readonly ProcessInfo[]
  /** Everybody who was there at the last look. */
  getLast(): readonly ProcessInfo[]
}

/** Follows the tree that begins with this process; it may not be known yet. */
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
        // The number may belong to somebody else by now.
        if (!row || (start !== undefined && row.start !== start)) continue
        found.set(pid, row)
        for (const child of listAllChildren(row)) queue.push({ pid: child })
      }
      seen = found
      return [...found.values()]
    },
  }
}

/** What a file in memory costs besides its content. */
const INODE_BYTES = KIBIBYTE
const AT_PAGESZ = 6n
const BLOCK_BYTES = 512

let pageSize: number | undefined

/**
 * Mebibytes of memory of these processes together, of the temporary folders in memory that they
 * see, and of the file in memory that they read from. What they share is counted once, but only
 * looked at
 * where it matters: while a sum that counts it many times stays below `allowed`, that sum is given.
 */
function measureMemoryMb(
  rows: readonly ProcessInfo[],
  folders: readonly string[],
  input: number | undefined,
  allowed: number,
): number {
  const inFiles =
    rows.length === 0
      ? 0
      : folders.reduce(
          (sum, folder) => sum + measureMemoryFolder(rows, folder),
          input === undefined ? 0 : fstatSync(input).blocks * BLOCK_BYTES,
        )
  const most =
    rows.reduce((sum, { memoryPages: pages }) => sum + pages, 0) * (pageSize ??= readPageSize()) +
    inFiles
  if (most <= allowed * MEBIBYTE) return most / MEBIBYTE
  return (
    (rows.reduce(
      (sum, row) => sum + (readProportionalBytes(row.pid) ?? row.memoryPages * pageSize!),
      0,
    ) +
      inFiles) /
    MEBIBYTE
  )
}

// What is read from files and could be dropped at any time does not count.
function readProportionalBytes(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    const parts = ['Pss_Anon', 'Pss_Shmem', 'SwapPss'].map((name) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN),
    )
    const sum = parts.reduce((total, part) => total + part, 0) * KIBIBYTE
    return Number.isNaN(sum) ? undefined : sum
  } catch {
    return undefined
  }
}

function measureMemoryFolder(rows: readonly ProcessInfo[], folder: string): number {
  for (const { pid } of rows) {
    try {
      // Before it has its own, it sees the one of the machine.
      if (statSync(`/proc/${pid}/root${folder}`).dev === getDevice(folder)) return 0
      const { bsize, blocks, bfree, files, ffree } = statfsSync(`/proc/${pid}/root${folder}`)
      return (blocks - bfree) * bsize + (files - ffree) * INODE_BYTES
    } catch {
      // The next one may let us look.
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

// From what the kernel told our own process at its start.
function readPageSize(): number {
  try {
    const words = readFileSync('/proc/self/auxv')
    for (let at = 0; at + 16 <= words.length; at += 16)
      if (words.readBigUInt64LE(at) === AT_PAGESZ) return Number(words.readBigUInt64LE(at + 8))
  } catch {
    // As almost everywhere.
  }
  return 4096
}

/** Adds up the processor time of a tree, in seconds; it never goes down. */
function createCpuTimeCounter(): (rows: readonly ProcessInfo[]) => number {
  let living: ReadonlyMap<string, number> = new Map()
  let ofTheDead = 0
  let most = 0
  return (rows) => {
    const now = new Map(rows.map(({ pid, start, ownCpuMs: own }) => [`${pid} ${start}`, own]))
    for (const [process, own] of living) if (!now.has(process)) ofTheDead += own
    living = now
    // Whoever was waited for is in the sum of its parent; whoever was not, because its parent does
    // not care, was seen while it lived.
    const withWaitedFor = sum(rows.map(({ totalCpuMs: used }) => used))
    most = Math.max(most, withWaitedFor, ofTheDead + sum([...now.values()]))
    return most / 1000
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** Even an empty file takes that much of a disk. */
const MIN_FILE_BYTES = 4096
const MAX_FOLDER_DEPTH = 128
const MAX_CHECKED_DESCRIPTORS = 4096

/**
 * Mebibytes that a folder takes on its disk, with files that are deleted but still held open by
 * these processes. Stops counting at `enough`. What nobody can look
 * into, because it is hidden or lies too deep, counts as enough.
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
      // The folder went away under our eyes.
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
