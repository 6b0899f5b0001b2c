import { accessSync, constants, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ToolError } from '../../contract/tool-error.ts'

const MOST_LOOKS = 50
const LOOK_AGAIN_MS = 20

/** The folders above a path that are not there yet, the outermost first. */
export function missingFolders(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path || statSync(folder, { throwIfNoEntry: false })
    ? []
    : [...missingFolders(folder), folder]
}

/** Throws when nothing can be put beside a path, or when the folders above it cannot be made. */
export function requireWritableFolder(path: string): void {
  const folder = dirname(missingFolders(path)[0] ?? path)
  if (!statSync(folder).isDirectory())
    throw new ToolError('CONFIG', 'lies below something that is no folder')
  accessSync(folder, constants.W_OK | constants.X_OK)
}

/** Makes the folders above a path; gives those that were not there, the outermost first. */
export function makeFolders(path: string): readonly string[] {
  const made: string[] = []
  try {
    for (const folder of missingFolders(path)) if (makeFolder(folder)) made.push(folder)
  } catch (error) {
    removeFolders(made)
    throw error
  }
  return made
}

/** Removes folders that we made, as far as they are empty. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder)
    } catch (error) {
      // Somebody uses it by now, and so those above it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return
    }
  }
}

/** The same when we are done; others who wait for the lock put it into the folder for a moment, and that passes. */
export async function leaveFolders(folders: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < MOST_LOOKS && folders.some(holdsOnlyLocks); attempt++) {
    removeFolders(folders)
    if (folders.some(holdsOnlyLocks)) await wait(LOOK_AGAIN_MS)
  }
}

/** The nearest folders above a path, the outermost first. */
export function foldersAbove(path: string, count: number): readonly string[] {
  return count <= 0 ? [] : [...foldersAbove(dirname(path), count - 1), dirname(path)]
}

// An empty folder holds nothing else.
function holdsOnlyLocks(folder: string): boolean {
  try {
    return readdirSync(folder).every((name) => /^\..+\.toolable(?:\.|$)/.test(name))
  } catch {
    return false
  }
}

function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code === 'EEXIST' &&
      statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    )
      return false
    throw error
  }
}
