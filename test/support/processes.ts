import { readdirSync, readFileSync } from 'node:fs'
import { HANG_MS } from './limits.ts'

/** Whether a process is there and not merely waiting to be forgotten. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** The processes whose command line names this text. */
export function listNaming(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
      } catch {
        return false
      }
    })
}

/**
 * Whether a process was started by another one, or by what that started, and all of them between
 * are still there.
 */
export function descendsFrom(pid: number, ancestor: number): boolean {
  for (let one = pid; one > 1; one = parentOf(one) ?? 0) if (one === ancestor) return true
  return false
}

/** Waits until processes that were killed are over: the kernel ends them at its own time. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  for (const end = Date.now() + HANG_MS; ;) {
    const left = pids.filter(isAlive)
    if (left.length === 0) return
    if (Date.now() > end)
      throw new Error(
        `still running: ${left.map((pid) => `${pid} ${nameOf(pid) ?? ''}`).join(', ')}`,
      )
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Waits until no tool of a folder runs any more whose runner is gone; those of other runners that this process has started go on. A sandbox that lost whoever made it before it was ready never starts its tool, but waits for ever: it is ended. */
export async function untilToolsAreGone(folder: string): Promise<void> {
  for (const end = Date.now() + HANG_MS; ;) {
    const left = listNaming(folder).filter((pid) => !descendsFrom(pid, process.pid))
    const tools = left.filter((pid) => nameOf(pid) !== 'bwrap')
    if (tools.length === 0) {
      for (const pid of left) if (parentOf(pid) === 1) process.kill(pid, 'SIGKILL')
      return
    }
    if (Date.now() > end)
      throw new Error(
        `processes of tools in ${folder} outlive their runner: ${tools.map((pid) => `${pid} ${nameOf(pid) ?? ''}`).join(', ')}`,
      )
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}
