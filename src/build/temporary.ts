import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '../contract/tool-error.ts'

/** Does something in a folder of its own that is gone afterwards. Throws DISK_FULL, with the folder, where there is no room for it. */
export async function inTemporary<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-build-'))
  try {
    return await work(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new ToolError(
      'DISK_FULL',
      `no space is left in ${tmpdir()}, where a program lies while it is built`,
      { cause: error, suggestion: 'Make room, or name another folder in the variable TMPDIR' },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
