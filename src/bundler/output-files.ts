/**
 * Writes the files of a built program, each whole or not at all, and the checksum of its compiled
 * code.
 */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { host } from '../core/host.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode } from '../util/files.ts'

/** A file of a built program. */
type BuiltFile = {
  readonly path: string
  readonly content: string | Uint8Array
  readonly executable?: true
}

// Another build of the same program may be about to use its files.
const KEEP_RECENT_MS = 60_000

/**
 * Writes the files of a program, each whole or not at all; the last one is what makes the others
 * count. Throws DISK_FULL, PERMISSION or INVALID_PATH.
 */
export function writeBuiltFiles(files: readonly BuiltFile[]): void {
  for (const file of files) {
    const fresh = `${file.path}.${host.pid}.tmp`
    try {
      ensureFolder(dirname(file.path))
      writeFileSync(fresh, file.content, { mode: file.executable ? 0o755 : 0o644, flush: true })
      renameSync(fresh, file.path)
    } catch (error) {
      if (existsSync(fresh)) rmSync(fresh, { force: true })
      throw toWriteError(error as NodeJS.ErrnoException, file.path)
    }
  }
}

/** Removes the files of earlier builds. */
export function removeOldFiles(folder: string, keep: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (
      !name.startsWith(keep) &&
      Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > KEEP_RECENT_MS
    )
      rmSync(path, { force: true })
  }
}

// Not recursive, because then node reports ENOENT for a read-only file system.
function ensureFolder(folder: string): void {
  if (existsSync(folder)) return
  ensureFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another build may have been faster.
    if (!hasErrorCode(error, 'EEXIST')) throw error
  }
}

function toWriteError(error: NodeJS.ErrnoException, path: string): ToolError {
  const { code, message } = error
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ToolError(
      'DISK_FULL',
      `no space is left for ${path}; what was built before is as it was`,
      { cause: error },
    )
  const isForbidden = hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS')
  const errorCode = isForbidden ? 'PERMISSION' : 'INVALID_PATH'
  return new ToolError(errorCode, `${path} cannot be written (${code ?? message})`, {
    cause: error,
    suggestion: 'Build into another folder with --out',
  })
}

/**
 * The length of compiled code, and a sum over a byte of each page: V8 does not check it. The text of
 * this function is written into bundles, so it refers to nothing but its parameter.
 */
export function computeChecksum(data: Uint8Array): string {
  let sum = data.length
  for (let at = 0; at < data.length; at += 4096) sum = (sum * 31 + data[at]!) % 1e9
  return `${data.length} ${sum}`
}

/** Adds a first line to compiled code: its bundle, node version, architecture and checksum. */
export function addChecksum(
  data: Uint8Array,
  id: string,
): { readonly content: Uint8Array; readonly seal: string } {
  const seal = computeChecksum(data)
  const head = Buffer.from(`toolable code 1 ${id} ${host.version} ${host.arch} ${seal}\n`)
  return { content: Buffer.concat([head, data]), seal }
}
