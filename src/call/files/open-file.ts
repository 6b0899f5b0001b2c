import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { ToolError } from '../../contract/tool-error.ts'

/** A configuration file as it is now. */
export type OpenedFile = {
  /** Where it is, behind all links. */
  readonly path: string
  /** What it holds, without the byte order mark; undefined where there is no file. */
  readonly text: string | undefined
  readonly mark: '' | '\uFEFF'
  /** Mode and owner, to be kept. */
  readonly stats?: { readonly mode: number; readonly uid: number; readonly gid: number }
}

/** Reads a file of somebody else. Throws CONFIG or what the system says when it is none that can be read. */
export function openFile(path: string): OpenedFile {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    return { path, text: undefined, mark: '' }
  const target = followLinks(path)
  const stats = statSync(target)
  // A pipe would never end, and reading a device may do anything.
  if (!stats.isFile())
    throw new ToolError(
      'CONFIG',
      stats.isDirectory() ? 'is a folder and not a file' : 'is not a regular file',
    )
  const { mark, text } = decode(readFileSync(target))
  return {
    path: target,
    text,
    mark,
    stats: { mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid },
  }
}

function followLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new ToolError('CONFIG', 'is a link to a file that is not there')
    throw error
  }
}

function decode(bytes: Uint8Array): { readonly mark: '' | '\uFEFF'; readonly text: string } {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ToolError('CONFIG', 'is not UTF-8')
  }
  return text.startsWith('\uFEFF') ? { mark: '\uFEFF', text: text.slice(1) } : { mark: '', text }
}
