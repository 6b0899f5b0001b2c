import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isLinux } from './host.ts'

/** A process by its number and the moment of its start, because numbers are used again. */
export type KnownProcess = { readonly pid: number; readonly start: string }

export type ProcessRow = KnownProcess & {
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Milliseconds of processor time: its own, and with those of its children that are over. */
  readonly own: number
  readonly used: number
  readonly threads: number
  /** Pages of memory. */
  readonly pages: number
}

/** Among the flags of a process: it leaves. */
const LEAVING = 0x4

/** Milliseconds of one tick of the kernel, the same on every Linux that programs can see. */
const TICK = 10

/** Every living process that descends from `leader`, or shares its group or session; `leader` itself is not among them. Empty where there is no /proc. */
export function listDescendants(leader: number): ProcessRow[] {
  const rows = listPids().flatMap((pid) => readProcess(pid) ?? [])
  const found = new Set([leader])
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const { pid, parent, group, session } of rows)
      if (found.has(parent) || group === leader || session === leader) found.add(pid)
  }
  return rows.filter(({ pid }) => pid !== leader && found.has(pid))
}

/** Whether a process lives that has this number and this start. */
export function isStillThere({ pid, start }: KnownProcess): boolean {
  return readProcess(pid)?.start === start
}

/** The process that has this number now; undefined where there is none, or nobody can tell. */
export function identify(pid: number): KnownProcess | undefined {
  const row = readProcess(pid)
  return row && { pid, start: row.start }
}

/** Milliseconds of processor time that a child and its living descendants have used; undefined where nobody can tell. */
export function usedTime(leader: number): number | undefined {
  const own = readProcess(leader)
  return own && listChildren(leader).reduce((sum, pid) => sum + (usedTime(pid) ?? 0), own.used)
}

/** The processes that hold one of these descriptors open, whoever started them. */
export function listHolders(names: readonly string[]): number[] {
  return listPids().filter((pid) =>
    listDescriptors(pid).some((descriptor) =>
      names.includes(nameOfDescriptor(pid, descriptor) ?? ''),
    ),
  )
}

/** What the kernel says of a process; undefined where there is none, or only its name is left. */
export function readProcess(pid: number): ProcessRow | undefined {
  try {
    const fields = readFields(`/proc/${pid}/stat`)
    const [parent, group, session] = fields.slice(1, 4).map(Number) as [number, number, number]
    const [own, inherited] = [fields.slice(11, 13), fields.slice(13, 15)].map(
      (ticks) => ticks.reduce((sum, one) => sum + Number(one), 0) * TICK,
    ) as [number, number]
    const threads = Number(fields[17])
    const isOver = fields[0] === 'Z' || fields[0] === 'X'
    // The first thread can be over while others go on with all the memory.
    const pages =
      isOver && threads > 1
        ? Math.max(
            ...listNumbers(`/proc/${pid}/task`).map((thread) =>
              Number(readFields(`/proc/${pid}/task/${thread}/stat`)[21]),
            ),
          )
        : Number(fields[21])
    return isOver && threads <= 1
      ? undefined
      : {
          pid,
          parent,
          group,
          session,
          own,
          used: own + inherited,
          threads,
          pages,
          start: fields[19]!,
        }
  } catch {
    return undefined
  }
}

/** Whether a process is on its way out and has nobody left below it: it runs no line of its program any more. */
export function isLeaving(pid: number): boolean {
  try {
    return (
      (Number(readFields(`/proc/${pid}/stat`)[6]) & LEAVING) !== 0 &&
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1') === ''
    )
  } catch {
    return false
  }
}

/** The children of every thread of a process, without a look at every process of the machine. */
export function listChildrenOf({ pid, threads }: ProcessRow): number[] {
  return (threads === 1 ? [pid] : listNumbers(`/proc/${pid}/task`)).flatMap((thread) =>
    listChildren(pid, thread),
  )
}

/** The processes with larger numbers than this one: those that are younger, except where the numbers began anew. */
export function listPidsAfter(first: number): number[] {
  return listPids().filter((pid) => pid > first)
}

// The name of the program stands in brackets and may contain anything, brackets too.
function readFields(file: string): string[] {
  const stat = readFileSync(file, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 22)
}

// As /proc names it: `socket:[123]`, or the path of a file.
function nameOfDescriptor(pid: number, descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`)
  } catch {
    return undefined
  }
}

function listChildren(pid: number, thread = pid): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
      .split(' ')
      .filter((word) => word !== '')
      .map(Number)
  } catch {
    return []
  }
}

function listPids(): number[] {
  return listNumbers('/proc')
}

function listDescriptors(pid: number): number[] {
  return listNumbers(`/proc/${pid}/fd`)
}

function listNumbers(folder: string): number[] {
  try {
    return isLinux
      ? readdirSync(folder)
          .filter((name) => /^\d+$/.test(name))
          .map(Number)
      : []
  } catch {
    return []
  }
}
