/**
 * `toolable runs clean`.
 */

import type { ResultRenderer } from '../../cli/formats/envelope.ts'
import type { Reply } from '../../define/results.ts'
import { partial } from '../../define/results.ts'
import type { Context } from '../../protocol/context.ts'
import type { RunState } from '../../protocol/run-state.ts'
import { isFinished } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { ListedRun } from '../../runner/find-run.ts'
import { listRuns } from '../../runner/find-run.ts'
import { isRunLive } from '../../runner/lock.ts'
import { recoverRuns } from '../../runner/recover.ts'
import { removeRun, sweepRemovedRuns } from '../../runner/run-folder.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { readBriefSummary } from '../../runner/summary.ts'
import { pluralize } from '../../util/text.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../util/units.ts'

type CleanRunsInput = {
  readonly olderThan?: string
  readonly keep?: number
  readonly state?: readonly RunState[]
  readonly config?: string
}

/** What was removed, and how many runs are left. */
type CleanedRuns = { readonly removed: readonly string[]; readonly left: number }

/** A run that is over. */
type EndedRun = { readonly run: ListedRun; readonly state: RunState }

/** Removes runs that are over, or plans to. */
export async function cleanRuns(
  { olderThan, keep = 0, state, config }: CleanRunsInput,
  ctx: Context,
): Promise<CleanedRuns | Reply<CleanedRuns>> {
  const before = olderThan === undefined ? Infinity : Date.now() - parseAge(olderThan, 'olderThan')
  const root = findRunsFolder(ctx.cwd, config)
  await recoverRuns(root)
  const all = listRuns(root)
  const over = await findEndedRuns(all, before, state)
  const going = over.slice(keep)
  for (const { run, state: ended } of going) ctx.plan('remove', run.paths.folder, { state: ended })
  if (ctx.dryRun) return { removed: [], left: all.length }
  const { removed, errors } = await removeRuns(root, going, ctx.signal)
  const result = { removed, left: all.length - removed.length }
  return errors.length > 0 ? partial(result, errors, 'removed') : result
}

/** Those of some runs that are over since before a moment, in their order. */
export async function findEndedRuns(
  all: readonly ListedRun[],
  before: number,
  states?: readonly RunState[],
): Promise<readonly EndedRun[]> {
  const over: EndedRun[] = []
  for (const run of all) {
    if (isRunLive(run.paths)) continue
    const identity = { run_id: run.id, tool: '', created: '' }
    const { state, ended } = await readBriefSummary(run.paths, identity)
    const isOld = Math.max(run.created, Date.parse(ended ?? '') || 0) < before
    if (isFinished(state) && isOld && (states?.includes(state) ?? true)) over.push({ run, state })
  }
  return over
}

/** Removes runs one after the other; one that was resumed meanwhile stays, and is an error. */
export async function removeRuns(
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
  await sweepRemovedRuns(root)
  return { removed, errors }
}

/** What was removed, for a person. */
export const renderCleanResult: ResultRenderer = (result) => {
  if ('plan' in (result as object)) {
    const { plan } = result as { readonly plan: readonly { readonly target: string }[] }
    if (plan.length === 0) return 'nothing to remove\n'
    return plan.map(({ target }) => `would remove ${target}\n`).join('')
  }
  const { removed, left } = result as CleanedRuns
  return `${pluralize(removed.length, 'run')} removed, ${left} left\n`
}

const AGE_UNIT_MS = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS } as const

/** Milliseconds of an age as people write it: `30m`, `12h`, `7d`. Throws INVALID_INPUT. */
function parseAge(text: string, field: string): number {
  const match = /^(\d{1,6})([smhdw])$/.exec(text.trim())
  if (match) return Number(match[1]) * AGE_UNIT_MS[match[2] as keyof typeof AGE_UNIT_MS]
  throw new ToolError(
    'INVALID_INPUT',
    `'${text.slice(0, 100)}' is not an age: give a number with s, m, h, d or w`,
    { field, suggestion: '--older-than 7d' },
  )
}
