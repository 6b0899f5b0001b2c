import type { Stats } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { invalid, isChangesFolder } from '../path.ts'
import { diskProblem } from '../problems.ts'
import { EMPTY_FOLDER } from '../tree.ts'
import type { Base, Node } from '../tree.ts'
import type { Disk } from './disk.ts'

/** How something looked when a call first saw it; null: nothing was there. */
export type Sight = {
  readonly isFolder: boolean
  readonly device: number
  readonly inode: number
  readonly size: number
  readonly changed: number
} | null

/** What a call has seen: single things when it first looked at them (what was changed since makes its decisions void), and folders when it last listed them. */
export type Seen = {
  readonly things: Map<string, Sight>
  readonly lists: Map<string, readonly string[]>
  /** Folders that others made meanwhile, like the call. */ readonly joined: string[]
}

/** The files of a folder as they are now. What is looked at is noted, for the commit to compare. */
export function openBase(disk: Disk, seen: Seen | undefined): Base {
  return {
    look(path) {
      const stats = reading(path, () => disk.look(path))
      if (seen && !seen.things.has(path)) seen.things.set(path, sightOf(stats))
      if (!stats) return undefined
      return nodeOf(path, stats) ?? refuse(path, stats, disk)
    },
    list(folder) {
      const nodes: (readonly [string, Node])[] = []
      const others: string[] = []
      const found = reading(folder === '' ? '.' : folder, () => disk.list(folder))
      seen?.lists.set(
        folder,
        found.map(([name]) => name),
      )
      for (const [name, stats] of found) {
        if (folder === '' && isChangesFolder(name)) continue
        const node = stats && nodeOf(folder === '' ? name : `${folder}/${name}`, stats)
        if (node) nodes.push([name, node])
        else others.push(name)
      }
      return { nodes, others }
    },
  }
}

/** What tells one state of a file or folder from another. Of folders only which one it is, because what is put into one does not make it another. */
export function sightOf(stats: Stats | undefined): Sight {
  if (!stats) return null
  const isFolder = stats.isDirectory()
  return {
    isFolder,
    device: stats.dev,
    inode: stats.ino,
    size: isFolder ? 0 : stats.size,
    changed: isFolder ? 0 : stats.mtimeMs,
  }
}

/** Whether two sights are of the same. */
export function isSameSight(left: Sight, right: Sight): boolean {
  if (left === null || right === null) return left === right
  return (
    left.isFolder === right.isFolder &&
    left.device === right.device &&
    left.inode === right.inode &&
    left.size === right.size &&
    left.changed === right.changed
  )
}

function nodeOf(path: string, stats: Stats): Node | undefined {
  if (stats.isDirectory()) return { ...EMPTY_FOLDER, origin: path }
  if (!stats.isFile()) return undefined
  return {
    kind: 'file',
    size: stats.size,
    origin: path,
    traits: { mode: stats.mode & 0o777, uid: stats.uid, gid: stats.gid },
  }
}

function refuse(path: string, stats: Stats, disk: Disk): never {
  if (!stats.isSymbolicLink()) throw invalid(path, 'is neither a file nor a folder')
  const target = relative(disk.root, join(disk.root, dirname(path), disk.targetOf(path)))
    .split(sep)
    .join('/')
  const leaves = target === '' || target === '..' || target.startsWith('../')
  throw invalid(
    path,
    leaves
      ? 'is a link that leads out of the root; links are not followed'
      : 'is a link; links are not followed',
    leaves ? undefined : target,
  )
}

function reading<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw diskProblem(error, 'read', path)
  }
}
