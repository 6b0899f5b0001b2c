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

/** Takes away what earlier builds have left in a folder. */
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

// One by one: with `recursive` node says of a file system that may only be read that the folder is
// not there.
function ensureFolder(folder: string): void {
  if (existsSync(folder)) return
  ensureFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another build may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
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
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new ToolError('PERMISSION', `${path} cannot be written (${code})`, {
      cause: error,
      suggestion: 'Build into another folder with --out',
    })
  return new ToolError('INVALID_PATH', `${path} cannot be written (${code ?? message})`, {
    cause: error,
    suggestion: 'Build into another folder with --out',
  })
}

/**
 * How long compiled code is, and a number of each of its pages: V8 trusts what it is given. Its
 * text is written into bundles, so it refers to nothing but its parameter.
 */
export function computeChecksum(data: Uint8Array): string {
  let sum = data.length
  for (let at = 0; at < data.length; at += 4096) sum = (sum * 31 + data[at]!) % 1e9
  return `${data.length} ${sum}`
}

/**
 * Compiled code as it lies beside its bundle: the first line says for which bundle, which node and
 * which machine it is; `seal` stands at its end. `launch` reads it.
 */
export function addChecksum(
  data: Uint8Array,
  id: string,
): { readonly content: Uint8Array; readonly seal: string } {
  const seal = computeChecksum(data)
  return {
    content: Buffer.concat([
      Buffer.from(`toolable code 1 ${id} ${host.version} ${host.arch} ${seal}\n`),
      data,
    ]),
    seal,
  }
}
