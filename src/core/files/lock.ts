/**
 * Lock files between processes: creating a file exclusively, finding out whether its owner still
 * runs, and taking over from one that died.
 */

import {
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import { host } from '../host.ts'

const DEFAULT_LOCK_WAIT_MS = 10_000
const LOCK_POLL_MS = 20
// Nobody sees into another machine or container.
const MAX_OWNER_SILENCE_MS = 24 * 3600 * 1000

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
  const mine = JSON.stringify({
    pid: host.pid,
    started: host.startOf(host.pid),
    ...getProcessLocation(),
  })
  const until = host.clock() + longest
  for (;;) {
    const text = readTextFile(lock)
    if (text === undefined && createFileExclusively(lock, mine, { flush: false })) break
    const owner = text === undefined ? undefined : parseLockOwner(text)
    if (text !== undefined && !(owner && isOwnerAlive(owner, lock))) removeStaleFile(lock, text)
    else if (host.clock() > until) throw createLockedError(path, lock, owner)
    else await wait(LOCK_POLL_MS, undefined, { signal })
  }
  sweepTemporaryFiles(lock)
  return () => {
    if (readTextFile(lock) === mine) rmSync(lock, { force: true })
  }
}

/**
 * Does some work again when a folder that it needs has vanished: whoever removes something takes
 * along what is empty then.
 */
export async function retryWhileFoldersVanish<T>(work: () => Promise<T>, attempts = 5): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (attempts <= 1 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
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

/**
 * Creates a file that appears whole or not at all, where the file system can do that; false when
 * there is one already. Without `flush` it may be gone when the machine itself fails.
 */
export function createFileExclusively(file: string, text: string, { flush = true } = {}): boolean {
  const temporary = writeTemporaryFile(file, text, { flush })
  try {
    linkSync(temporary, file)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!NO_HARD_LINK_CODES.includes(code ?? '')) throw error
    return createWithoutLink(file, text, flush)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/**
 * What file systems say that have no hard links: some of USB sticks, networks and virtual machines.
 */
export const NO_HARD_LINK_CODES: readonly string[] = [
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]

function createWithoutLink(file: string, text: string, flush: boolean): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Writes a file of a name that nobody else uses, in the folder of another; gives its path. */
export function writeTemporaryFile(
  file: string,
  text: string,
  { mode = 0o600, flush = true } = {},
): string {
  const temporary = `${file}.${host.pid}-${temporaryCounter++}.tmp`
  try {
    writeFileSync(temporary, text, { mode, flush })
    return temporary
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/**
 * Takes a dead owner's file out of the way. Renaming lets exactly one of several processes do it;
 * one that came late has the new owner's file in its hands, and puts it back.
 */
export function removeStaleFile(file: string, dead: string | undefined): void {
  const aside = `${file}.${host.pid}-${temporaryCounter++}.old`
  try {
    renameSync(file, aside)
    if (readTextFile(aside) !== dead) linkSync(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/**
 * The text of a file, or undefined when it cannot be read. A pipe or a device is not read, because
 * that might never end.
 */
export function readTextFile(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'utf8') : undefined
  } catch {
    return undefined
  }
}

// Threads of one process have its number in common, and each counts for itself.
let temporaryCounter = Math.floor(Math.random() * 1e9)

/** Where the number of a process means something. All is '' where the system does not tell. */
export type ProcessLocation = {
  readonly machine: string
  /** Differs after a restart of the machine. */
  readonly boot: string
  /** Numbers of processes are counted anew in every namespace. */
  readonly namespace: string
}

let ownLocation: ProcessLocation | undefined

/** Where this process runs. */
export function getProcessLocation(): ProcessLocation {
  return (ownLocation ??= {
    machine: readProcFile('/proc/sys/kernel/hostname'),
    boot: readProcFile('/proc/sys/kernel/random/boot_id'),
    namespace: readProcLink('/proc/self/ns/pid'),
  })
}

/**
 * Whether a process of another place can be looked at from here: `gone` with an earlier start of
 * the machine, `elsewhere` on another one or in another container.
 */
export function compareLocation({
  machine,
  boot,
  namespace,
}: ProcessLocation): 'here' | 'gone' | 'elsewhere' {
  const here = getProcessLocation()
  if (machine !== here.machine) return 'elsewhere'
  if (boot !== here.boot) return 'gone'
  return namespace === here.namespace ? 'here' : 'elsewhere'
}

function readProcFile(file: string): string {
  try {
    return readFileSync(file, 'latin1').trim()
  } catch {
    return ''
  }
}

function readProcLink(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
