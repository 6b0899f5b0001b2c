import { closeSync, constants, fchmodSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { isLinux } from './host.ts'

/** A folder in memory, so that what is secret never gets on a disk. */
const FOLDER = '/dev/shm'

let count = 0

/** A descriptor from which these bytes can be read, then their end: a nameless file in memory that everybody who gets it may read and nobody else can find. Undefined where the system has no such place. */
export function openMemoryFile(bytes: Uint8Array): number | undefined {
  if (!isLinux) return undefined
  let file: number | undefined
  try {
    const path = `${FOLDER}/toolable-${performance.timeOrigin}-${(count += 1)}-${Math.random().toString(36).slice(2)}`
    file = openSync(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    )
    unlinkSync(path)
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    // A child of another user opens its stdin by name too.
    fchmodSync(file, 0o444)
    return reopen(file)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Another descriptor of the same nameless file, which is read from its beginning. */
export function reopen(file: number): number {
  return openSync(`/proc/self/fd/${file}`, constants.O_RDONLY)
}
