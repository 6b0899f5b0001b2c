import { realpathSync } from 'node:fs'
import { isAbsolute, resolve, sep } from 'node:path'
import { look } from '../cache/stamp.ts'

/** Where an entry lies, or why it is not taken. */
export type Place =
  { readonly path: string } | { readonly reason: 'outside' | 'missing'; readonly message: string }

/** True for a path below the folder, or the folder itself; `/tools-evil` is not below `/tools`. Both are absolute and normal. */
export function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** The path with all links followed; undefined where it leads nowhere, or out of the folder, which is real itself. */
export function realBelow(folder: string, path: string): string | undefined {
  try {
    const real = realpathSync.native(path)
    return isBelow(folder, real) ? real : undefined
  } catch {
    return undefined
  }
}

/** Finds the file that a manifest names: relative to one of the bases, and whatever it is called, below the folder. */
export function placeEntry(folder: string, bases: readonly string[], entry: string): Place {
  const outside: Place = {
    reason: 'outside',
    message: `has an entry that is not in its folder: ${show(entry)}`,
  }
  if (entry.includes('\0') || entry.split(/[\\/]/).includes('..')) return outside
  const candidates = bases
    .map((base) => resolve(base, entry))
    .filter((path) => isBelow(folder, path))
  if (candidates.length === 0 || (isAbsolute(entry) && !isBelow(folder, resolve(entry))))
    return outside
  for (const path of candidates) {
    if (look(path)?.isFile !== true) continue
    return realBelow(folder, path) === undefined ? outside : { path }
  }
  return { reason: 'missing', message: `names an entry that is not there: ${show(entry)}` }
}

function show(entry: string): string {
  return JSON.stringify(entry.length > 200 ? `${entry.slice(0, 200)}...` : entry)
}
