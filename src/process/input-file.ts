import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs'
import { isLinux } from './host.ts'

const LARGEST = 1024 * 1024
/** A folder in memory, so that what is secret never gets on a disk. */
const FOLDER = '/dev/shm'

let count = 0

/**
 * A descriptor from which a child reads that input, then its end: a nameless file in memory. Unlike the sockets that Node makes it can be opened as
 * /dev/stdin, and nobody has to feed it. Undefined where the input is large or the system has no such place; then a pipe has to do.
 */
export function holdInput(input: string | Uint8Array): number | undefined {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input
  if (!isLinux || bytes.length > LARGEST) return undefined
  let file: number | undefined
  try {
    const path = `${FOLDER}/toolable-${performance.timeOrigin}-${(count += 1)}-${Math.random().toString(36).slice(2)}`
    file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    unlinkSync(path)
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    return openSync(`/proc/self/fd/${file}`, constants.O_RDONLY)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
