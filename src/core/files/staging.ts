/**
 * What one call has seen of a folder and the contents it has written so far, staged in
 * `.toolable-changes` until the commit.
 */

import type { Stats } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import { getProcessLocation } from '../../util/lock-file.ts'
import { shortHash } from '../../util/short-hash.ts'
import { host } from '../host.ts'
import type { Disk } from './disk.ts'
import { ignoreErrors } from './disk.ts'
import type { BlobStorage, TreeBase, TreeNode } from './tree.ts'
import {
  CHANGES_FOLDER,
  createInvalidPathError,
  EMPTY_FOLDER,
  isChangesFolder,
  toDiskError,
} from './tree.ts'

const MAX_STAGE_ATTEMPTS = 50

/** The private place of one call, where its contents wait. It is made when something is written. */
export type CallStage = {
  readonly folder: string
  /** Whether anything of it may be on the disk. */ readonly isTried: boolean
  readonly storage: BlobStorage
  /** Makes it, where nothing was written. */ make(): void
  /** Leaves it where it is: it holds what the next one needs. */ leaveBehind(): void
}

// Threads of one process have its number in common, and each counts for itself.
let stageCounter = Math.floor(Math.random() * 1e9)

/** Names a place for the changes of one call. */
export function openStage(disk: Disk): CallStage {
  const folder = `${CHANGES_FOLDER}/${getOwnerTag()}-${stageCounter++}`
  let [isTried, isMade] = [false, false]
  let blobs = 0
  const make = (): void => {
    if (isMade) return
    isTried = true
    createStage(disk, folder)
    isMade = true
  }
  // What was written of a content that has no room only takes the room away.
  const writing = (name: string, write: () => void): void => {
    try {
      make()
      write()
    } catch (error) {
      ignoreErrors(['ENOENT', 'ENOTDIR'], () => disk.remove(name))
      throw toDiskError(error, 'keep a change in', CHANGES_FOLDER)
    }
  }
  return {
    folder,
    get isTried() {
      return isTried
    },
    make,
    leaveBehind() {
      isTried = false
    },
    storage: {
      create(bytes) {
        const id = blobs++
        const name = getBlobPath(folder, id)
        writing(name, () => disk.write(name, bytes))
        return { id }
      },
      copy(origin) {
        const id = blobs++
        const name = getBlobPath(folder, id)
        writing(name, () => disk.copy(origin, name))
        return { blob: { id }, size: disk.look(name)!.size }
      },
      grow(blob, size, bytes) {
        try {
          disk.write(getBlobPath(folder, blob.id), bytes, { offset: size })
        } catch (error) {
          throw toDiskError(error, 'keep a change in', CHANGES_FOLDER)
        }
        return blob
      },
      checkWritable(origin) {
        try {
          disk.checkWritable(origin)
        } catch (error) {
          throw toDiskError(error, 'write', origin)
        }
      },
      // The disk says so itself when something is written.
      checkRoom: () => undefined,
      read(file, offset, length) {
        const path = file.blob ? getBlobPath(folder, file.blob.id) : file.origin
        try {
          return disk.read(path, offset, length)
        } catch (error) {
          throw toDiskError(error, 'read', path)
        }
      },
    },
  }
}

/** Where a content lies that a call wrote. */
export function getBlobPath(folder: string, id: number): string {
  return `${folder}/new-${id}`
}

/** Where something lies that was taken out of the root. */
export function getSlotPath(folder: string, slot: number): string {
  return `${folder}/old-${slot}`
}

