import { readdirSync, readFileSync } from 'node:fs'

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
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}

/** Waits until no tool of a folder runs any more. A sandbox that lost whoever made it before it was ready never starts its tool, but waits for ever: it is ended. */
export async function untilToolsAreGone(folder: string): Promise<void> {
  for (;;) {
    const left = listNaming(folder)
    const tools = left.filter((pid) => nameOf(pid) !== 'bwrap')
    if (tools.length === 0) {
      for (const pid of left) if (isOrphan(pid)) process.kill(pid, 'SIGKILL')
      return
    }
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

function isOrphan(pid: number): boolean {
  try {
    return /^PPid:\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
