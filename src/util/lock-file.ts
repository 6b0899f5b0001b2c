/**
 * Files that several processes share: written whole or not at all, created by exactly one of them,
 * and taken over from an owner that died. Every lock and every atomic write is built on these.
 */

import {
  closeSync,
  fsync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { readTextFile } from './files.ts'

const MAX_LOCK_ATTEMPTS = 20

/**
 * Takes a lock file by writing `mine` into it; returns undefined when it is taken. `judge` decides
 * about a lock that exists: `held` returns its text, `mine` replaces it without a gap, and `stale`
 * removes it and tries again. With `flush` the lock survives a failure of the machine.
 */
export function takeLockFile(
  file: string,
  mine: string,
  judge: (found: string) => 'held' | 'mine' | 'stale',
  { flush = false } = {},
): { readonly found: string | undefined } | undefined {
  let found: string | undefined
  for (let attempt = 0; attempt <= MAX_LOCK_ATTEMPTS; attempt += 1) {
    // Read first: polling for a lock that is held writes nothing.
    found = readTextFile(file)
    if (found === undefined) {
      if (createFileExclusively(file, mine, { flush })) return undefined
      continue
    }
    const verdict = judge(found)
    if (verdict === 'held') return { found }
    if (verdict === 'mine') {
      writeFileAtomic(file, mine)
      return undefined
    }
    removeStaleFile(file, found)
  }
  return { found }
}

/** Removes a lock file that still has our text. */
export function releaseLockFile(file: string, mine: string): void {
  if (readTextFile(file) === mine) rmSync(file, { force: true })
}

/**
 * Replaces a file, so that readers see the old text or the new one, whole. With `flush` the text
 * is on the disk before it is in place, with `lasting` it is flushed in the background.
 */
export function writeFileAtomic(
  file: string,
  text: string,
  { lasting = false, flush = false, mode = 0o600 } = {},
): void {
  const temporary = writeTemporaryFile(file, text, { mode, flush })
  try {
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  if (!lasting) return
  const fd = openSync(file, 'r')
  fsync(fd, () => closeSync(fd))
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
  const temporary = `${file}.${process.pid}-${temporaryCounter++}.tmp`
  try {
    writeFileSync(temporary, text, { mode, flush, flag: 'wx' })
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
  const aside = `${file}.${process.pid}-${temporaryCounter++}.old`
  try {
    renameSync(file, aside)
    if (readTextFile(aside) !== dead) linkSync(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(aside, { force: true })
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
