import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, sep } from 'node:path'

/** Whether a path is the folder or lies in it. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** The path without links, or undefined where there is nothing. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Whether a folder holds everything of a user, or of all of them: nothing that a program needs is shown by showing it. */
export function isWholeHome(path: string): boolean {
  return (
    dirname(path) === '/home' ||
    [homedir(), '/home', '/root', '/tmp', '/var/tmp'].some((home) => contains(path, home))
  )
}
