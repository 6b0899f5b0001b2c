import { basename, join } from 'node:path'
import { readOwn, writeWhole } from '../../call/own-cache-file.ts'
import { parse, readLine, writeLine } from './line.ts'
import type { CacheRecord } from './line.ts'

const FORM = 'toolable folder cache 1'

/** The folder that a cache is about. The number of its inode binds the cache to this very folder, so that a cache that came with somebody's files says nothing. */
export type CachedFolder = {
  readonly path: string
  readonly id: number
  /** Another version of this package asks again. */ readonly version: string
}

/** The records of a folder by path; none where there is no cache, or one that is torn, of somebody else, or of another version. */
export function readCache(cacheFolder: string, folder: CachedFolder): Map<string, CacheRecord> {
  const lines = readOwn(fileOf(cacheFolder, folder))?.split('\n') ?? []
  const header = parse(lines[0] ?? '')
  const records = new Map<string, CacheRecord>()
  if (
    !Array.isArray(header) ||
    header[0] !== FORM ||
    header[1] !== folder.version ||
    header[2] !== folder.path ||
    header[3] !== folder.id ||
    header[4] !== lines.length - 2 ||
    lines.at(-1) !== ''
  )
    return records
  for (let index = 1; index < lines.length - 1; index++) {
    const record = readLine(lines[index]!)
    if (!record) return new Map()
    records.set(record.path, record)
  }
  return records
}

/** Writes the whole cache, at once or not at all. What cannot be written is not remembered, and that is all. */
export function writeCache(
  cacheFolder: string,
  folder: CachedFolder,
  records: Iterable<CacheRecord>,
): void {
  const lines = Array.from(records, writeLine)
  const text = `${[JSON.stringify([FORM, folder.version, folder.path, folder.id, lines.length]), ...lines].join('\n')}\n`
  const file = fileOf(cacheFolder, folder)
  writeWhole(cacheFolder, file, text)
}

function fileOf(cacheFolder: string, { path }: CachedFolder): string {
  return join(
    cacheFolder,
    `folder-${basename(path)
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, 60)}-${shortHash(path)}.jsonl`,
  )
}

// FNV-1a, twice: it has to tell folders apart, and must not load node:crypto. The header has the whole path.
function shortHash(text: string): string {
  let left = 0x811c9dc5
  let right = 0x01000193
  for (let at = 0; at < text.length; at++) {
    left = Math.imul(left ^ text.charCodeAt(at), 0x01000193)
    right = Math.imul(right ^ text.charCodeAt(text.length - 1 - at), 0x811c9dc5 | 1)
  }
  return (left >>> 0).toString(36) + (right >>> 0).toString(36)
}
