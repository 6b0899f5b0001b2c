import { constants, lstatSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { isLinux } from '../host.ts'
import { realPath } from '../sandbox/paths.ts'

/** A folder that stays the same whoever renames or exchanges what is above it. */
export type HeldFolder = {
  /** Leads to it and nowhere else, as long as it is held. */
  readonly path: string
  /** What people call it. */
  readonly name: string
  release(): Promise<void>
}

/** Only a name for a folder, so that no right to list it is needed. */
const O_PATH = 0o10000000

/** Holds the folder at a path that had no links in it. Throws PERMISSION where one is there now, and INVALID_PATH where the folder is gone. */
export async function holdFolder(path: string): Promise<HeldFolder> {
  if (realPath(path) !== path) throw explain(path)
  if (!isLinux) return { path, name: path, release: async () => undefined }
  const handle = await openFolder(path)
  return { path: `/proc/self/fd/${handle.fd}`, name: path, release: () => handle.close() }
}

async function openFolder(path: string): Promise<FileHandle> {
  const above = dirname(path) === path ? undefined : await openFolder(dirname(path))
  try {
    return await open(above ? `/proc/self/fd/${above.fd}/${basename(path)}` : path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch {
    throw explain(path)
  } finally {
    await above?.close()
  }
}

function explain(path: string): ToolError {
  const link = findLink(path)
  if (link === undefined) return new ToolError('INVALID_PATH', `the folder ${path} is gone, which the output was meant for`, { suggestion: `mkdir -p ${path}` })
  return new ToolError('PERMISSION', `the output cannot be put into ${path}: ${link} is a link, and it was none when the tool was started`, { suggestion: `ls -ld ${link}` })
}

// The outermost one.
function findLink(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : findLink(dirname(path))
  return above ?? (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? path : undefined)
}
