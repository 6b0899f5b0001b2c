/**
 * What a registry remembers about files: one JSONL file per folder or program, one line per file,
 * valid while size, time, inode or hash are unchanged.
 */

import type { Stats } from 'node:fs'
import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readOwnedFile, writeCacheFile } from '../core/cache.ts'
import { MEBIBYTE } from '../util/units.ts'
import { isObject, tryParseJson } from '../util/values.ts'

const CACHE_FORMAT = 'toolable folder cache 1'

/**
 * The folder that a cache is about. Its inode number binds the cache to this very folder, so that
 * a cache file that came with foreign files is ignored.
 */
export type CacheSubject = {
  readonly path: string
  readonly id: number
  /** Another version of this package asks again. */
  readonly version: string
}

/**
 * The records of a folder by path. Empty when there is no cache, or one that is torn, of another
 * user, or of another version.
 */
export function readCache(cacheFolder: string, folder: CacheSubject): Map<string, CacheRecord> {
  const lines = readOwnedFile(getCacheFile(cacheFolder, folder))?.split('\n') ?? []
  if (lines[0] !== formatHeader(folder, lines.length - 2) || lines.at(-1) !== '') return new Map()
  const records = new Map<string, CacheRecord>()
  for (const line of lines.slice(1, -1)) {
    const record = parseCacheLine(line)
    if (!record) return new Map()
    records.set(record.path, record)
  }
  return records
}

function formatHeader({ version, path, id }: CacheSubject, count: number): string {
  return JSON.stringify([CACHE_FORMAT, version, path, id, count])
}

/** Writes the whole cache atomically. A cache that cannot be written is skipped. */
export function writeCache(
  cacheFolder: string,
  folder: CacheSubject,
  records: Iterable<CacheRecord>,
): void {
  const lines = Array.from(records, formatCacheLine)
  const text = [formatHeader(folder, lines.length), ...lines, ''].join('\n')
  writeCacheFile(cacheFolder, getCacheFile(cacheFolder, folder), text)
}

function getCacheFile(cacheFolder: string, { path }: CacheSubject): string {
  return join(
    cacheFolder,
    `folder-${basename(path)
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, 60)}-${hashPath(path)}.jsonl`,
  )
}

// FNV-1a, twice: it distinguishes folders without loading node:crypto. The header has the whole
// path.
function hashPath(text: string): string {
  let left = 0x811c9dc5
  let right = 0x01000193
  for (let at = 0; at < text.length; at++) {
    left = Math.imul(left ^ text.charCodeAt(at), 0x01000193)
    right = Math.imul(right ^ text.charCodeAt(text.length - 1 - at), 0x811c9dc5 | 1)
  }
  return (left >>> 0).toString(36) + (right >>> 0).toString(36)
}

/**
 * What is cached of a file. The outline is enough for a list; the body, kept as text until it is
 * needed, has everything else.
 */
export type CacheRecord = {
  /** Relative to the folder. */
  readonly path: string
  readonly stamp: FileStamp
  readonly hash: string
  readonly outline: { readonly [key: string]: unknown }
  readonly body: string
}

/**
 * One line of the cache file, without the line feed. JSON never contains a bare tab, so a tab
 * separates outline and body.
 */
export function formatCacheLine({ path, stamp, hash, outline, body }: CacheRecord): string {
  return `${JSON.stringify([path, stamp.size, stamp.mtime, stamp.ino, hash, outline])}\t${body}`
}

/**
 * Parses a line. Undefined for one that `formatCacheLine` did not write. The body is not parsed.
 */
export function parseCacheLine(line: string): CacheRecord | undefined {
  const tab = line.indexOf('\t')
  if (tab === -1) return undefined
  const head: unknown = tryParseJson(line.slice(0, tab))
  if (!Array.isArray(head) || head.length !== 6) return undefined
  const [path, size, mtime, ino, hash, outline] = head as readonly unknown[]
  if (
    typeof path !== 'string' ||
    typeof size !== 'number' ||
    typeof mtime !== 'number' ||
    typeof ino !== 'number' ||
    typeof hash !== 'string' ||
    !isObject(outline)
  )
    return undefined
  return { path, stamp: { size, mtime, ino }, hash, outline, body: line.slice(tab + 1) }
}

/** What the file system reports about a file. A different stamp means that it may have changed. */
type FileStamp = {
  readonly size: number
  /** Milliseconds with their fraction; 0 where it says nothing. */
  readonly mtime: number
  readonly ino: number
}

/**
 * The state of a file that the caller has just checked, so that it is not checked twice for one
 * call.
 */
export type CheckedFile = { readonly path: string; readonly stamp: FileStamp }

/** The state of a file. Links are followed. */
export type FileInfo = {
  readonly stamp: FileStamp
  readonly mode: number
  readonly isFile: boolean
  readonly isFolder: boolean
}

// File systems count time in steps: a file written within the last step may be written again
// unseen.
const CLOCK_STEP_MS = 20
const MAX_HASHED_BYTES = 64 * MEBIBYTE

/** Reads the state of a file. Undefined when there is none. */
export function statFile(path: string): FileInfo | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats && toFileInfo(stats)
  } catch {
    return undefined
  }
}

/** Converts the result of `stat`. */
export function toFileInfo({ size, mtimeMs, ino, mode }: Stats): FileInfo {
  const type = mode & constants.S_IFMT
  return {
    stamp: { size, mtime: mtimeMs, ino },
    mode,
    isFile: type === constants.S_IFREG,
    isFolder: type === constants.S_IFDIR,
  }
}

/** The stamp to cache. A very young one gets no time, so that the hash decides next time. */
export function toStorableStamp({ stamp }: FileInfo, now: number): FileStamp {
  return now - stamp.mtime < CLOCK_STEP_MS ? { ...stamp, mtime: 0 } : stamp
}

/** True when nothing hints at a change. */
export function isSameStamp(left: FileStamp, right: FileStamp): boolean {
  return left.mtime === right.mtime && left.size === right.size && left.ino === right.ino
}

/**
 * SHA-256 of a file in hexadecimal. Empty, which equals nothing, for a huge or unreadable file.
 */
export async function hashFile(path: string, size: number): Promise<string> {
  if (size > MAX_HASHED_BYTES) return ''
  const { createHash } = await import('node:crypto')
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const hash = createHash('sha256')
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(size, 1), MEBIBYTE))
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
      hash.update(chunk.subarray(0, read))
    return hash.digest('hex')
  } catch {
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
