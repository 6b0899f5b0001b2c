/**
 * Changes a file that others may change at the same time.
 */

import { closeSync, openSync } from 'node:fs'
import { retryWhileFoldersVanish, withFileLock } from '../core/files/lock.ts'
import {
  createFolders,
  deleteFile,
  listMissingFolders,
  listParentFolders,
  openSharedFile,
  removeFoldersWhenFree,
  replaceFile,
  requireWritableFolder,
  toFileError,
} from '../core/files/shared-file.ts'
import type { SharedFile } from '../core/files/shared-file.ts'
import { ToolError } from '../protocol/tool-error.ts'

/**
 * What is to become of a file, and what is said about it. Without `write` and `remove` it stays as
 * it is.
 */
export type FileChange<Row> = {
  readonly row: Row
  readonly write?: string
  /** Delete it, and this many folders above it as far as they are empty. */
  readonly remove?: { readonly folders: number }
}

/**
 * Decides on a file from what it holds; `folders` is how many above it have to be made. May be
 * asked again when the file changes meanwhile.
 */
export type DecideFileChange<Row> = (file: SharedFile, folders: number) => FileChange<Row>

type ChangeFileOptions = {
  readonly dryRun: boolean
  readonly signal: AbortSignal
  /** Of a new file. */ readonly mode: number
}

const MAX_ATTEMPTS = 5

/**
 * Changes a file as `decide` says; in a dry run only decides. Throws ToolError, and leaves nothing
 * behind, when the file is broken or cannot be written.
 */
export async function changeFile<Row>(
  path: string,
  decide: DecideFileChange<Row>,
  options: ChangeFileOptions,
): Promise<Row> {
  try {
    return await retryWhileFoldersVanish(() => changeOnce(path, decide, options))
  } catch (error) {
    throw toFileError(error, path)
  }
}

async function changeOnce<Row>(
  path: string,
  decide: DecideFileChange<Row>,
  { dryRun, signal, mode }: ChangeFileOptions,
): Promise<Row> {
  const file = openSharedFile(path)
  const first = decide(file, listMissingFolders(file.path).length)
  if (isChange(first)) requireWritable(file)
  if (dryRun || !isChange(first)) return first.row
  const made = createFolders(file.path)
  let change: FileChange<Row> | undefined
  try {
    change = await withFileLock(file.path, signal, () =>
      tryChange(path, (now) => decide(now, made.length), mode),
    )
  } finally {
    if (!change || !isChange(change)) await removeFoldersWhenFree(made)
  }
  if (change.remove)
    await removeFoldersWhenFree(listParentFolders(file.path, change.remove.folders))
  return change.row
}

// A plan tells this too. A rename would not mind a file that is read-only; who made it so would.
function requireWritable(file: SharedFile): void {
  requireWritableFolder(file.path)
  if (file.stats) closeSync(openSync(file.path, 'r+'))
}

function isChange(change: FileChange<unknown>): boolean {
  return change.write !== undefined || change.remove !== undefined
}

function tryChange<Row>(
  path: string,
  decide: (file: SharedFile) => FileChange<Row>,
  mode: number,
  attempts = MAX_ATTEMPTS,
): FileChange<Row> {
  const file = openSharedFile(path)
  const change = decide(file)
  if (
    !isChange(change) ||
    (change.remove ? deleteFile(file) : replaceFile(file, change.write!, mode))
  )
    return change
  if (attempts > 1) return tryChange(path, decide, mode, attempts - 1)
  throw new ToolError('CONFLICT', `${path} is being changed by somebody else all the time`, {
    retryable: true,
    details: { file: path },
    suggestion: 'End the program that writes it, and try again',
  })
}
