/**
 * Path operations that cannot be redirected by a symbolic link: containment checks, folders opened
 * step by step, copies that follow nothing.
 */

import { closeSync, constants, lstatSync, openSync } from 'node:fs'
import { lstat, mkdir, open, readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, resolveRealPath } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import { isLinux } from './host.ts'

/**
 * Whether a folder holds everything of a user, or of all of them: nothing that a program needs is
 * shown by showing it.
 */
export function containsHomeFolder(path: string): boolean {
  return (
    dirname(path) === '/home' ||
    [homedir(), '/home', '/root', '/tmp', '/var/tmp'].some((home) => isPathInside(path, home))
  )
}

/** Through these folders a tool would see or change the machine itself. */
export const KERNEL_PATHS = ['/proc', '/sys', '/dev']

/** True for a path in one of the `KERNEL_PATHS`. */
export function isKernelPath(path: string): boolean {
  return KERNEL_PATHS.some((folder) => isPathInside(folder, path))
}

/** Opens a folder as a mere location, which needs no right to read it. */
const O_PATH = 0o10000000

/**
 * Opens a folder below another one, and lets `make` make what is missing on the way. Each step
 * begins at the folder that was opened before it and follows no link, so that nobody who may write
 * there can lead it elsewhere. Linux only.
 */
export function openFolderChain(
  outer: string,
  path: string,
  make: (step: string, isLast: boolean) => void = () => undefined,
): number {
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const names = relative(outer, path)
    .split(sep)
    .filter((name) => name !== '')
  let folder = openSync(outer, flags)
  names.forEach((name, index) => {
    const above = folder
    const step = toDescriptorPath(above, name)
    try {
      if (!lstatSync(step, { throwIfNoEntry: false })) make(step, index === names.length - 1)
      folder = openSync(step, flags)
    } finally {
      closeSync(above)
    }
  })
  return folder
}

/** What lies in a folder that is open. */
export function toDescriptorPath(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`
}

/** A folder that stays the same whoever renames or exchanges what is above it. */
export type PinnedFolder = {
  /** Leads to it and nowhere else, as long as it is held. */
  readonly path: string
  /** What people call it. */
  readonly name: string
  release(): void
}

/**
 * Holds the folder at a path that had no links in it. Throws PERMISSION where one is there now, and
 * INVALID_PATH where the folder is gone.
 */
export function pinFolder(path: string): PinnedFolder {
  if (resolveRealPath(path) !== path) throw toPinError(path)
  if (!isLinux) return { path, name: path, release: () => undefined }
  try {
    const folder = openFolderChain('/', path)
    return { path: `/proc/self/fd/${folder}`, name: path, release: () => closeSync(folder) }
  } catch {
    throw toPinError(path)
  }
}

function toPinError(path: string): ToolError {
  const link = findLink(path)
  if (link === undefined)
    return new ToolError(
      'INVALID_PATH',
      `the folder ${path} is gone, which the output was meant for`,
      { suggestion: `mkdir -p ${path}` },
    )
  return new ToolError(
    'PERMISSION',
    `the output cannot be put into ${path}: ${link} is a link, and it was none when the tool was started`,
    { suggestion: `ls -ld ${link}` },
  )
}

// The outermost one.
function findLink(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : findLink(dirname(path))
  return above ?? (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? path : undefined)
}

const COPY_CHUNK_BYTES = MEBIBYTE

/**
 * Copies a file, or a folder with all files in it, to a place where nothing is yet. Links are never
 * followed and never copied: PERMISSION, as for everything that is neither file nor folder.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  const stats = await lstat(from)
  if (stats.isFile()) return copyFile(from, to, stats.mode & 0o777)
  if (!stats.isDirectory()) throw toNotPlainFileError(from, stats.isSymbolicLink())
  await mkdir(to)
  for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name))
}

/** Copies a file to a name that is not taken, and makes sure that it is on the disk. */
export async function copyFile(from: string, to: string, mode: number): Promise<void> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await source.stat()).isFile()) throw toNotPlainFileError(from, false)
    const target = await open(
      to,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      mode,
    )
    try {
      const buffer = Buffer.allocUnsafe(COPY_CHUNK_BYTES)
      for (
        let read = await source.read(buffer, 0, COPY_CHUNK_BYTES);
        read.bytesRead > 0;
        read = await source.read(buffer, 0, COPY_CHUNK_BYTES)
      )
        await writeAll(target, buffer.subarray(0, read.bytesRead))
      await target.chmod(mode)
      await target.sync()
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** What is said of a link, a socket or a device where a file should be. */
export function toNotPlainFileError(path: string, isLink: boolean): ToolError {
  return new ToolError(
    'PERMISSION',
    `${path} is ${isLink ? 'a link' : 'neither a file nor a folder'}, and only files and folders are copied`,
    { suggestion: 'Let the tool write files' },
  )
}

async function writeAll(target: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await target.write(bytes, at)).bytesWritten
}
