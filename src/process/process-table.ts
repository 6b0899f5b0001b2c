/**
 * Reads /proc and kills process trees. Everything is empty or undefined on systems without /proc.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { getOwnPid, isLinux, sendSignal } from './host.ts'

/** A process by its number and the moment of its start, because numbers are used again. */
export type ProcessIdentity = { readonly pid: number; readonly start: string }

export type ProcessInfo = ProcessIdentity & {
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Milliseconds of processor time: its own, and with those of its children that are over. */
  readonly ownCpuMs: number
  readonly totalCpuMs: number
  readonly threads: number
  /** Pages of memory. */
  readonly memoryPages: number
}

/** Among the flags of a process: it leaves. */
const PF_EXITING = 0x4

/** Milliseconds of one tick of the kernel, the same on every Linux that programs can see. */
const TICK_MS = 10

/**
 * Every living process that descends from `leader`, or shares its group or session; `leader` itself
 * is not among them. Empty where there is no /proc.
 */
export function listDescendants(leader: number): ProcessInfo[] {
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
export function isAlive({ pid, start }: ProcessIdentity): boolean {
  return readProcess(pid)?.start === start
}

/** The process that has this number now; undefined where there is none, or nobody can tell. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const row = readProcess(pid)
  return row && { pid, start: row.start }
}

/**
 * Milliseconds of processor time that a child and its living descendants have used; undefined where
 * nobody can tell.
 */
export function getCpuTimeMs(leader: number): number | undefined {
  const own = readProcess(leader)
  return (
    own && listChildren(leader).reduce((sum, pid) => sum + (getCpuTimeMs(pid) ?? 0), own.totalCpuMs)
  )
}

/** The processes that hold one of these descriptors open, whoever started them. */
function listDescriptorHolders(names: readonly string[]): number[] {
  return listPids().filter((pid) =>
    listDescriptors(pid).some((descriptor) =>
      names.includes(readDescriptorName(pid, descriptor) ?? ''),
    ),
  )
}

/** What the kernel says of a process; undefined where there is none, or only its name is left. */
export function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const fields = readStatFields(`/proc/${pid}/stat`)
    const [parent, group, session] = fields.slice(1, 4).map(Number) as [number, number, number]
    const [own, inherited] = [fields.slice(11, 13), fields.slice(13, 15)].map(
      (ticks) => ticks.reduce((sum, one) => sum + Number(one), 0) * TICK_MS,
    ) as [number, number]
    const threads = Number(fields[17])
    const isOver = fields[0] === 'Z' || fields[0] === 'X'
    // The first thread can be over while others go on with all the memory.
    const pages =
      isOver && threads > 1
        ? Math.max(
            ...listNumericEntries(`/proc/${pid}/task`).map((thread) =>
              Number(readStatFields(`/proc/${pid}/task/${thread}/stat`)[21]),
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
          ownCpuMs: own,
          totalCpuMs: own + inherited,
          threads,
          memoryPages: pages,
          start: fields[19]!,
        }
  } catch {
    return undefined
  }
}

/**
 * Whether a process is on its way out and has nobody left below it: it runs no line of its program
 * any more.
 */
export function isExiting(pid: number): boolean {
  try {
    return (
      (Number(readStatFields(`/proc/${pid}/stat`)[6]) & PF_EXITING) !== 0 &&
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1') === ''
    )
  } catch {
    return false
  }
}

/** The children of every thread of a process, without a look at every process of the machine. */
export function listAllChildren({ pid, threads }: ProcessInfo): number[] {
  return (threads === 1 ? [pid] : listNumericEntries(`/proc/${pid}/task`)).flatMap((thread) =>
    listChildren(pid, thread),
  )
}

/**
 * The processes with larger numbers than this one: those that are younger, except where the numbers
 * began anew.
 */
export function listPidsAfter(first: number): number[] {
  return listPids().filter((pid) => pid > first)
}

// The name of the program stands in brackets and may contain anything, brackets too.
function readStatFields(file: string): string[] {
  const stat = readFileSync(file, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 22)
}

// As /proc names it: `socket:[123]`, or the path of a file.
function readDescriptorName(pid: number, descriptor: number): string | undefined {
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
  return listNumericEntries('/proc')
}

function listDescriptors(pid: number): number[] {
  return listNumericEntries(`/proc/${pid}/fd`)
}

function listNumericEntries(folder: string): number[] {
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

const MAX_KILL_ROUNDS = 5

/** Kills those that were warned and are still the same processes. */
export function killProcesses(known: readonly ProcessIdentity[]): void {
  for (const one of known) if (isAlive(one)) sendSignal(one.pid, 'SIGKILL')
}

/** Kills the whole tree, and looks again, because it may have forked meanwhile. */
export function killTree(leader: number): void {
  const known = new Set<number>()
  for (let round = 0; round < MAX_KILL_ROUNDS; round += 1) {
    const fresh = listDescendants(leader).filter(({ pid }) => !known.has(pid))
    if (round === 0 && !sendSignal(-leader, 'SIGKILL')) sendSignal(leader, 'SIGKILL')
    if (fresh.length === 0) return
    for (const { pid } of fresh) {
      known.add(pid)
      sendSignal(pid, 'SIGKILL')
    }
  }
}

/**
 * Kills what still holds the pipes of a child that is over: a daemon that left group and session.
 */
export function killDescriptorHolders(descriptors: readonly string[]): void {
  for (const pid of descriptors.length === 0 ? [] : listDescriptorHolders(descriptors))
    if (pid !== getOwnPid()) sendSignal(pid, 'SIGKILL')
}
