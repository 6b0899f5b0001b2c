import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'

const CHUNK = 1024 * 1024

/** Copies a file, or a folder with all files in it, to a place where nothing is yet. Links are never followed and never copied: PERMISSION, as for everything that is neither file nor folder. */
export async function copyTree(from: string, to: string): Promise<void> {
  const stats = await lstat(from)
  if (stats.isFile()) return copyFile(from, to, stats.mode & 0o777)
  if (!stats.isDirectory()) throw notPlain(from, stats.isSymbolicLink())
  await mkdir(to)
  for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name))
}

/** Copies a file to a name that is not taken, and makes sure that it is on the disk. */
export async function copyFile(from: string, to: string, mode: number): Promise<void> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await source.stat()).isFile()) throw notPlain(from, false)
    const target = await open(
      to,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      mode,
    )
    try {
      const buffer = Buffer.allocUnsafe(CHUNK)
      for (
        let read = await source.read(buffer, 0, CHUNK);
        read.bytesRead > 0;
        read = await source.read(buffer, 0, CHUNK)
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
export function notPlain(path: string, isLink: boolean): ToolError {
  return new ToolError(
    'PERMISSION',
    `${path} is ${isLink ? 'a link' : 'neither a file nor a folder'}, and only files and folders are copied`,
    { suggestion: 'Let the tool write files' },
  )
}

async function writeAll(target: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await target.write(bytes, at)).bytesWritten
}
