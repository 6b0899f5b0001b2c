import type { Context } from '../../contract/context.ts'
import { isOver } from '../../contract/run-state.ts'
import type { RunState } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { partial } from '../../define/results.ts'
import type { Reply } from '../../define/results.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import type { ListedRun } from '../../runner/folder/list-runs.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { recover } from '../../runner/folder/recover.ts'
import { removeRun, sweepRemoved } from '../../runner/folder/remove-run.ts'
import { glance } from '../../runner/summary/read-summary.ts'
import { readAge } from './age.ts'

type Input = {
  readonly olderThan?: string
  readonly keep?: number
  readonly state?: readonly RunState[]
  readonly config?: string
}

/** What was removed, and how many runs are left. */
export type Cleaned = { readonly removed: readonly string[]; readonly left: number }

/** A run that is over. */
export type EndedRun = { readonly run: ListedRun; readonly state: RunState }

/** Removes runs that are over, or plans to. */
export async function cleanRecords(
  { olderThan, keep = 0, state, config }: Input,
  ctx: Context,
): Promise<Cleaned | Reply<Cleaned>> {
  const before = olderThan === undefined ? Infinity : Date.now() - readAge(olderThan, 'olderThan')
  const root = findRunsFolder(ctx.cwd, config)
  await recover(root)
  const all = listRuns(root)
  const over = await findEnded(all, before, state)
  const going = over.slice(keep)
  for (const { run, state: ended } of going) ctx.plan('remove', run.paths.folder, { state: ended })
  if (ctx.dryRun) return { removed: [], left: all.length }
  const { removed, errors } = await removeAll(root, going, ctx.signal)
  const result = { removed, left: all.length - removed.length }
  return errors.length > 0 ? partial(result, errors, 'removed') : result
}

/** Those of some runs that are over since before a moment, in their order. */
export async function findEnded(
  all: readonly ListedRun[],
  before: number,
  states?: readonly RunState[],
): Promise<readonly EndedRun[]> {
  const over: EndedRun[] = []
  for (const run of all) {
    const seen = isLive(run.paths)
      ? undefined
      : await glance(run.paths, { run_id: run.id, tool: '', created: '' })
    if (
      seen &&
      isOver(seen.state) &&
      (states === undefined || states.includes(seen.state)) &&
      Math.max(run.created, Date.parse(seen.ended ?? '') || 0) < before
    )
      over.push({ run, state: seen.state })
  }
  return over
}

/** Removes runs one after the other; what somebody has taken up meanwhile stays, and is told. */
export async function removeAll(
  root: string,
  going: readonly EndedRun[],
  signal?: AbortSignal,
): Promise<{ readonly removed: readonly string[]; readonly errors: readonly ToolError[] }> {
  const removed: string[] = []
  const errors: ToolError[] = []
  for (const { run } of going) {
    signal?.throwIfAborted()
    try {
      await removeRun(run.paths)
      removed.push(run.id)
    } catch (error) {
      if (!ToolError.is(error)) throw error
      errors.push(error)
    }
  }
  await sweepRemoved(root)
  return { removed, errors }
}
