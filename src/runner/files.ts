/**
 * File helpers for run folders: errors of the file system as tool errors, opening without following
 * links, and waiting for a file to appear.
 */

import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode, watchFolder } from '../util/files.ts'

/** Turns an error of the file system into DISK_FULL, PERMISSION, or INTERNAL for everything else. */
export function toDiskError(error: unknown, doing: string): ToolError {
  if (ToolError.is(error)) return error
  const { code = 'error' } = error as NodeJS.ErrnoException
  const message = `${doing}: ${code}`
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT'))
    return new ToolError('DISK_FULL', message, {
      cause: error,
      suggestion: 'Free space (toolable runs clean --older-than 7d), then resume the run',
    })
  if (hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS'))
    return new ToolError('PERMISSION', message, {
      cause: error,
      suggestion: 'Give your user the right to write there, or start where you have it',
    })
  return new ToolError('INTERNAL', message, { cause: error })
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * Opens a file of a run for reading; undefined when it does not exist. A tool with its caller's rights
 * can replace the file by a link, a pipe or a folder, which would lead elsewhere or block: those are
 * refused. Throws PERMISSION or INTERNAL.
 */
export async function openRegularFile(path: string): Promise<FileHandle | undefined> {
  const { open } = await import('node:fs/promises')
  try {
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    if (!hasErrorCode(error, 'ELOOP', 'ENXIO')) throw toDiskError(error, `cannot read ${path}`)
  }
  throw new ToolError('INTERNAL', `${path} is not a file that a runner wrote`)
}

// A watcher may miss changes, and some file systems have none.
const FOLDER_POLL_MS = 500

/**
 * Calls `look` now and at every change in the folder, one call at a time, until it finds something.
 * Resolves to undefined when the signal aborts; rejects when `look` does.
 */
export function watchFolderUntil<Found>(
  folder: string,
  signal: AbortSignal,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  return new Promise((resolve, reject) => {
    let looking = false
    let changed = false
    const watcher = watchFolder(folder, () => void again(), { persistent: false })
    const timer = setInterval(() => void again(), FOLDER_POLL_MS)
    const finish = (settle: () => void): void => {
      clearInterval(timer)
      watcher?.close()
      signal.removeEventListener('abort', giveUp)
      settle()
    }
    const giveUp = (): void => finish(() => resolve(undefined))
    const again = async (): Promise<void> => {
      changed = true
      if (looking) return
      looking = true
      try {
        while (changed) {
          changed = false
          const found = await look()
          if (found !== undefined) return finish(() => resolve(found))
        }
        looking = false
      } catch (error) {
        finish(() => reject(error))
      }
    }
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    else void again()
  })
}
