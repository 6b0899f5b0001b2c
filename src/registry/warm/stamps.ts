import { statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { resolve } from 'node:path'
import type { WarmTarget } from './warm-type.ts'

/** What a file was when it was looked at. */
export type Stamp = { readonly path: string; readonly ino: number; readonly size: number; readonly mtime: number; /** When it was looked at last, for what hardly ever changes: the interpreter, the directory. */ looked?: number }

const LOOK_MS = 20

/** The files that make a program what it is, and its directory: the executable, the program, and the arguments that are files. */
export function takeStamps({ command, executable, cwd }: WarmTarget): readonly Stamp[] {
  const named = command.filter((word) => !word.startsWith('-') && (word.includes('/') || word.includes('.'))).map((word) => resolve(cwd, word))
  const paths = new Set([...(executable === undefined ? [] : [resolve(cwd, executable)]), ...named])
  const files = [...paths].flatMap((path) => {
    const stats = look(path)
    const isInterpreter = command.length > 1 && path === named[0] && path !== executable
    return stats?.isFile() ? [{ path, ino: stats.ino, size: stats.size, mtime: stats.mtimeMs, ...(isInterpreter && { looked: performance.now() }) }] : []
  })
  // Of a directory only its identity counts: one that was made anew is not where the program runs.
  return [...files, { path: cwd, ino: look(cwd)?.ino ?? 0, size: -1, mtime: 0, looked: performance.now() }]
}

/** False as soon as one of the files is another one, or gone. */
export function areCurrent(stamps: readonly Stamp[]): boolean {
  for (const stamp of stamps) {
    const { path, ino, size, mtime, looked } = stamp
    if (looked !== undefined) {
      const now = performance.now()
      if (now - looked < LOOK_MS) continue
      stamp.looked = now
    }
    const stats = look(path)
    if (!stats || stats.ino !== ino || (size !== -1 && (stats.size !== size || stats.mtimeMs !== mtime))) return false
  }
  return true
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
