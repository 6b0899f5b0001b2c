import { ToolError } from '../../../contract/tool-error.ts'
import type { Settled } from '../part.ts'
import { CHANGES_FOLDER } from '../path.ts'
import { changedMeanwhile, diskProblem } from '../problems.ts'
import type { Node } from '../tree.ts'
import type { Work } from '../work.ts'
import { isSameSight, sightOf } from './base.ts'
import type { Seen } from './base.ts'
import type { Disk } from './disk.ts'
import { takeLock } from './lock.ts'
import { carryOut, makeFinal, takeBack } from './perform.ts'
import { makePlan } from './plan.ts'
import type { Plan } from './plan.ts'
import { removeStage, takeBackAll } from './recover.ts'
import type { Stage } from './stage.ts'

/** Makes the changes of a call in the root, all or none. Until it is ended nobody else commits, so that all of it can be taken back. */
export async function settle(
  disk: Disk,
  stage: Stage,
  { root, looked }: Work,
  seen: Seen,
  flush: boolean,
): Promise<Settled | undefined> {
  const { folder } = stage
  let release: (() => void) | undefined
  let plan: Plan | undefined
  let unpin: (() => void) | undefined
  const leave = (): Promise<void> => {
    release?.()
    return removeStage(disk, folder, unpin)
  }
  // The plan stays where it is: the next one to look at the folder goes on with it.
  const leaveBehind = (): void => {
    stage.leaveBehind()
    disk.isHalfDone = true
    unpin?.()
    release?.()
  }
  const undo = async (): Promise<void> => {
    try {
      if (plan) takeBack(disk, folder, plan)
    } catch (error) {
      leaveBehind()
      throw new ToolError(
        'INTERNAL',
        `changes could not be taken back: ${(error as Error).message}`,
        {
          cause: error,
          suggestion: `Mend what is wrong with ${disk.root}; the next call takes them back`,
          details: { folder: `${disk.root}/${folder}` },
        },
      )
    }
    await leave()
  }
  try {
    stage.make()
    release = await takeLock(disk)
    unpin = disk.pin(['', CHANGES_FOLDER, folder])
    takeBackAll(disk, folder)
    const made = makePlan(root, (path, wanted) => lookAgain(disk, seen, path, wanted))
    noteJoined(seen, looked)
    for (const [path, was] of seen.things)
      if (!isSameSight(was, sightOf(disk.look(path)))) throw changedMeanwhile(path)
    if (made.plan.take.length + made.plan.put.length === 0) {
      await leave()
      return undefined
    }
    plan = made.plan
    carryOut(disk, folder, plan, made.contents, flush)
  } catch (error) {
    await undo()
    throw diskProblem(error, 'change', CHANGES_FOLDER)
  }
  return {
    undo,
    async end() {
      try {
        makeFinal(disk, folder)
      } catch (error) {
        leaveBehind()
        throw diskProblem(error, 'keep the changes in', CHANGES_FOLDER)
      }
      await leave()
    },
  }
}

// What a call decided, it decided by what it saw: when that has changed, the decision is void.
function lookAgain(
  disk: Disk,
  seen: Seen,
  path: string,
  wanted: Node | null,
): 'file' | 'other' | 'join' | undefined {
  const stats = disk.look(path)
  // What was never looked at lay in a folder that was not there.
  const was = seen.things.get(path) ?? null
  if (
    was === null &&
    stats?.isDirectory() &&
    wanted?.kind === 'folder' &&
    wanted.origin === undefined
  ) {
    seen.joined.push(path)
    return 'join'
  }
  if (!isSameSight(was, sightOf(stats))) throw changedMeanwhile(path)
  const listed = wanted === null && stats?.isDirectory() ? seen.lists.get(path) : undefined
  if (listed && disk.names(path).toSorted().join('\0') !== listed.toSorted().join('\0'))
    throw changedMeanwhile(path)
  return stats && (stats.isFile() ? 'file' : 'other')
}

// What lies in a folder that was not there, the call found missing without looking at it. Whoever asked for the folder itself has decided by its absence.
function noteJoined({ joined, things }: Seen, looked: ReadonlySet<string>): void {
  for (const folder of joined) {
    if (!looked.has(folder)) things.delete(folder)
    for (const path of looked)
      if (path.startsWith(`${folder}/`) && !things.has(path)) things.set(path, null)
  }
}
