/**
 * Creates and removes run folders.
 */

import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode, listNames } from '../util/files.ts'
import { writeFileAtomic } from '../util/lock-file.ts'
import { toDiskError } from './files.ts'
import { claimRun, lockRun } from './lock.ts'
import type { RunRequest } from './request.ts'
import type { RunPaths } from './run-paths.ts'
import { createRunId, getRunPaths, isRunId } from './run-paths.ts'

const MAX_ID_ATTEMPTS = 10

/**
 * Creates the folder of a new run with `run.json` in it, readable by its owner only and claimed by
 * this process. A function gets a new id, and is called again when that is taken. Throws CONFLICT
 * for an id that is taken, DISK_FULL, PERMISSION or INTERNAL, and leaves no folder then.
 */
export function createRun(
  root: string,
  request: RunRequest | ((runId: string) => RunRequest),
): RunPaths {
  try {
    ensureRunsFolder(root)
    for (let tries = 0; tries < MAX_ID_ATTEMPTS; tries += 1) {
      const made = typeof request === 'function' ? request(createRunId()) : request
      if (!isRunId(made.run_id))
        throw new ToolError('INTERNAL', `'${made.run_id}' cannot be the id of a run`)
      const paths = getRunPaths(root, made.run_id)
      if (createFolder(paths.folder)) return fillRunFolder(paths, made)
    }
  } catch (error) {
    throw toDiskError(error, `cannot create a run in ${root}`)
  }
  throw new ToolError('CONFLICT', `cannot create a run in ${root}: its id is taken`)
}

/**
 * Creates the folder of runs if it is missing, ignored by git. Not recursively: its parent exists,
 * and on some file systems node would retry forever.
 */
export function ensureRunsFolder(root: string): void {
  if (!createFolder(root)) return
  try {
    writeFileSync(join(root, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  }
}

function createFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false
    throw error
  }
}

// `run.json` is written last and atomically: a folder without it is no run.
function fillRunFolder(paths: RunPaths, request: RunRequest): RunPaths {
  try {
    claimRun(paths)
    const { workspace, toolLogs, logs, artifacts, answers } = paths
    for (const folder of [workspace, toolLogs, logs, artifacts, answers])
      mkdirSync(folder, { mode: 0o700 })
    // The tool, which may run as another user, reads it.
    mkdirSync(paths.control, { mode: 0o755 })
    writeFileAtomic(paths.request, `${JSON.stringify(request, undefined, 2)}\n`, { lasting: true })
    return paths
  } catch (error) {
    rmSync(paths.folder, { recursive: true, force: true })
    throw error
  }
}

const REMOVED_PREFIX = '.removed-'

/**
 * Removes a run with everything in its folder; links in it are removed, not followed. Throws
 * CONFLICT while the run is live, PERMISSION or INTERNAL.
 */
export async function removeRun(paths: RunPaths): Promise<void> {
  const lock = lockRun(paths)
  const aside = join(paths.folder, '..', `${REMOVED_PREFIX}${paths.id}`)
  try {
    // Other processes no longer see it, however long the removal takes.
    renameSync(paths.folder, aside)
  } catch (error) {
    lock.release()
    throw toDiskError(error, `cannot remove ${paths.folder}`)
  }
  await removeTree(aside)
}

/** Removes what an interrupted removal left behind. */
export async function sweepRemovedRuns(root: string): Promise<void> {
  for (const name of listNames(root))
    if (name.startsWith(REMOVED_PREFIX)) await removeTree(join(root, name)).catch(() => undefined)
}

async function removeTree(folder: string): Promise<void> {
  const { rm } = await import('node:fs/promises')
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    // Tools may leave folders that even their owner cannot open.
    makeRemovable(folder)
    await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
      throw toDiskError(error, `cannot remove ${folder}`)
    })
  }
}

function makeRemovable(folder: string): void {
  try {
    chmodSync(folder, 0o700)
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) makeRemovable(join(folder, entry.name))
  } catch {
    /* the second attempt reports it */
  }
}
