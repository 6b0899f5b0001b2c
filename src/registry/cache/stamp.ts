import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** What the file system tells of a file: another one means that it may have changed. */
export type Stamp = { readonly size: number; readonly mtime: string; readonly ino: string }

/** A file as it is now, with its stamp and mode; undefined where there is none. Follows links. */
export type Seen = { readonly stamp: Stamp; readonly mode: number; readonly isFile: boolean; readonly isFolder: boolean; readonly mtimeMs: number }

// A file system counts time in steps; what was written within the last one may be written again without a trace.
const STEP_MS = 20
const LARGEST_HASHED = 64 * 1024 * 1024

/** Looks at a file; undefined where it cannot be. */
export function look(path: string): Seen | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stats) return undefined
    return { stamp: { size: Number(stats.size), mtime: String(stats.mtimeNs), ino: String(stats.ino) }, mode: Number(stats.mode), isFile: stats.isFile(), isFolder: stats.isDirectory(), mtimeMs: Number(stats.mtimeMs) }
  } catch {
    return undefined
  }
}

/** The stamp to remember; one that is too young says nothing, so that the hash is asked next time. */
export function rememberable({ stamp, mtimeMs }: Seen, now: number): Stamp {
  return now - mtimeMs < STEP_MS ? { ...stamp, mtime: '' } : stamp
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
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) hash.update(chunk.subarray(0, read))
    return hash.digest('hex')
  } catch {
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
