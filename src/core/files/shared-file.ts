/**
 * Changing a file that other programs change too, such as the configuration of an agent: read it,
 * replace it only if it is unchanged, keep mode and owner, and name the file in every error.
 */

import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ErrorCode } from '../../protocol/errors.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { hasErrorCode } from '../../util/files.ts'
import { NO_HARD_LINK_CODES, writeTemporaryFile } from '../../util/lock-file.ts'
import { getLockPath } from './lock.ts'

/** A configuration file as it is now. */
export type SharedFile = {
  /** Where it is, behind all links. */
  readonly path: string
  /** What it holds, without the byte order mark; undefined where there is no file. */
  readonly text: string | undefined
  readonly mark: '' | '\uFEFF'
  /** Mode and owner, to be kept. */
  readonly stats?: { readonly mode: number; readonly uid: number; readonly gid: number }
}

/**
 * Reads a file of somebody else. Throws CONFIG or what the system says when it is none that can be
 * read.
 */
export function openSharedFile(path: string): SharedFile {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    return { path, text: undefined, mark: '' }
  const target = resolveLinks(path)
  const stats = statSync(target)
  // A pipe would never end, and reading a device may do anything.
  if (!stats.isFile())
    throw new ToolError(
      'CONFIG',
      stats.isDirectory() ? 'is a folder and not a file' : 'is not a regular file',
    )
  const { mark, text } = decodeUtf8(readFileSync(target))
  return {
    path: target,
    text,
    mark,
    stats: { mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid },
  }
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT'))
      throw new ToolError('CONFIG', 'is a link to a file that is not there')
    throw error
  }
}

function decodeUtf8(bytes: Uint8Array): { readonly mark: '' | '\uFEFF'; readonly text: string } {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ToolError('CONFIG', 'is not UTF-8')
  }
  return text.startsWith('\uFEFF') ? { mark: '\uFEFF', text: text.slice(1) } : { mark: '', text }
}

/**
 * Puts a new text in the place of a file, or a file where there was none: the old one or the new
 * one is there at any moment, whole; `mode` is for a new one. False when the file is not what it
 * was; then nothing has happened.
 */
export function replaceFile(file: SharedFile, text: string, mode: number): boolean {
  const temporary = writeTemporaryFile(getLockPath(file.path), file.mark + text, {
    mode: file.stats ? undefined : mode,
  })
  try {
    if (file.stats) copyStats(temporary, file.stats)
    if (!isUnchanged(file)) return false
    if (file.text === undefined) return linkIntoPlace(temporary, file.path)
    renameSync(temporary, file.path)
    return true
  } finally {
    rmSync(temporary, { force: true })
    syncFolder(dirname(file.path))
  }
}

/** Deletes a file. False when it is not what it was; then nothing has happened. */
export function deleteFile(file: SharedFile): boolean {
  if (!isUnchanged(file)) return false
  rmSync(file.path)
  syncFolder(dirname(file.path))
  return true
}

// Agents write their files too, and know nothing of our lock.
function isUnchanged(file: SharedFile): boolean {
  const now = openSharedFile(file.path)
  return now.text === file.text && now.mark === file.mark
}

// A link, unlike a rename, fails when somebody has made the file meanwhile. Some file systems have
// none.
function linkIntoPlace(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path)
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false
    if (!hasErrorCode(error, ...NO_HARD_LINK_CODES)) throw error
    renameSync(temporary, path)
  }
  return true
}

// The owner is kept for root's sake: for anybody else it is the same, or cannot be.
function copyStats(temporary: string, { mode, uid, gid }: NonNullable<SharedFile['stats']>): void {
  try {
    chownSync(temporary, uid, gid)
  } catch {
    /* not root */
  }
  chmodSync(temporary, mode)
}

// The name is on the disk only when its folder is. Windows cannot open a folder.
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r')
    fsyncSync(descriptor)
    closeSync(descriptor)
  } catch {
    /* it may be late, never half */
  }
}

const MAX_FOLDER_CHECKS = 50
const FOLDER_POLL_MS = 20

