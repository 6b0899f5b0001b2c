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

/** True for a folder that contains a home or temporary folder, which no program needs as a whole. */
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
 * Opens a folder below another one; `make` creates missing folders. Each step starts at the folder
 * opened before and follows no link, so that other writers cannot redirect it. Linux only.
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

/** The path of an entry of an open folder. */
export function toDescriptorPath(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`
}

/** A folder that stays the same when folders above it are renamed or replaced. */
export type PinnedFolder = {
  /** Leads to this very folder until it is released. */
  readonly path: string
  /** The path that the caller knows. */
  readonly name: string
  release(): void
}

/** Pins the folder at a path without links. Throws PERMISSION for a link, INVALID_PATH when it is gone. */
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

// Finds the outermost link.
function findLink(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : findLink(dirname(path))
  return above ?? (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? path : undefined)
}

const COPY_CHUNK_BYTES = MEBIBYTE

/**
 * Copies a file, or a folder with all files in it, to a path that does not exist yet. Throws
 * PERMISSION for links and for everything that is neither file nor folder.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  const stats = await lstat(from)
  if (stats.isFile()) return copyFile(from, to, stats.mode & 0o777)
  if (!stats.isDirectory()) throw toNotPlainFileError(from, stats.isSymbolicLink())
  await mkdir(to)
  for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name))
}

/** Copies a file to a path that does not exist yet, and syncs it. */
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
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, COPY_CHUNK_BYTES)
        if (bytesRead === 0) break
        for (let at = 0; at < bytesRead;)
          at += (await target.write(buffer, at, bytesRead - at)).bytesWritten
      }
      await target.chmod(mode)
      await target.sync()
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** The error for a link, a socket or a device where a file is expected. */
export function toNotPlainFileError(path: string, isLink: boolean): ToolError {
  return new ToolError(
    'PERMISSION',
    `${path} is ${isLink ? 'a link' : 'neither a file nor a folder'}, and only files and folders are copied`,
    { suggestion: 'Let the tool write files' },
  )
}
