/**
 * File helpers for run folders: errors of the file system as tool errors, opening without following
 * links, and waiting for a file to appear.
 */

import { constants, watch } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ToolError } from '../protocol/tool-error.ts'

const DISK_FULL_CODES: readonly string[] = ['ENOSPC', 'EDQUOT']
const PERMISSION_CODES: readonly string[] = ['EACCES', 'EPERM', 'EROFS']

/**
 * What the file system said, as an error of ours: DISK_FULL, PERMISSION, or INTERNAL for everything
 * else.
 */
export function toDiskError(error: unknown, doing: string): ToolError {
  if (ToolError.is(error)) return error
  const { code = 'error' } = error as NodeJS.ErrnoException
  const message = `${doing}: ${code}`
  if (DISK_FULL_CODES.includes(code))
    return new ToolError('DISK_FULL', message, {
      cause: error,
      suggestion: 'Free space (toolable runs clean --older-than 7d), then resume the run',
    })
  if (PERMISSION_CODES.includes(code))
    return new ToolError('PERMISSION', message, {
      cause: error,
      suggestion: 'Give your user the right to write there, or start where you have it',
    })
  return new ToolError('INTERNAL', message, { cause: error })
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * Opens a file of a run for reading; undefined where there is none. A tool with the rights of its
 * caller can put links, pipes and folders in its place, which would lead elsewhere or hold us up:
 * those are refused. Throws PERMISSION or INTERNAL.
 */
export async function openRegularFile(path: string): Promise<FileHandle | undefined> {
  const { open } = await import('node:fs/promises')
  try {
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code !== 'ELOOP' && code !== 'ENXIO') throw toDiskError(error, `cannot read ${path}`)
  }
  throw new ToolError('INTERNAL', `${path} is not a file that a runner wrote`)
}

/**
 * Where a folder cannot be watched, it is looked into so often; also where it can, because a watch
 * may miss something.
 */
const FOLDER_POLL_MS = 500

/**
 * Looks now, at every change in the folder, and now and then besides, never twice at the same time;
 * undefined when nobody waits any more. Rejects as `look` does.
 */
export function watchFolderUntil<Found>(
  folder: string,
  signal: AbortSignal,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  return new Promise((resolve, reject) => {
    let looking = false
    let changed = false
    const watcher = tryWatch(folder, () => void again())
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

function tryWatch(folder: string, onChange: () => void): { close(): void } | undefined {
  try {
    return watch(folder, { persistent: false }, onChange).on('error', () => undefined)
  } catch {
    return undefined
  }
}
