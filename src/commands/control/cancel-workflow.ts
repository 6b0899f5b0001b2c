/**
 * Cancels a workflow that no process performs, so that its compensations run.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunState } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { openRun } from '../../runner/find-run.ts'
import { claimRun } from '../../runner/lock.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { readRunSummary } from '../../runner/summary.ts'
import { followExecutionRecords, requestCancel } from '../../workflow/embedded/find-executions.ts'
import { openJournal } from '../../workflow/embedded/journal.ts'
import { getInlinePaths } from '../../workflow/embedded/segment-files.ts'
import { findInlineRun } from '../../workflow/inline-run.ts'
import { findRecordedOutcome, JOURNAL_FILE_NAME } from '../../workflow/run-record.ts'
import { withRunPerformer } from '../run/supervise.ts'
import { adoptInlineExecution } from '../workflow/inline-executions.ts'

type CancelInlineContext = {
  readonly cwd: string
  readonly signal: AbortSignal
  readonly env: { readonly [name: string]: string | undefined }
}
type CancelledRun = { readonly run_id: string; readonly state: RunState }

/**
 * Cancels an execution that has no folder of its own: the process that has it is asked to, and one
 * that nobody has becomes a run here, which takes back what was done. Undefined where there is
 * none, or it is a run of its own.
 */
export async function cancelInlineExecution(
  root: string,
  id: string,
  {
    wait,
    reason,
    config,
    takeBack,
  }: {
    readonly wait: boolean
    readonly reason?: string | undefined
    readonly config?: string | undefined
    readonly takeBack?: CompensateRun | undefined
  },
  where: CancelInlineContext,
): Promise<CancelledRun | undefined> {
  const paths = getInlinePaths(root)
  for (let asked = false; ; asked = true) {
    const found = await findInlineRun(root, id)
    if (!found) return undefined
    const {
      execution: { state, ended, error },
      listed,
    } = found
    if (ended !== undefined && asked) return { run_id: id, state }
    if (ended !== undefined)
      throw new ToolError('PRECONDITION', `${id} is over: it is ${state}`, {
        field: 'run',
        suggestion: `toolable runs show ${id}`,
      })
    if (error) {
      const cancelled = await cancelOrphanedExecution(
        root,
        id,
        { reason, config, takeBack: takeBack ?? createCompensator(where) },
        where,
      )
      if (cancelled) return cancelled
      continue
    }
    const withdraw = requestCancel(paths, id, reason ?? 'cancelled by toolable cancel')
    if (!wait) return { run_id: id, state }
    for await (const _ of followExecutionRecords(paths, listed, {
      follow: true,
      signal: where.signal,
    }));
    if (where.signal.aborted)
      throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
    // It may have ended by itself before the request was seen.
    withdraw()
  }
}

// Undefined where somebody has taken it up meanwhile.
async function cancelOrphanedExecution(
  root: string,
  id: string,
  {
    reason,
    config,
    takeBack,
  }: {
    readonly reason: string | undefined
    readonly config: string | undefined
    readonly takeBack: CompensateRun
  },
  { cwd, env }: CancelInlineContext,
): Promise<CancelledRun | undefined> {
  try {
    await adoptInlineExecution(root, id, config === undefined ? {} : { config }, { cwd, env })
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFLICT') return undefined
    throw error
  }
  const { paths, request } = openRun(root, id)
  await cancelOrphanedWorkflow(paths, request, reason, takeBack)
  return { run_id: id, state: (await readRunSummary(paths, request)).state }
}

/**
 * Goes on with a workflow that was told to take back what it did; it is claimed by this process.
 */
export type CompensateRun = (paths: RunPaths, request: RunRequest) => Promise<unknown>

/** Lets this process take it back, and waits for the end. */
export function createCompensator({
  env,
  signal,
}: {
  readonly env: { readonly [name: string]: string | undefined }
  readonly signal: AbortSignal
}): CompensateRun {
  return (paths, request) =>
    withRunPerformer(request, paths, { env, now: Date.now }, (performer) =>
      performRun(paths, request, { env, channels: [], signal, resumedBy: 'resume', ...performer }),
    )
}

/**
 * Cancels a workflow that nobody performs and that has not come to its end: what it did is taken
 * back. False where it has come to its end. Throws CONFLICT where somebody goes on with it.
 */
export async function cancelOrphanedWorkflow(
  paths: RunPaths,
  request: RunRequest,
  reason: string | undefined,
  takeBack: CompensateRun,
): Promise<boolean> {
  const letGo = claimRun(paths)
  try {
    if (!(await recordCancel(paths, reason ?? 'cancelled'))) return (letGo(), false)
  } catch (error) {
    letGo()
    throw error
  }
  await rm(paths.cancel, { force: true })
  await takeBack(paths, request)
  return true
}

async function recordCancel(paths: RunPaths, reason: string): Promise<boolean> {
  const journal = await openJournal(join(paths.folder, JOURNAL_FILE_NAME))
  try {
    // What never began has nothing to take back, and nothing to say.
    if (journal.records.length === 0 || findRecordedOutcome(journal.records, paths.id)) return false
    if (!journal.records.some(({ t }) => t === 'cancel'))
      journal.append({ t: 'cancel', w: paths.id, reason })
    await journal.synced()
    return true
  } finally {
    await journal.close()
  }
}
