import { closeSync, openSync } from 'node:fs'
import { ToolError } from '../../../contract/tool-error.ts'
import { openFile } from '../../../call/files/open-file.ts'
import type { OpenedFile } from '../../../call/files/open-file.ts'
import { fileProblem } from '../../../call/files/file-problem.ts'
import {
  foldersAbove,
  leaveFolders,
  makeFolders,
  missingFolders,
  requireWritableFolder,
} from '../../../call/files/folders.ts'
import { whileFoldersVanish, withLock } from '../../../call/files/lock.ts'
import { deleteFile, replaceFile } from '../../../call/files/replace-file.ts'

/** What is to become of a file, and what is said about it. Without `write` and `remove` it stays as it is. */
export type Change<Row> = {
  readonly row: Row
  readonly write?: string
  /** Delete it, and this many folders above it as far as they are empty. */
  readonly remove?: { readonly folders: number }
}

/** Decides on a file from what it holds; `folders` is how many above it have to be made. May be asked again when the file changes meanwhile. */
export type Decide<Row> = (file: OpenedFile, folders: number) => Change<Row>

type Options = {
  readonly dryRun: boolean
  readonly signal: AbortSignal
  /** Of a new file. */ readonly mode: number
}

const MOST_ATTEMPTS = 5

/** Changes a file as `decide` says; in a dry run only decides. Throws ToolError, and leaves nothing behind, when the file is broken or cannot be written. */
export async function changeFile<Row>(
  path: string,
  decide: Decide<Row>,
  options: Options,
): Promise<Row> {
  try {
    return await whileFoldersVanish(() => changeOnce(path, decide, options))
  } catch (error) {
    throw fileProblem(error, path)
  }
}

async function changeOnce<Row>(
  path: string,
  decide: Decide<Row>,
  { dryRun, signal, mode }: Options,
): Promise<Row> {
  const file = openFile(path)
  const first = decide(file, missingFolders(file.path).length)
  if (isChange(first)) requireWritable(file)
  if (dryRun || !isChange(first)) return first.row
  const made = makeFolders(file.path)
  let change: Change<Row> | undefined
  try {
    change = await withLock(file.path, signal, () =>
      attempt(path, (now) => decide(now, made.length), mode),
    )
  } finally {
    if (!change || !isChange(change)) await leaveFolders(made)
  }
  if (change.remove) await leaveFolders(foldersAbove(file.path, change.remove.folders))
  return change.row
}

// A plan tells this too. A rename would not mind a file that is read-only; who made it so would.
function requireWritable(file: OpenedFile): void {
  requireWritableFolder(file.path)
  if (file.stats) closeSync(openSync(file.path, 'r+'))
}

function isChange(change: Change<unknown>): boolean {
  return change.write !== undefined || change.remove !== undefined
}

function attempt<Row>(
  path: string,
  decide: (file: OpenedFile) => Change<Row>,
  mode: number,
  attempts = MOST_ATTEMPTS,
): Change<Row> {
  const file = openFile(path)
  const change = decide(file)
  if (
    !isChange(change) ||
    (change.remove ? deleteFile(file) : replaceFile(file, change.write!, mode))
  )
    return change
  if (attempts > 1) return attempt(path, decide, mode, attempts - 1)
  throw new ToolError('CONFLICT', `${path} is being changed by somebody else all the time`, {
    retryable: true,
    details: { file: path },
    suggestion: 'End the program that writes it, and try again',
  })
}
