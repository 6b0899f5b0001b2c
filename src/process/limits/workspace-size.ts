import type { ProcessRow } from '../process-table.ts'

const MEBIBYTE = 1024 * 1024
/** Even an empty file takes that much of a disk. */
const SMALLEST = 4096
const BLOCK = 512
const DEEPEST = 128
const MOST_DESCRIPTORS = 4096

/**
 * Mebibytes that a folder takes on its disk, with files that are deleted but still held open by these processes. Stops counting at `enough`. What nobody can look
 * into, because it is hidden or lies too deep, counts as enough.
 */
export async function measureWorkspace(
  folder: string,
  rows: readonly ProcessRow[],
  enough: number,
): Promise<number> {
  const { lstat, opendir, readdir, stat } = await import('node:fs/promises')
  let size = 0
  const hide = (): void => {
    size += (enough + 1) * MEBIBYTE
  }
  const isEnough = (): boolean => size > enough * MEBIBYTE

  const count = async (path: string, depth: number): Promise<void> => {
    if (depth > DEEPEST) return hide()
    const entries = await opendir(path, { bufferSize: 256 }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EACCES' || error.code === 'ENAMETOOLONG') hide()
      },
    )
    if (!entries) return
    try {
      for await (const entry of entries) {
        if (isEnough()) return
        const found = await lstat(`${path}/${entry.name}`).catch(() => undefined)
        if (!found) continue
        size += Math.max(found.blocks * BLOCK, SMALLEST)
        if (found.isDirectory()) await count(`${path}/${entry.name}`, depth + 1)
      }
    } catch {
      // The folder went away under our eyes.
    }
  }
  await count(folder, 0)

  const device = (await stat(folder).catch(() => undefined))?.dev
  let looked = 0
  for (const { pid } of rows) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (isEnough() || (looked += 1) > MOST_DESCRIPTORS) return size / MEBIBYTE
      const held = await stat(`/proc/${pid}/fd/${descriptor}`).catch(() => undefined)
      if (held?.isFile() && held.nlink === 0 && held.dev === device) size += held.blocks * BLOCK
    }
  }
  return size / MEBIBYTE
}
