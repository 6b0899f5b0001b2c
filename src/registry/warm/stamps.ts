import { resolve } from 'node:path'
import { look } from '../cache/stamp.ts'
import type { LookedAt } from '../cache/stamp.ts'
import type { WarmTarget } from './warm-type.ts'

/** What a file was when it was looked at. */
export type Stamp = {
  readonly path: string
  readonly ino: number
  readonly size: number
  readonly mtime: number
  /** When it was looked at last, for what hardly ever changes: the interpreter, the directory. */ looked?: number
}

const LOOK_MS = 20

/** The files that make a program what it is, and its directory: the executable, the program, and the arguments that are files. */
export function takeStamps({ command, executable, cwd }: WarmTarget): readonly Stamp[] {
  const named = command
    .filter((word) => !word.startsWith('-') && (word.includes('/') || word.includes('.')))
    .map((word) => resolve(cwd, word))
  const paths = new Set([...(executable === undefined ? [] : [resolve(cwd, executable)]), ...named])
  const files = [...paths].flatMap((path) => {
    const seen = look(path)
    const isInterpreter = command.length > 1 && path === named[0] && path !== executable
    return seen?.isFile
      ? [{ path, ...seen.stamp, ...(isInterpreter && { looked: performance.now() }) }]
      : []
  })
  // Of a directory only its identity counts: one that was made anew is not where the program runs.
  return [
    ...files,
    { path: cwd, ino: look(cwd)?.stamp.ino ?? 0, size: -1, mtime: 0, looked: performance.now() },
  ]
}

/** False as soon as one of the files is another one, or gone. `looked` is one of them as it is now. */
export function areCurrent(stamps: readonly Stamp[], looked?: LookedAt): boolean {
  for (const stamp of stamps) {
    const { path, ino, size, mtime, looked: lately } = stamp
    if (lately !== undefined) {
      const now = performance.now()
      if (now - lately < LOOK_MS) continue
      stamp.looked = now
    }
    const found = path === looked?.path ? looked.stamp : look(path)?.stamp
    if (
      !found ||
      found.ino !== ino ||
      (size !== -1 && (found.size !== size || found.mtime !== mtime))
    )
      return false
  }
  return true
}
