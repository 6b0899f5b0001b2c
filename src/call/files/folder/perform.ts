import { diskProblem } from '../problems.ts'
import { ignoring } from './disk.ts'
import type { Disk } from './disk.ts'
import { isAmbiguous, writePlan } from './plan.ts'
import type { NewContent, Plan, Put, Take } from './plan.ts'
import { blobPath, slotPath } from './stage.ts'

/** The plan of a commit that is not ended: whoever finds one takes it back. */
export const PLAN = 'plan.json'
const ALL_TAKEN = 'all-taken'

/** Carries out a plan. Where it throws, some steps may have been made. */
export function carryOut(
  disk: Disk,
  folder: string,
  plan: Plan,
  contents: readonly NewContent[],
  flush: boolean,
): void {
  for (const { blob, size, traits } of contents)
    disk.finish(blobPath(folder, blob), { size, traits, flush })
  disk.write(`${folder}/${PLAN}`, Buffer.from(writePlan(plan)), { flush })
  if (flush) flushFolders(disk, [folder])
  for (const step of plan.take) doing('take', step.from, () => take(disk, folder, step))
  if (flush) flushFolders(disk, [folder, ...plan.take.map(({ from }) => parentOf(from))])
  if (isAmbiguous(plan)) disk.write(`${folder}/${ALL_TAKEN}`, new Uint8Array(), { flush })
  if (flush) flushFolders(disk, [folder])
  for (const step of plan.put) doing('put', step.to, () => put(disk, folder, step))
  if (flush) flushFolders(disk, [folder, ...plan.put.map(({ to }) => parentOf(to))])
}

/** Takes back all steps of a plan that were made, the last first. It can be cut off at any point and begun anew. */
export function takeBack(disk: Disk, folder: string, plan: Plan): void {
  const marked = isAmbiguous(plan)
  if (!marked || disk.look(`${folder}/${ALL_TAKEN}`)) {
    for (const step of plan.put.toReversed())
      doing('take back', step.to, () => takeOutAgain(disk, folder, step))
    // Before it is gone, an empty slot means that something was put in; afterwards, that nothing was taken out.
    if (marked) disk.remove(`${folder}/${ALL_TAKEN}`)
  }
  for (const step of plan.take.toReversed())
    doing('give back', step.from, () => giveBack(disk, folder, step))
  makeFinal(disk, folder)
}

/** Makes the changes stay: nobody takes them back any more. */
export function makeFinal(disk: Disk, folder: string): void {
  ignoring(['ENOENT'], () => disk.remove(`${folder}/${PLAN}`))
}

function take(disk: Disk, folder: string, { from, slot, keep }: Take): void {
  if (keep) disk.keep(from, slotPath(folder, slot))
  else disk.move(from, slotPath(folder, slot))
}

function put(disk: Disk, folder: string, step: Put): void {
  if ('folder' in step) disk.makeFolder(step.to)
  else disk.move(sourceOf(folder, step), step.to)
}

function takeOutAgain(disk: Disk, folder: string, step: Put): void {
  // Others may have put something of theirs into a folder of ours: it stays.
  if ('folder' in step)
    ignoring(['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'], () => disk.removeFolder(step.to))
  else if (!('replaces' in step) && !disk.look(sourceOf(folder, step)))
    ignoring(['ENOENT'], () => disk.move(step.to, sourceOf(folder, step)))
}

function giveBack(disk: Disk, folder: string, { from, slot }: Take): void {
  if (disk.look(slotPath(folder, slot))) disk.move(slotPath(folder, slot), from)
}

function sourceOf(folder: string, step: Exclude<Put, { folder: true }>): string {
  return 'slot' in step ? slotPath(folder, step.slot) : blobPath(folder, step.blob)
}

function flushFolders(disk: Disk, folders: readonly string[]): void {
  // A folder may itself have been taken out.
  for (const folder of new Set(folders))
    ignoring(['ENOENT', 'ENOTDIR'], () => disk.flushFolder(folder))
}

function parentOf(path: string): string {
  const cut = path.lastIndexOf('/')
  return cut === -1 ? '' : path.slice(0, cut)
}

function doing(what: string, path: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    throw diskProblem(error, what, path)
  }
}