/** The folders above a path that are not there yet, the outermost first. */
export function listMissingFolders(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path || statSync(folder, { throwIfNoEntry: false })
    ? []
    : [...listMissingFolders(folder), folder]
}

/** Throws when nothing can be put beside a path, or when the folders above it cannot be made. */
export function requireWritableFolder(path: string): void {
  const folder = dirname(listMissingFolders(path)[0] ?? path)
  if (!statSync(folder).isDirectory())
    throw new ToolError('CONFIG', 'lies below something that is no folder')
  accessSync(folder, constants.W_OK | constants.X_OK)
}

/** Makes the folders above a path; gives those that were not there, the outermost first. */
export function createFolders(path: string): readonly string[] {
  const made: string[] = []
  try {
    for (const folder of listMissingFolders(path)) if (createFolder(folder)) made.push(folder)
  } catch (error) {
    removeFolders(made)
    throw error
  }
  return made
}

/** Removes folders that we made, as far as they are empty. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder)
    } catch (error) {
      // Somebody uses it by now, and so those above it.
      if (!hasErrorCode(error, 'ENOENT')) return
    }
  }
}

/**
 * The same when we are done; others who wait for the lock put it into the folder for a moment, and
 * that passes.
 */
export async function removeFoldersWhenFree(folders: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < MAX_FOLDER_CHECKS && folders.some(holdsOnlyLocks); attempt++) {
    removeFolders(folders)
    if (folders.some(holdsOnlyLocks)) await wait(FOLDER_POLL_MS)
  }
}

/** The nearest folders above a path, the outermost first. */
export function listParentFolders(path: string, count: number): readonly string[] {
  return count <= 0 ? [] : [...listParentFolders(dirname(path), count - 1), dirname(path)]
}

// An empty folder holds nothing else.
function holdsOnlyLocks(folder: string): boolean {
  try {
    return readdirSync(folder).every((name) => /^\..+\.toolable(?:\.|$)/.test(name))
  } catch {
    return false
  }
}

function createFolder(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    if (hasErrorCode(error, 'EEXIST') && isThere) return false
    throw error
  }
}

const ERRNO_PROBLEMS: { readonly [code: string]: readonly [ErrorCode, string] } = {
  EACCES: ['PERMISSION', 'may not be touched by this user'],
  EPERM: ['PERMISSION', 'may not be touched by this user'],
  EROFS: ['PERMISSION', 'is on a file system that cannot be written'],
  ELOOP: ['CONFIG', 'is a link that leads to itself'],
  EISDIR: ['CONFIG', 'is a folder and not a file'],
  ENOTDIR: ['CONFIG', 'lies below something that is no folder'],
  EBUSY: ['CONFLICT', 'cannot be replaced while it is in use or mounted'],
  ENAMETOOLONG: ['CONFIG', 'has a name that is too long for this system'],
  ENOSPC: ['DISK_FULL', 'cannot be written: the disk is full'],
  EDQUOT: ['DISK_FULL', 'cannot be written: the disk is full'],
}

/**
 * What the system or a reader said about a file, as the error of that file. Anything else is given
 * back as it is.
 */
export function toFileError(error: unknown, path: string): unknown {
  if (ToolError.is(error))
    return error.code === 'CONFIG' ? createFileConfigError(path, error.message) : error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error
  const [known, words] =
    ERRNO_PROBLEMS[code] ?? (['INTERNAL', `cannot be used: ${message}`] as const)
  return known === 'CONFIG'
    ? createFileConfigError(path, words)
    : new ToolError(known, `${path} ${words}`, {
        cause: error,
        details: { file: path },
        suggestion:
          known === 'DISK_FULL'
            ? 'Free space on its disk, and try again'
            : `Make ${path} writable and try again`,
      })
}

/** The error of a file of somebody else that is not what it should be. */
function createFileConfigError(path: string, problem: string): ToolError {
  return new ToolError('CONFIG', `${path} ${problem}; it was left alone`, {
    details: { file: path },
    suggestion: `Mend ${path} and try again`,
  })
}
