import { chmodSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { diskProblem } from '../log/disk-problem.ts'
import { lockRun } from './lock.ts'
import type { RunPaths } from './run-paths.ts'

const REMOVED = '.removed-'

/** Removes a run with everything in its folder; links in it are removed, not followed. Throws CONFLICT while somebody runs it, PERMISSION or INTERNAL. */
export async function removeRun(paths: RunPaths): Promise<void> {
  const lock = lockRun(paths)
  const aside = join(paths.folder, '..', `${REMOVED}${paths.id}`)
  try {
    // Gone at once for everybody else, however long it takes.
    renameSync(paths.folder, aside)
  } catch (error) {
    lock.release()
    throw diskProblem(error, `cannot remove ${paths.folder}`)
  }
  await removeTree(aside)
}

/** Removes what a removal that was killed has left. */
export async function sweepRemoved(root: string): Promise<void> {
  for (const name of listNames(root))
    if (name.startsWith(REMOVED)) await removeTree(join(root, name)).catch(() => undefined)
}

async function removeTree(folder: string): Promise<void> {
  const { rm } = await import('node:fs/promises')
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    // Tools may leave folders that even their owner cannot open.
    openUp(folder)
    await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
      throw diskProblem(error, `cannot remove ${folder}`)
    })
  }
}

function openUp(folder: string): void {
  try {
    chmodSync(folder, 0o700)
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) openUp(join(folder, entry.name))
  } catch {
    /* the second attempt tells */
  }
}

function listNames(root: string): string[] {
  try {
    return readdirSync(root)
  } catch {
    return []
  }
}
