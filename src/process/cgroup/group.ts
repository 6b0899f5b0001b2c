import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LimitReached } from '../limits/limit-reached.ts'
import type { Limits } from '../permissions/grants.ts'
import { sendSignal } from '../host.ts'

const MEBIBYTE = 1024 * 1024
/** How often, and after how many milliseconds, a group is removed again that still has somebody in it. */
const ROUNDS = 100
const PAUSE = 5

/** What the kernel holds down by a control group. */
export type GroupLimits = Pick<Limits, 'memoryMb' | 'processes'>

/** A control group of one run. */
export type Group = {
  /** Puts a process into it; those that it starts later are in it too. Throws where the system does not want to. */
  take(pid: number): void
  /** What it used too much of, where the kernel ended it for that. */
  reached(): LimitReached | undefined
  /** Kills whoever is left in it and takes it away. */
  remove(): Promise<void>
}

/** Makes a group in which all processes together are held to these limits by the kernel: who wants more memory is ended with all the others, and nothing goes to swap instead. Throws where one of the limits cannot be set. */
export function makeGroup(folder: string, { memoryMb, processes }: GroupLimits): Group {
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
    take: (pid) => set('cgroup.procs', pid),
    // Whoever is killed because the whole machine has no memory left is counted too, but did not come to its own limit.
    reached: () =>
      memoryMb !== undefined && count(folder, 'oom_kill') > 0 && count(folder, 'oom') > 0
        ? { what: 'memoryMb', allowed: memoryMb, seen: memoryMb }
        : undefined,
    remove: () => removeGroup(folder),
  }
}

/** Kills whoever is in a group and takes it away; leaves it where that takes too long. */
export async function removeGroup(folder: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    try {
      return rmdirSync(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return
    }
    killAll(folder)
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
}

function killAll(folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1')
  } catch {
    // Older kernels have no such file.
    for (const pid of read(join(folder, 'cgroup.procs'))
      .split('\n')
      .filter((line) => line !== ''))
      sendSignal(Number(pid), 'SIGKILL')
  }
}

function count(folder: string, event: string): number {
  return Number(
    new RegExp(`^${event} (\\d+)$`, 'm').exec(read(join(folder, 'memory.events')))?.[1] ?? 0,
  )
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
