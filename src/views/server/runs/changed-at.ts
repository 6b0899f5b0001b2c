import { statSync } from 'node:fs'

/** When a file or folder was changed last, in milliseconds; undefined where nobody can tell. */
export function changedAt(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs
  } catch {
    return undefined
  }
}
