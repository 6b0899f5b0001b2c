import { renameSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../contract/tool-error.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { runPaths } from '../../runner/folder/run-paths.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Settled } from '../engines/engine-type.ts'
import { childHost } from './child-host.ts'
import type { ChildStep } from './child-step.ts'
import { followChild } from './follow-child.ts'
import { lookAtChild } from './look-at-child.ts'
import { settleChild } from './settle-child.ts'
import { openTask } from './task.ts'
import type { Task } from './task.ts'

// Between the folder of a run and what makes it one there is a moment.
const LOOK_AGAIN_MS = 20
const MOST_LOOKS = 500
/** After so many, a folder that nobody holds is that of a process that died in this moment. */
const MOST_LOOKS_AT_NOBODY = 100

/** Performs the tool of a step as a run of its own, whose id follows from the step: an end of this very try that is on record already is taken, a run that somebody performs is followed to its end, and one whose runner died is performed again, in the same workspace. */
export async function performChild(step: ChildStep): Promise<Settled> {
  const { host, call, work, signal } = step
  const paths = runPaths(host.runsFolder, work.runId)
  const request = await work.request(paths)
  const task = openTask(host, call, paths.id)
  await task.submitted()
  let watched = false
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const child = await lookAtChild(paths, call.attempt, request.parent)
    if (child.is === 'unfinished') {
      if (looks >= MOST_LOOKS_AT_NOBODY && !isLive(paths)) clearAway(paths)
      await sleep(LOOK_AGAIN_MS)
    } else if (child.is === 'live') {
      await task.started()
      await followChild(paths, task, signal)
      watched = true
    } else if (child.is === 'ended' && (child.counts || watched))
      return task.done(settleChild.ended(child, paths.id, signal), child)
    else if (signal.aborted)
      return task.done({ ok: false, error: settleChild.aborted(signal, paths.id) })
    else watched = await begin(paths, request, child.is === 'none', step, task)
  }
  throw new ToolError(
    'CONFLICT',
    `the run ${paths.id} of the step '${call.step}' cannot be made: its folder is there, and holds no run`,
    { suggestion: `Look at ${paths.folder}` },
  )
}

// Of several who find it, one takes it out of the way.
function clearAway({ folder }: RunPaths): void {
  const aside = `${folder}.dead-${crypto.randomUUID()}`
  try {
    renameSync(folder, aside)
  } catch {
    return
  }
  rmSync(aside, { recursive: true, force: true })
}

// False where somebody else was quicker, whose run is looked at then.
async function begin(
  paths: RunPaths,
  request: RunRequest,
  isNew: boolean,
  { host, call, work, signal }: ChildStep,
  task: Task,
): Promise<boolean> {
  try {
    // The wish to end it belonged to an attempt before.
    if (isNew) createRun(host.runsFolder, request)
    else rmSync(paths.cancel, { force: true })
    await task.started()
    const start = work.start?.(paths, request)
    await performRun(paths, request, {
      ...childHost(host, call, paths, task, signal),
      ...(start && { start }),
    })
    return true
  } catch (error) {
    if (ToolError.is(error) && (error.code === 'CONFLICT' || error.code === 'PRECONDITION'))
      return false
    throw error
  }
}
