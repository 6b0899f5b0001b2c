import { closeSync, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { isLinux } from '../host.ts'
import { openFolders } from '../open-folders.ts'
import { realPath } from '../sandbox/paths.ts'

/** A folder that stays the same whoever renames or exchanges what is above it. */
export type HeldFolder = {
  /** Leads to it and nowhere else, as long as it is held. */
  readonly path: string
  /** What people call it. */
  readonly name: string
  release(): void
}

/** Holds the folder at a path that had no links in it. Throws PERMISSION where one is there now, and INVALID_PATH where the folder is gone. */
export function holdFolder(path: string): HeldFolder {
  if (realPath(path) !== path) throw explain(path)
  if (!isLinux) return { path, name: path, release: () => undefined }
  try {
    const folder = openFolders('/', path)
    return { path: `/proc/self/fd/${folder}`, name: path, release: () => closeSync(folder) }
  } catch {
    throw explain(path)
  }
}

function explain(path: string): ToolError {
  const link = findLink(path)
  if (link === undefined)
    return new ToolError(
      'INVALID_PATH',
      `the folder ${path} is gone, which the output was meant for`,
      { suggestion: `mkdir -p ${path}` },
    )
  return new ToolError(
    'PERMISSION',
    `the output cannot be put into ${path}: ${link} is a link, and it was none when the tool was started`,
    { suggestion: `ls -ld ${link}` },
  )
}

// The outermost one.
function findLink(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : findLink(dirname(path))
  return above ?? (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? path : undefined)
}
