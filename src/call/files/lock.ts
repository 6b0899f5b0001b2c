import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { createExclusively, readText, setAside } from '../exclusive-file.ts'
import { host } from '../host.ts'
import { distanceTo, ourPlace } from '../place.ts'
import type { Place } from '../place.ts'

const LONGEST_WAIT_MS = 10_000
const LOOK_AGAIN_MS = 20
// Nobody sees into another machine or container.
const LONGEST_SILENCE_MS = 24 * 3600 * 1000

/** The lock of a file or folder; whatever is written before it is put in its place begins with this name too. */
export function lockOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.toolable`)
}

/** Does some work while nobody else who asks for the lock does. The work is synchronous, so that only a kill can leave the lock behind, and the next one takes it over. */
export async function withLock<T>(path: string, signal: AbortSignal, work: () => T): Promise<T> {
  const release = await takeLock(path, { signal })
  try {
    return work()
  } finally {
    release()
  }
}

/** Waits for the lock of a file, and gives the function that gives it back. Throws CONFLICT where another holds it for too long: more than 10 seconds, unless `longest` says otherwise. */
export async function takeLock(
  path: string,
  {
    signal,
    longest = LONGEST_WAIT_MS,
  }: {
    readonly signal?: AbortSignal | undefined
    /** Milliseconds. */ readonly longest?: number | undefined
  } = {},
): Promise<() => void> {
  const lock = lockOf(path)
  const mine = JSON.stringify({ pid: host.pid, started: host.startOf(host.pid), ...ourPlace() })
  const until = host.clock() + longest
  for (;;) {
    const text = readText(lock)
    if (text === undefined && createExclusively(lock, mine, { flush: false })) break
    const owner = text === undefined ? undefined : readOwner(text)
    if (text !== undefined && !(owner && isAtWork(owner, lock))) setAside(lock, text)
    else if (host.clock() > until) throw isHeld(path, lock, owner)
    else await wait(LOOK_AGAIN_MS, undefined, { signal })
  }
  sweep(lock)
  return () => {
    if (readText(lock) === mine) rmSync(lock, { force: true })
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

type Owner = { readonly pid: number; readonly started?: string; readonly place: Place | undefined }

function readOwner(text: string): Owner | undefined {
  const owner = parseObject(text)
  if (typeof owner?.['pid'] !== 'number') return undefined
  const { pid, started, machine, boot, namespace } = owner
  const place =
    typeof machine === 'string' && typeof boot === 'string' && typeof namespace === 'string'
      ? { machine, boot, namespace }
      : undefined
  return { pid, ...(typeof started === 'string' && { started }), place }
}

function isAtWork({ pid, started, place }: Owner, lock: string): boolean {
  const distance = place ? distanceTo(place) : 'here'
  if (distance !== 'here')
    return (
      distance === 'elsewhere' &&
      Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < LONGEST_SILENCE_MS
    )
  return host.isAlive(pid, started)
}

function isHeld(path: string, lock: string, owner: Owner | undefined): ToolError {
  const isElsewhere = owner?.place !== undefined && distanceTo(owner.place) === 'elsewhere'
  const who =
    owner === undefined
      ? 'somebody else'
      : `process ${owner.pid}${isElsewhere ? ' of another machine or container' : ''}`
  return new ToolError('CONFLICT', `${path} is being changed by ${who}`, {
    retryable: true,
    details: { file: path },
    suggestion: isElsewhere
      ? `Wait for it to end, or remove ${lock} where it is gone`
      : 'Wait for the other command to end, and try again',
  })
}

// What a killed process had begun to write.
function sweep(lock: string): void {
  for (const name of readdirSync(dirname(lock))) {
    const pid = name.startsWith(basename(lock))
      ? /\.(\d+)-\d+\.(?:tmp|old)$/.exec(name)?.[1]
      : undefined
    if (pid !== undefined && !host.isAlive(Number(pid)))
      rmSync(join(dirname(lock), name), { force: true, recursive: true })
  }
}
