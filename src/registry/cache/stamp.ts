import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'

/** What the file system tells of a file: another one means that it may have changed. */
export type Stamp = {
  readonly size: number
  /** Milliseconds with their fraction; 0 where it says nothing. */ readonly mtime: number
  readonly ino: number
}

/** What was found at a path by whoever makes a call, so that nobody has to look twice for the same call. */
export type LookedAt = { readonly path: string; readonly stamp: Stamp }

/** A file as it is now, with its stamp and mode; undefined where there is none. Follows links. */
export type Seen = {
  readonly stamp: Stamp
  readonly mode: number
  readonly isFile: boolean
  readonly isFolder: boolean
}

// A file system counts time in steps; what was written within the last one may be written again without a trace.
const STEP_MS = 20
const LARGEST_HASHED = 64 * 1024 * 1024

/** Looks at a file; undefined where it cannot be. */
export function look(path: string): Seen | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats && seenFrom(stats)
  } catch {
    return undefined
  }
}

/** The same from what was asked already. */
export function seenFrom({ size, mtimeMs, ino, mode }: Stats): Seen {
  const type = mode & constants.S_IFMT
  return {
    stamp: { size, mtime: mtimeMs, ino },
    mode,
    isFile: type === constants.S_IFREG,
    isFolder: type === constants.S_IFDIR,
  }
}

/** The stamp to remember; one that is too young says nothing, so that the hash is asked next time. */
export function rememberable({ stamp }: Seen, now: number): Stamp {
  return now - stamp.mtime < STEP_MS ? { ...stamp, mtime: 0 } : stamp
}

/** True where nothing hints at a change. */
export function sameStamp(left: Stamp, right: Stamp): boolean {
  return left.mtime === right.mtime && left.size === right.size && left.ino === right.ino
}

/** SHA-256 of a file, in hexadecimal; empty, which equals nothing, where it cannot be read or is huge. */
export async function hashFile(path: string, size: number): Promise<string> {
  if (size > LARGEST_HASHED) return ''
  const { createHash } = await import('node:crypto')
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const hash = createHash('sha256')
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(size, 1), 1024 * 1024))
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
      hash.update(chunk.subarray(0, read))
    return hash.digest('hex')
  } catch {
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
