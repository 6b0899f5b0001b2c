import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { WITHOUT_LINKS, writeTemporary } from '../exclusive-file.ts'
import { openFile } from './open-file.ts'
import type { OpenedFile } from './open-file.ts'
import { lockOf } from './lock.ts'

/** Puts a new text in the place of a file, or a file where there was none: the old one or the new one is there at any moment, whole; `mode` is for a new one. False when the file is not what it was; then nothing has happened. */
export function replaceFile(file: OpenedFile, text: string, mode: number): boolean {
  const temporary = writeTemporary(lockOf(file.path), file.mark + text, {
    mode: file.stats ? undefined : mode,
  })
  try {
    if (file.stats) keepStats(temporary, file.stats)
    if (!isUnchanged(file)) return false
    if (file.text === undefined) return place(temporary, file.path)
    renameSync(temporary, file.path)
    return true
  } finally {
    rmSync(temporary, { force: true })
    syncFolder(dirname(file.path))
  }
}

/** Deletes a file. False when it is not what it was; then nothing has happened. */
export function deleteFile(file: OpenedFile): boolean {
  if (!isUnchanged(file)) return false
  rmSync(file.path)
  syncFolder(dirname(file.path))
  return true
}

// Agents write their files too, and know nothing of our lock.
function isUnchanged(file: OpenedFile): boolean {
  const now = openFile(file.path)
  return now.text === file.text && now.mark === file.mark
}

// A link, unlike a rename, fails when somebody has made the file meanwhile. Some file systems have none.
function place(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!WITHOUT_LINKS.includes(code ?? '')) throw error
    renameSync(temporary, path)
  }
  return true
}

// The owner is kept for root's sake: for anybody else it is the same, or cannot be.
function keepStats(temporary: string, { mode, uid, gid }: NonNullable<OpenedFile['stats']>): void {
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
