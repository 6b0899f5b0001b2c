/**
 * The cache of this package: its folder, files that only this user can have written, and the
 * version that cached data is bound to.
 */

import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readTextFile } from '../util/files.ts'
import { writeFileAtomic } from '../util/lock-file.ts'
import { MEBIBYTE } from '../util/units.ts'
import { parseJsonObject } from '../util/values.ts'
import { host } from './host.ts'

const MAX_CACHE_BYTES = 256 * MEBIBYTE

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
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileAtomic(file, text)
  } catch {
    // The next run finds the same out again.
  }
}

/** The part of a cache file's name by which a person knows the file it belongs to. */
export function toCacheName(file: string): string {
  return basename(file)
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 60)
}

const USER_FOLDERS = {
  cache: { variable: 'XDG_CACHE_HOME', mac: 'Library/Caches/toolable', other: '.cache/toolable' },
  state: {
    variable: 'XDG_STATE_HOME',
    mac: 'Library/Application Support/toolable/state',
    other: '.local/state/toolable',
  },
} as const

/** The folder of a user for what can be found out again, or for what programs remember. */
export async function getUserFolder(
  kind: keyof typeof USER_FOLDERS,
  env: { readonly [name: string]: string | undefined },
): Promise<string> {
  const { variable, mac, other } = USER_FOLDERS[kind]
  const wanted = env[variable]
  if (wanted) return join(wanted, 'toolable')
  const home = env['HOME'] || env['USERPROFILE'] || (await import('node:os')).homedir()
  if (host.platform === 'win32')
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'toolable', kind)
  return join(home, host.platform === 'darwin' ? mac : other)
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
    const file = fileURLToPath(new URL(`${above}package.json`, import.meta.url))
    const data = parseJsonObject(readTextFile(file) ?? '')
    if (data?.['name'] === 'toolable') return String(data['version'])
  }
  return 'unknown'
}