/** Makes the place of all changes. */
function createChangesFolder(disk: Disk): void {
  try {
    disk.makeFolder(CHANGES_FOLDER)
    disk.write(`${CHANGES_FOLDER}/.gitignore`, Buffer.from('*\n'))
  } catch (error) {
    // Somebody else made it, or already took it away again.
    if (!['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function createStage(disk: Disk, folder: string): void {
  for (let tries = 1; ; tries += 1) {
    createChangesFolder(disk)
    try {
      return disk.makeFolder(folder, 0o700)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOTDIR' || code === 'ELOOP')
        throw new ToolError(
          'CONFIG',
          `'${CHANGES_FOLDER}' in ${disk.root} is no folder, and changes have to wait there`,
          {
            cause: error,
            suggestion: `Look at it, then remove it: rm '${disk.root}/${CHANGES_FOLDER}'`,
          },
        )
      if (code !== 'ENOENT' || tries >= MAX_STAGE_ATTEMPTS) throw error
    }
  }
}

/** How something looked when a call first saw it; null: nothing was there. */
type FileFingerprint = {
  readonly isFolder: boolean
  readonly device: number
  readonly inode: number
  readonly size: number
  readonly changed: number
} | null

/**
 * What a call has seen: single things when it first looked at them (what was changed since makes
 * its decisions void), and folders when it last listed them.
 */
export type SeenEntries = {
  readonly things: Map<string, FileFingerprint>
  readonly lists: Map<string, readonly string[]>
  /** Folders that others made meanwhile, like the call. */ readonly joined: string[]
}

/** The files of a folder as they are now. What is looked at is noted, for the commit to compare. */
export function openFolderBase(disk: Disk, seen: SeenEntries | undefined): TreeBase {
  return {
    look(path) {
      const stats = withReadErrors(path, () => disk.look(path))
      if (seen && !seen.things.has(path)) seen.things.set(path, toFingerprint(stats))
      if (!stats) return undefined
      return toNode(path, stats) ?? rejectEntry(path, stats, disk)
    },
    list(folder) {
      const nodes: (readonly [string, TreeNode])[] = []
      const others: string[] = []
      const found = withReadErrors(folder === '' ? '.' : folder, () => disk.list(folder))
      seen?.lists.set(
        folder,
        found.map(([name]) => name),
      )
      for (const [name, stats] of found) {
        if (folder === '' && isChangesFolder(name)) continue
        const node = stats && toNode(folder === '' ? name : `${folder}/${name}`, stats)
        if (node) nodes.push([name, node])
        else others.push(name)
      }
      return { nodes, others }
    },
  }
}

/**
 * What tells one state of a file or folder from another. Of folders only which one it is, because
 * what is put into one does not make it another.
 */
export function toFingerprint(stats: Stats | undefined): FileFingerprint {
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
export function isSameFingerprint(left: FileFingerprint, right: FileFingerprint): boolean {
  if (left === null || right === null) return left === right
  return (
    left.isFolder === right.isFolder &&
    left.device === right.device &&
    left.inode === right.inode &&
    left.size === right.size &&
    left.changed === right.changed
  )
}

function toNode(path: string, stats: Stats): TreeNode | undefined {
  if (stats.isDirectory()) return { ...EMPTY_FOLDER, origin: path }
  if (!stats.isFile()) return undefined
  return {
    kind: 'file',
    size: stats.size,
    origin: path,
    traits: { mode: stats.mode & 0o777, uid: stats.uid, gid: stats.gid },
  }
}

function rejectEntry(path: string, stats: Stats, disk: Disk): never {
  if (!stats.isSymbolicLink()) throw createInvalidPathError(path, 'is neither a file nor a folder')
  const target = relative(disk.root, join(disk.root, dirname(path), disk.targetOf(path)))
    .split(sep)
    .join('/')
  const leaves = target === '' || target === '..' || target.startsWith('../')
  throw createInvalidPathError(
    path,
    leaves
      ? 'is a link that leads out of the root; links are not followed'
      : 'is a link; links are not followed',
    leaves ? undefined : target,
  )
}

function withReadErrors<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw toDiskError(error, 'read', path)
  }
}

/** This process in one word: where its number means something, the number, and when it began. */
export function getOwnerTag(): string {
  return (ownTag ??= `${getLocationTag()}-${host.pid}-${host.startOf(host.pid) ?? '0'}`)
}

/**
 * Whether the process that a word names is gone. One on another machine or in another container
 * cannot be seen: it counts as gone after so long a silence.
 */
export function isOwnerGone(word: string, silence: number, longestSilence: number): boolean {
  const [machine, boot, space, pid, start] = word.split('-')
  const [ourMachine, ourBoot, ourSpace] = getLocationTag().split('-')
  if (machine !== ourMachine || !pid || !/^[1-9]\d*$/.test(pid)) return silence > longestSilence
  if (boot !== ourBoot) return true
  if (space !== ourSpace) return silence > longestSilence
  return !host.isAlive(Number(pid), start === '0' ? undefined : start)
}

let ownTag: string | undefined
let locationTag: string | undefined

function getLocationTag(): string {
  if (locationTag === undefined) {
    const { machine, boot, namespace } = getProcessLocation()
    locationTag = [machine, boot, namespace].map(shortHash).join('-')
  }
  return locationTag
}
