/**
 * Caches what was read of a module, until one of the files behind it changes.
 */

import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readOwnedFile, writeCacheFile } from '../core/cache.ts'
import { shortHash } from '../util/short-hash.ts'
import { isObject } from '../util/values.ts'
import type { ModuleManifest } from './manifest.ts'

const CACHE_FORMAT = 'toolable functions 2'

/** What a manifest is remembered by. */
export type ManifestCacheKey = {
  readonly folder: string
  readonly file: string
  readonly strict: boolean
  /** Of this package: another one reads again. */ readonly version: string
}

/** What is remembered of a module. */
export type CachedModule = { readonly manifest: ModuleManifest; readonly hasTools: boolean }

/**
 * What was read of a module, where none of the files behind it has changed; undefined where
 * anything is in doubt.
 */
export function readCachedModule(key: ManifestCacheKey): CachedModule | undefined {
  const record = tryParseJson(readOwnedFile(getCacheFile(key)) ?? '')
  if (
    !isObject(record) ||
    record['form'] !== CACHE_FORMAT ||
    record['version'] !== key.version ||
    record['file'] !== key.file ||
    record['strict'] !== key.strict
  )
    return undefined
  const { files, manifest, hasTools } = record
  if (
    !Array.isArray(files) ||
    !isObject(manifest) ||
    !Array.isArray(manifest['functions']) ||
    !Array.isArray(manifest['problems'])
  )
    return undefined
  return files.every((entry) => Array.isArray(entry) && getFileStamp(String(entry[0])) === entry[1])
    ? { manifest: manifest as ModuleManifest, hasTools: hasTools === true }
    : undefined
}

/**
 * Remembers what was read, whole or not at all. What cannot be written is not remembered, and that
 * is all.
 */
export function writeCachedModule(
  key: ManifestCacheKey,
  { manifest, hasTools }: CachedModule,
  files: readonly string[],
): void {
  const stamps = files.map((file) => [file, getFileStamp(file)])
  const file = getCacheFile(key)
  writeCacheFile(
    key.folder,
    file,
    `${JSON.stringify({ form: CACHE_FORMAT, version: key.version, file: key.file, strict: key.strict, files: stamps, hasTools, manifest })}\n`,
  )
}

// Files of the project by what stands in them; those of packages, which are many and change as a
// whole, by size and time.
function getFileStamp(file: string): string | null {
  try {
    if (!/[/\\]node_modules[/\\]/.test(file)) return hashText(readFileSync(file, 'utf8'))
    const { size, mtimeMs } = statSync(file)
    return `${size}-${mtimeMs}`
  } catch {
    // It is not there; when it is, that is a change.
    return null
  }
}

/** What stands for a text: it tells a change, and hides nothing. */
export function hashText(text: string): string {
  return `${text.length.toString(36)}-${shortHash(text)}`
}

function getCacheFile({ folder, file, strict }: ManifestCacheKey): string {
  return join(
    folder,
    `functions-${basename(file)
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, 60)}-${shortHash(`${file}\n${strict}`)}.json`,
  )
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
