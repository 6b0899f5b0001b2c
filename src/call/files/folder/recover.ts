import { ToolError } from '../../../contract/tool-error.ts'
import { host } from '../../host.ts'
import { CHANGES_FOLDER } from '../path.ts'
import { ignoring } from './disk.ts'
import type { Disk } from './disk.ts'
import { LOCK, tryLock } from './lock.ts'
import { isGone } from './owner.ts'
import { PLAN, takeBack } from './perform.ts'
import { readPlan } from './plan.ts'

const LONGEST_SILENCE_MS = 24 * 3_600_000
const LONGEST_PLAN = 256 * 1024 * 1024

/** Takes back what processes left half done that died in the middle of a commit, and sweeps up after them. What living ones are at is left alone. */
export function recover(disk: Disk): void {
  if (
    disk
      .names(CHANGES_FOLDER)
      .some((name) => name === LOCK || disk.look(`${CHANGES_FOLDER}/${name}/${PLAN}`))
  ) {
    const { release } = tryLock(disk)
    // Whoever has the lock knows better: plans are only made and ended under it.
    if (!release) return
    try {
      takeBackAll(disk)
    } finally {
      release()
    }
  }
  sweep(disk)
}

/** Takes back every commit that was not ended, apart from one's own. The lock has to be ours. */
export function takeBackAll(disk: Disk, own?: string): void {
  for (const name of disk.names(CHANGES_FOLDER)) {
    const folder = `${CHANGES_FOLDER}/${name}`
    const stats = folder === own ? undefined : disk.look(`${folder}/${PLAN}`)
    if (!stats) continue
    const plan =
      stats.isFile() && stats.size <= LONGEST_PLAN
        ? readPlan(Buffer.from(disk.read(`${folder}/${PLAN}`, 0, stats.size)).toString())
        : undefined
    if (!plan)
      throw new ToolError(
        'CONFIG',
        `'${folder}/${PLAN}' is no record of changes that this program wrote`,
        { suggestion: `Look at it, then remove the folder: rm -r '${disk.root}/${folder}'` },
      )
    if (plan !== 'torn') takeBack(disk, folder, plan)
    disk.removeAll(folder)
  }
}

/** Removes the place of one call, and the place of all changes when nobody needs it. What is left is swept up by the next one. */
export async function removeStage(disk: Disk, folder: string, unpin?: () => void): Promise<void> {
  try {
    // Before anybody else has a turn, nearly always: there are a few files and nothing else.
    const isRemoved = disk.removeSmall(folder)
    unpin?.()
    if (!isRemoved) await disk.removeSlowly(folder)
    tidy(disk)
  } catch {
    // It holds nothing that anybody misses.
    unpin?.()
  }
}

// Removes the place of all changes when it is empty.
function tidy(disk: Disk): void {
  const names = disk.names(CHANGES_FOLDER)
  if (names.some((name) => name !== '.gitignore')) return
  for (const name of names) ignoring(['ENOENT'], () => disk.remove(`${CHANGES_FOLDER}/${name}`))
  ignoring(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => disk.removeFolder(CHANGES_FOLDER))
}

function sweep(disk: Disk): void {
  try {
    for (const name of disk.names(CHANGES_FOLDER)) {
      const stats = disk.look(`${CHANGES_FOLDER}/${name}`)
      if (stats && isLeftBehind(name, Date.now() - stats.mtimeMs))
        disk.removeAll(`${CHANGES_FOLDER}/${name}`)
    }
    tidy(disk)
  } catch {
    /* a folder that may only be read, or another sweeper: nothing depends on it */
  }
}

function isLeftBehind(name: string, silence: number): boolean {
  // Names that the lock is known by for a moment, while it is made or taken over.
  const passing = new RegExp(`^${LOCK}\\.(\\d+)-\\d+\\.(tmp|old)$`).exec(name)
  if (passing) return !host.isAlive(Number(passing[1])) || silence > LONGEST_SILENCE_MS
  return name !== LOCK && name !== '.gitignore' && isGone(name, silence, LONGEST_SILENCE_MS)
}
