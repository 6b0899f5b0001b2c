import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { createExclusively, readText, setAside } from '../../../call/exclusive-file.ts'
import { host } from '../../../call/host.ts'

const LONGEST_WAIT_MS = 10_000
const LOOK_AGAIN_MS = 20

/** The lock of a file or folder; whatever is written before it is put in its place begins with this name too. */
export function lockOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.toolable`)
}

/** Does some work while nobody else who asks for the lock does. The work is synchronous, so that only a kill can leave the lock behind, and the next one takes it over. */
export async function withLock<T>(path: string, signal: AbortSignal, work: () => T): Promise<T> {
  const lock = lockOf(path)
  const mine = JSON.stringify({ pid: host.pid, started: host.startOf(host.pid) })
  const until = host.clock() + LONGEST_WAIT_MS
  while (!createExclusively(lock, mine)) {
    const text = readText(lock)
    const owner = text === undefined ? undefined : readOwner(text)
    if (text !== undefined && (!owner || !host.isAlive(owner.pid, owner.started))) {
      setAside(lock, text)
      continue
    }
    if (host.clock() > until) throw new ToolError('CONFLICT', `${path} is being changed by process ${owner?.pid ?? 'unknown'}`, { retryable: true, details: { file: path }, suggestion: 'Wait for the other command to end, and try again' })
    await wait(LOOK_AGAIN_MS, undefined, { signal })
  }
  try {
    sweep(lock)
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Does some work again when a folder that it needs has vanished: whoever removes something takes along what is empty then. */
export async function whileFoldersVanish<T>(work: () => Promise<T>, attempts = 5): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (attempts <= 1 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return whileFoldersVanish(work, attempts - 1)
  }
}

function readOwner(text: string): { readonly pid: number; readonly started?: string } | undefined {
  try {
    const owner = JSON.parse(text) as unknown
    return isObject(owner) && typeof owner['pid'] === 'number' ? (owner as { pid: number; started?: string }) : undefined
  } catch {
    return undefined
  }
}

// What a killed process had begun to write.
function sweep(lock: string): void {
  for (const name of readdirSync(dirname(lock))) {
    const pid = name.startsWith(basename(lock)) ? /\.(\d+)-\d+\.(?:tmp|old)$/.exec(name)?.[1] : undefined
    if (pid !== undefined && !host.isAlive(Number(pid))) rmSync(join(dirname(lock), name), { force: true, recursive: true })
  }
}
