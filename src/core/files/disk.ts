/**
 * File operations below one root. No link is followed on the way, not even one that is created at
 * the last moment, as far as the system allows.
 */

import type { Stats } from 'node:fs'
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rm,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasErrorCode } from '../../util/files.ts'
import { NO_HARD_LINK_CODES } from '../../util/lock-file.ts'
import { host } from '../host.ts'
import type { FileTraits } from './tree.ts'
import { createConflictError } from './tree.ts'

/** Where tests break something on purpose: called before each change of the disk. */
export const diskFaults: { before?: ((change: string, path: string) => void) | undefined } = {}

// Linux opens a folder only to name it, also where nobody may list it.
const O_PATH = 0o10000000
const HAS_PROC_FD = host.platform === 'linux' && existsSync('/proc/self/fd')
const FOLDER_FLAGS = (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
const FILE_FLAGS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * What is done to files below one root, by paths relative to it. No link is followed on the way,
 * also one that is put there at the last moment, as far as the system can tell.
 */
export class Disk {
  /** Something was left behind that has to be taken back before anybody looks. */
  isHalfDone = true
  private readonly pinned = new Map<string, number>()

  constructor(readonly root: string) {}

  /** Undefined where nothing is. */
  look(path: string): Stats | undefined {
    try {
      return this.at(path, (place) => lstatSync(place, { throwIfNoEntry: false }))
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) return undefined
      throw error
    }
  }

  /** Names that are no UTF-8 are not found again, and have no stats. */
  list(folder: string): readonly (readonly [name: string, stats: Stats | undefined])[] {
    return this.inside(folder, (prefix) =>
      readdirSync(prefix).map(
        (name) => [name, lstatSync(`${prefix}/${name}`, { throwIfNoEntry: false })] as const,
      ),
    )
  }

  names(folder: string): readonly string[] {
    try {
      return this.inside(folder, (prefix) => readdirSync(prefix))
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) return []
      throw error
    }
  }

  targetOf(path: string): string {
    return this.at(path, (place) => readlinkSync(place))
  }

  read(path: string, offset: number, length: number): Uint8Array {
    return this.open(path, constants.O_RDONLY, (fd) => {
      const bytes = new Uint8Array(length)
      let used = 0
      while (used < length) {
        const count = readSync(fd, bytes, used, length - used, offset + used)
        if (count === 0) throw createConflictError(path)
        used += count
      }
      return bytes
    })
  }

  /** Tells whether the user of this process may write a file. */
  checkWritable(path: string): void {
    // A program that runs cannot be written to, but replaced.
    ignoreErrors(['ETXTBSY'], () => this.open(path, constants.O_WRONLY, () => undefined))
  }

  /**
   * Writes a new file, or behind the first `offset` bytes of one that is there, and nothing stays
   * behind that.
   */
  write(
    path: string,
    bytes: Uint8Array,
    { offset, flush = false }: { readonly offset?: number; readonly flush?: boolean } = {},
  ): void {
    diskFaults.before?.('write', path)
    const isNew = offset === undefined
    this.open(
      path,
      constants.O_WRONLY | (isNew ? constants.O_CREAT | constants.O_EXCL : 0),
      (fd) => {
        if (!isNew) ftruncateSync(fd, offset)
        for (let used = 0; used < bytes.length;)
          used += writeSync(fd, bytes, used, bytes.length - used, (offset ?? 0) + used)
        if (flush) fsyncSync(fd)
      },
      isNew,
    )
  }

  /** Makes a file exactly so long, and gives it the traits of the one it replaces. */
  finish(
    path: string,
    {
      size,
      traits,
      flush = false,
    }: {
      readonly size?: number
      readonly traits?: FileTraits | undefined
      readonly flush?: boolean
    },
  ): void {
    if (size === undefined && !traits && !flush) return
    diskFaults.before?.('finish', path)
    this.open(path, constants.O_WRONLY, (fd) => {
      const stats = fstatSync(fd)
      if (size !== undefined && stats.size !== size) ftruncateSync(fd, size)
      if (traits && (stats.uid !== traits.uid || stats.gid !== traits.gid))
        ignoreErrors(['EPERM'], () => fchownSync(fd, traits.uid, traits.gid))
      if (traits && (stats.mode & 0o777) !== traits.mode) fchmodSync(fd, traits.mode)
      if (flush) fsyncSync(fd)
    })
  }

  copy(from: string, to: string): void {
    diskFaults.before?.('copy', to)
    this.open(from, constants.O_RDONLY, (fd) =>
      this.at(to, (target) => {
        copyFileSync(
          HAS_PROC_FD ? `/proc/self/fd/${fd}` : join(this.root, from),
          target,
          constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE,
        )
        // The copy is still written to, whatever the rights of the original are.
        chmodSync(target, 0o600)
      }),
    )
  }

  move(from: string, to: string): void {
    diskFaults.before?.('move', to)
    this.at(from, (source) => this.at(to, (target) => renameSync(source, target)))
  }

  /** A second name of a file, or a copy where the file system has no such thing. */
  keep(path: string, slot: string): void {
    try {
      diskFaults.before?.('link', slot)
      this.at(path, (source) => this.at(slot, (target) => linkSync(source, target)))
    } catch (error) {
      if (!hasErrorCode(error, ...NO_HARD_LINK_CODES)) throw error
      this.copy(path, `${slot}.part`)
      const { mode, uid, gid } = this.look(path)!
      this.finish(`${slot}.part`, { traits: { mode: mode & 0o777, uid, gid } })
      this.move(`${slot}.part`, slot)
    }
  }

  makeFolder(path: string, mode = 0o777): void {
    diskFaults.before?.('mkdir', path)
    this.at(path, (place) => mkdirSync(place, { mode }))
  }

  /** Removes an empty folder. */
  removeFolder(path: string): void {
    diskFaults.before?.('rmdir', path)
    this.at(path, (place) => rmdirSync(place))
  }

  remove(path: string): void {
    diskFaults.before?.('unlink', path)
    this.at(path, (place) => unlinkSync(place))
  }

  removeAll(path: string): void {
    diskFaults.before?.('rm', path)
    this.at(path, (place) => {
      try {
        rmSync(place, { recursive: true, force: true })
      } catch {
        removeFolderByBytes(Buffer.from(place))
      }
    })
  }

  /** Removes a folder that holds files and nothing else, or tells that it holds more. */
  removeSmall(path: string): boolean {
    diskFaults.before?.('rm', path)
    const holdsMore = this.inside(path, (prefix) => {
      const entries = readdirSync(prefix, { withFileTypes: true })
      for (const entry of entries) if (!entry.isDirectory()) unlinkSync(`${prefix}/${entry.name}`)
      return entries.some((entry) => entry.isDirectory())
    })
    if (!holdsMore) this.at(path, (place) => rmdirSync(place))
    return !holdsMore
  }

  /** The same for many files, while others have their turn. */
  async removeSlowly(path: string): Promise<void> {
    const cut = path.lastIndexOf('/')
    const fd = HAS_PROC_FD ? this.openChecked(path.slice(0, cut), O_PATH) : undefined
    const place =
      fd === undefined ? join(this.root, path) : `/proc/self/fd/${fd}/${path.slice(cut + 1)}`
    try {
      await promisify(rm)(place, { recursive: true, force: true }).catch(() =>
        removeFolderByBytes(Buffer.from(place)),
      )
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
  }

  flushFolder(path: string): void {
    this.inside(
      path,
      (_prefix, fd) => {
        if (fd !== undefined) ignoreErrors(['EINVAL', 'EBADF'], () => fsyncSync(fd))
      },
      constants.O_RDONLY,
    )
  }

  /** Gives a name for a path that leads nowhere else while it is used. */
  at<Value>(path: string, act: (place: string) => Value): Value {
    const cut = path.lastIndexOf('/')
    return this.inside(cut === -1 ? '' : path.slice(0, cut), (prefix) =>
      act(`${prefix}/${path.slice(cut + 1)}`),
    )
  }

  /**
   * Keeps folders open that nobody moves, so that many steps in them cost less; gives what closes
   * them. Only whoever has the lock may do that.
   */
  pin(folders: readonly string[]): () => void {
    if (HAS_PROC_FD)
      for (const folder of folders) this.pinned.set(folder, this.openChecked(folder, O_PATH))
    return () => {
      for (const [folder, fd] of this.pinned) {
        this.pinned.delete(folder)
        closeSync(fd)
      }
    }
  }

  private inside<Value>(
    folder: string,
    act: (prefix: string, fd?: number) => Value,
    how = O_PATH,
  ): Value {
    const known = how === O_PATH ? this.pinned.get(folder) : undefined
    if (known !== undefined) return act(`/proc/self/fd/${known}`)
    if (!HAS_PROC_FD) {
      this.checkWay(folder)
      return act(join(this.root, folder))
    }
    const fd = this.openChecked(folder, how)
    try {
      return act(`/proc/self/fd/${fd}`, fd)
    } finally {
      closeSync(fd)
    }
  }

  private openChecked(folder: string, how: number): number {
    const expected = join(this.root, folder)
    const fd = openSync(expected, how | FOLDER_FLAGS)
    const found = readlinkSync(`/proc/self/fd/${fd}`)
    if (found === expected) return fd
    closeSync(fd)
    // Somebody may remove it at this very moment.
    if (found === `${expected} (deleted)`)
      throw Object.assign(new Error(`${expected} is gone`), { code: 'ENOENT' })
    throw Object.assign(new Error(`${expected} is behind a link`), { code: 'ELOOP' })
  }

  private checkWay(folder: string): void {
    let place = this.root
    for (const name of folder.split('/')) {
      place = join(place, name)
      if (!lstatSync(place).isDirectory())
        throw Object.assign(new Error(`${place} is no folder`), { code: 'ENOTDIR' })
    }
  }

  private open<Value>(path: string, how: number, act: (fd: number) => Value, isNew = false): Value {
    return this.at(path, (place) => {
      const fd = openSync(place, how | FILE_FLAGS, 0o666)
      try {
        if (!isNew && !fstatSync(fd).isFile()) throw createConflictError(path)
        return act(fd)
      } finally {
        closeSync(fd)
      }
    })
  }
}

/** Does something that may fail for some reasons. */
export function ignoreErrors(codes: readonly string[], act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!hasErrorCode(error, ...codes)) throw error
  }
}

const SLASH = Buffer.from('/')

/**
 * Removes a folder with all that is in it, also what has a name that is no UTF-8, which no text can
 * name.
 */
function removeFolderByBytes(folder: Buffer): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    const inside = Buffer.concat([folder, SLASH, entry.name])
    if (entry.isDirectory()) removeFolderByBytes(inside)
    else unlinkSync(inside)
  }
  rmdirSync(folder)
}
