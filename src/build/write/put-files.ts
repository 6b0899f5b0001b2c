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
import { ToolError } from '../../contract/tool-error.ts'
import { host } from '../../call/host.ts'

/** A file of a built program. */
export type BuiltFile = {
  readonly path: string
  readonly content: string | Uint8Array
  readonly executable?: true
}

// Another build of the same program may be about to use its files.
const LEFT_ALONE_MS = 60_000

/** Writes the files of a program, each whole or not at all; the last one is what makes the others count. Throws DISK_FULL, PERMISSION or INVALID_PATH. */
export function putFiles(files: readonly BuiltFile[]): void {
  for (const file of files) {
    const fresh = `${file.path}.${host.pid}.tmp`
    try {
      makeFolder(dirname(file.path))
      writeFileSync(fresh, file.content, { mode: file.executable ? 0o755 : 0o644, flush: true })
      renameSync(fresh, file.path)
    } catch (error) {
      if (existsSync(fresh)) rmSync(fresh, { force: true })
      throw explain(error as NodeJS.ErrnoException, file.path)
    }
  }
}

/** Takes away what earlier builds have left in a folder. */
export function clearFolder(folder: string, keep: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (
      !name.startsWith(keep) &&
      Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > LEFT_ALONE_MS
    )
      rmSync(path, { force: true })
  }
}

// One by one: with `recursive` node says of a file system that may only be read that the folder is not there.
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another build may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function explain(error: NodeJS.ErrnoException, path: string): ToolError {
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
