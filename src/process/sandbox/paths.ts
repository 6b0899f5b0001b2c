import { realpathSync } from 'node:fs'
import { sep } from 'node:path'

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
