/**
 * The cache of this package: its folder, files that only this user can have written, and the
 * version that cached data is bound to.
 */

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../util/values.ts'
import { host } from './host.ts'

const MAX_CACHE_BYTES = 256 * 1024 * 1024

/**
 * The text of a file that only we can have written; undefined for every other: what others may
 * write could tell us to run anything.
 */
export function readOwnedFile(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    )
    const { mode, size, uid } = fstatSync(file)
    const isOurs = host.platform === 'win32' || (uid === host.uid && (mode & 0o022) === 0)
    return isOurs && (mode & constants.S_IFMT) === constants.S_IFREG && size <= MAX_CACHE_BYTES
      ? readFileSync(file, 'utf8')
      : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Writes a file of a cache, at once or not at all. What cannot be written is not remembered, and
 * that is all.
 */
export function writeCacheFile(folder: string, file: string, text: string): void {
  const fresh = `${file}.${host.pid}-${Math.random().toString(36).slice(2)}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, file)
  } catch {
    removeQuietly(fresh)
  }
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // Where nothing can be written there is nothing either.
  }
}

type CacheFolderEnv = { readonly [name: string]: string | undefined }

/** Where this platform keeps what can be found out again. */
export async function getCacheFolder(
  env: CacheFolderEnv,
  platform: string = host.platform,
): Promise<string> {
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'toolable')
  const home = env['HOME'] || env['USERPROFILE'] || (await import('node:os')).homedir()
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'toolable', 'cache')
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'toolable')
  return join(home, '.cache', 'toolable')
}

let knownVersion: string | undefined

/**
 * The version of this package, as its package.json says; code and bundle lie at different depths
 * below it.
 */
export function getPackageVersion(): string {
  return (knownVersion ??= findPackageVersion())
}

function findPackageVersion(): string {
  for (const above of ['../', '../../', '../../../']) {
    const data = readPackageJson(new URL(`${above}package.json`, import.meta.url))
    if (isObject(data) && data['name'] === 'toolable') return String(data['version'])
  }
  return 'unknown'
}

function readPackageJson(file: URL): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
