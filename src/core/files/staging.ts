/**
 * What one call has seen of a folder and the contents it has written so far, staged in
 * `.toolable-changes` until the commit.
 */

import type { Stats } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import { hasErrorCode } from '../../util/files.ts'
import { getProcessLocation } from '../../util/lock-file.ts'
import { shortHash } from '../../util/short-hash.ts'
import { host } from '../host.ts'
import type { Disk } from './disk.ts'
import { ignoreErrors } from './disk.ts'
import type { BlobStorage, FileBlob, TreeBase, TreeNode } from './tree.ts'
import {
  CHANGES_FOLDER,
  createInvalidPathError,
  EMPTY_FOLDER,
  isChangesFolder,
  toDiskError,
  withDiskErrors,
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
  const writeBlob = (write: (name: string) => void): FileBlob => {
    const id = blobs++
    const name = getBlobPath(folder, id)
    try {
      make()
      write(name)
    } catch (error) {
      // What was written of a content that has no room only takes the room away.
      ignoreErrors(['ENOENT', 'ENOTDIR'], () => disk.remove(name))
      throw toDiskError(error, 'keep a change in', CHANGES_FOLDER)
    }
    return { id }
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
      create: (bytes) => writeBlob((name) => disk.write(name, bytes)),
      copy(origin) {
        const blob = writeBlob((name) => disk.copy(origin, name))
        return { blob, size: disk.look(getBlobPath(folder, blob.id))!.size }
      },
      grow(blob, size, bytes) {
        withDiskErrors('keep a change in', CHANGES_FOLDER, () =>
          disk.write(getBlobPath(folder, blob.id), bytes, { offset: size }),
        )
        return blob
      },
      checkWritable: (origin) => withDiskErrors('write', origin, () => disk.checkWritable(origin)),
      // The disk says so itself when something is written.
      checkRoom: () => undefined,
      read(file, offset, length) {
        const path = file.blob ? getBlobPath(folder, file.blob.id) : file.origin
        return withDiskErrors('read', path, () => disk.read(path, offset, length))
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
    if (!hasErrorCode(error, 'EEXIST', 'ENOENT')) throw error
  }
}

function createStage(disk: Disk, folder: string): void {
  for (let tries = 1; ; tries += 1) {
    createChangesFolder(disk)
    try {
      return disk.makeFolder(folder, 0o700)
    } catch (error) {
      if (hasErrorCode(error, 'ENOTDIR', 'ELOOP'))
        throw new ToolError(
          'CONFIG',
          `'${CHANGES_FOLDER}' in ${disk.root} is no folder, and changes have to wait there`,
          {
            cause: error,
            suggestion: `Look at it, then remove it: rm '${disk.root}/${CHANGES_FOLDER}'`,
          },
        )
      if (!hasErrorCode(error, 'ENOENT') || tries >= MAX_STAGE_ATTEMPTS) throw error
    }
  }
}

/** How something looked when a call first saw it; null: nothing was there. */
type FileFingerprint = string | null

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
      const stats = withDiskErrors('read', path, () => disk.look(path))
      if (seen && !seen.things.has(path)) seen.things.set(path, toFingerprint(stats))
      if (!stats) return undefined
      return toNode(path, stats) ?? rejectEntry(path, stats, disk)
    },
    list(folder) {
      const nodes: (readonly [string, TreeNode])[] = []
      const others: string[] = []
      const found = withDiskErrors('read', folder || '.', () => disk.list(folder))
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
  const { dev, ino, size, mtimeMs } = stats
  return stats.isDirectory() ? `folder ${dev} ${ino}` : `other ${dev} ${ino} ${size} ${mtimeMs}`
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
