/**
 * Lock files between processes: creating a file exclusively, finding out whether its owner still
 * runs, and taking over from one that died.
 */

import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ToolError } from '../../protocol/tool-error.ts'
import { hasErrorCode } from '../../util/files.ts'
import type { ProcessLocation } from '../../util/lock-file.ts'
import {
  compareLocation,
  getProcessLocation,
  releaseLockFile,
  takeLockFile,
} from '../../util/lock-file.ts'
import { DAY_MS } from '../../util/units.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import { host } from '../host.ts'

const DEFAULT_LOCK_WAIT_MS = 10_000
const LOCK_POLL_MS = 20
// Nobody sees into another machine or container.
const MAX_OWNER_SILENCE_MS = DAY_MS

/**
 * The lock of a file or folder; whatever is written before it is put in its place begins with this
 * name too.
 */
export function getLockPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.toolable`)
}

/**
 * Does some work while nobody else who asks for the lock does. The work is synchronous, so that
 * only a kill can leave the lock behind, and the next one takes it over.
 */
export async function withFileLock<T>(
  path: string,
  signal: AbortSignal,
  work: () => T,
): Promise<T> {
  const release = await acquireFileLock(path, { signal })
  try {
    return work()
  } finally {
    release()
  }
}

/**
 * Waits for the lock of a file, and gives the function that gives it back. Throws CONFLICT where
 * another holds it for too long: more than 10 seconds, unless `longest` says otherwise.
 */
export async function acquireFileLock(
  path: string,
  {
    signal,
    longest = DEFAULT_LOCK_WAIT_MS,
  }: {
    readonly signal?: AbortSignal | undefined
    /** Milliseconds. */ readonly longest?: number | undefined
  } = {},
): Promise<() => void> {
  const lock = getLockPath(path)
  const started = host.startOf(host.pid)
  const mine = JSON.stringify({ pid: host.pid, started, ...getProcessLocation() })
  const until = host.clock() + longest
  const judge = (found: string): 'held' | 'stale' => {
    const owner = parseLockOwner(found)
    return owner && isOwnerAlive(owner, lock) ? 'held' : 'stale'
  }
  for (
    let taken = takeLockFile(lock, mine, judge);
    taken;
    taken = takeLockFile(lock, mine, judge)
  ) {
    if (host.clock() > until) throw createLockedError(path, lock, parseLockOwner(taken.found ?? ''))
    await wait(LOCK_POLL_MS, undefined, { signal })
  }
  sweepTemporaryFiles(lock)
  return () => releaseLockFile(lock, mine)
}

/**
 * Does some work again when a folder that it needs has vanished: whoever removes something takes
 * along what is empty then.
 */
export async function retryWhileFoldersVanish<T>(work: () => Promise<T>, attempts = 5): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (attempts <= 1 || !hasErrorCode(error, 'ENOENT')) throw error
    return retryWhileFoldersVanish(work, attempts - 1)
  }
}

type FileLockOwner = {
  readonly pid: number
  readonly started?: string
  readonly place: ProcessLocation | undefined
}

function parseLockOwner(text: string): FileLockOwner | undefined {
  const owner = parseJsonObject(text)
  if (typeof owner?.['pid'] !== 'number') return undefined
  const { pid, started, machine, boot, namespace } = owner
  const place =
    typeof machine === 'string' && typeof boot === 'string' && typeof namespace === 'string'
      ? { machine, boot, namespace }
      : undefined
  return { pid, ...compact({ started: typeof started === 'string' ? started : undefined }), place }
}

function isOwnerAlive({ pid, started, place }: FileLockOwner, lock: string): boolean {
  const distance = place ? compareLocation(place) : 'here'
  if (distance !== 'here')
    return (
      distance === 'elsewhere' &&
      Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < MAX_OWNER_SILENCE_MS
    )
  return host.isAlive(pid, started)
}

function createLockedError(
  path: string,
  lock: string,
  owner: FileLockOwner | undefined,
): ToolError {
  const isElsewhere = owner?.place !== undefined && compareLocation(owner.place) === 'elsewhere'
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
function sweepTemporaryFiles(lock: string): void {
  for (const name of readdirSync(dirname(lock))) {
    const pid = name.startsWith(basename(lock))
      ? /\.(\d+)-\d+\.(?:tmp|old)$/.exec(name)?.[1]
      : undefined
    if (pid !== undefined && !host.isAlive(Number(pid)))
      rmSync(join(dirname(lock), name), { force: true, recursive: true })
  }
}
