import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isLinux } from './host.ts'

/** A process by its number and the moment of its start, because numbers are used again. */
export type KnownProcess = { readonly pid: number; readonly start: string }

type Row = KnownProcess & { readonly parent: number; readonly group: number; readonly session: number; readonly used: number }

/** Milliseconds of one tick of the kernel, the same on every Linux that programs can see. */
const TICK = 10

/** Every living process that descends from `leader`, or shares its group or session; `leader` itself is not among them. Empty where there is no /proc. */
export function listDescendants(leader: number): Row[] {
  const rows = listPids().flatMap((pid) => readRow(pid) ?? [])
  const found = new Set([leader])
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const { pid, parent, group, session } of rows) if (found.has(parent) || group === leader || session === leader) found.add(pid)
  }
  return rows.filter(({ pid }) => pid !== leader && found.has(pid))
}

/** Whether a process lives that has this number and this start. */
export function isStillThere({ pid, start }: KnownProcess): boolean {
  return readRow(pid)?.start === start
}

/** The process that has this number now; undefined where there is none, or nobody can tell. */
export function identify(pid: number): KnownProcess | undefined {
  const row = readRow(pid)
  return row && { pid, start: row.start }
}

/** Milliseconds of processor time that a child and its living descendants have used; undefined where nobody can tell. */
export function usedTime(leader: number): number | undefined {
  const own = readRow(leader)
  return own && listChildren(leader).reduce((sum, pid) => sum + (usedTime(pid) ?? 0), own.used)
}

/** The processes that hold one of these descriptors open, whoever started them. */
export function listHolders(names: readonly string[]): number[] {
  return listPids().filter((pid) => listDescriptors(pid).some((descriptor) => names.includes(nameOfDescriptor(pid, descriptor) ?? '')))
}

function readRow(pid: number): Row | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in brackets and may contain anything, brackets too.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20)
    const [parent, group, session] = fields.slice(1, 4).map(Number) as [number, number, number]
    const used = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : { pid, parent, group, session, used, start: fields[19]! }
  } catch {
    return undefined
  }
}

// As /proc names it: `socket:[123]`, or the path of a file.
function nameOfDescriptor(pid: number, descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`)
  } catch {
    return undefined
  }
}

// Only those of the first thread, but without a look at every process of the machine.
function listChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter((word) => word !== '').map(Number)
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
    return isLinux ? readdirSync(folder).filter((name) => /^\d+$/.test(name)).map(Number) : []
  } catch {
    return []
  }
}
