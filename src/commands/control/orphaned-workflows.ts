/**
 * Workflows that no process performs: taking over one whose program died, and cancelling one so that
 * its compensations run.
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
import { compact } from '../../util/values.ts'
import { checkTools } from '../../workflow/definition/checks.ts'
import { formatProblem } from '../../workflow/definition/reader.ts'
import { adoptExecution } from '../../workflow/embedded/adopt.ts'
import { followExecutionRecords, requestCancel } from '../../workflow/embedded/find-executions.ts'
import { openJournal } from '../../workflow/embedded/journal.ts'
import { getInlinePaths } from '../../workflow/embedded/segment-files.ts'
import { findInlineRun } from '../../workflow/inline-run.ts'
import { findRecordedOutcome, JOURNAL_FILE_NAME } from '../../workflow/run-record.ts'
import type { CommandContext } from '../command.ts'
import { createRunOverError } from '../command.ts'
import { withRegistry } from '../config.ts'
import { withRunPerformer } from '../run/supervise.ts'

/** What `toolable cancel` asks of an execution. */
type CancelRequest = {
  readonly wait: boolean
  readonly reason: string | undefined
  readonly config: string | undefined
  /** Runs the compensations of one that no process has; default: this process does. */
  readonly compensate: CompensateRun | undefined
}
type CancelContext = CommandContext & { readonly signal: AbortSignal }
type CancelledRun = { readonly run_id: string; readonly state: RunState }

/**
 * Cancels an execution that has no folder: the process that has it is asked to. One that no process
 * has becomes a run here, which runs its compensations. Undefined where there is no such execution,
 * or it is a run.
 */
export async function cancelInlineExecution(
  root: string,
  id: string,
  request: CancelRequest,
  context: CancelContext,
): Promise<CancelledRun | undefined> {
  const paths = getInlinePaths(root)
  for (let asked = false; ; asked = true) {
    const found = await findInlineRun(root, id)
    if (!found) return undefined
    const { state, ended, error } = found.execution
    if (ended !== undefined && asked) return { run_id: id, state }
    if (ended !== undefined) throw createRunOverError(id, state)
    if (error) {
      const cancelled = await cancelOrphanedExecution(root, id, request, context)
      if (cancelled) return cancelled
      continue
    }
    const withdraw = requestCancel(paths, id, request.reason ?? 'cancelled by toolable cancel')
    if (!request.wait) return { run_id: id, state }
    const { signal } = context
    for await (const _ of followExecutionRecords(paths, found.listed, { follow: true, signal }));
    if (signal.aborted)
      throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
    // It may have ended by itself before the request was seen.
    withdraw()
  }
}

// Undefined where another process has taken it over meanwhile.
async function cancelOrphanedExecution(
  root: string,
  id: string,
  { reason, config, compensate }: CancelRequest,
  context: CancelContext,
): Promise<CancelledRun | undefined> {
  try {
    await adoptInlineExecution(root, id, config, context)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFLICT') return undefined
    throw error
  }
  const { paths, request } = openRun(root, id)
  await cancelOrphanedWorkflow(paths, request, reason, compensate ?? createCompensator(context))
  return { run_id: id, state: (await readRunSummary(paths, request)).state }
}

/** Performs the compensations of a cancelled workflow, which this process has claimed. */
export type CompensateRun = (paths: RunPaths, request: RunRequest) => Promise<unknown>

/** Performs them in this process, and waits for the end. */
export function createCompensator({
  env,
  signal,
}: Pick<CancelContext, 'env' | 'signal'>): CompensateRun {
  return (paths, request) =>
    withRunPerformer(request, paths, { env, now: Date.now }, (performer) =>
      performRun(paths, request, { env, channels: [], signal, resumedBy: 'resume', ...performer }),
    )
}

/**
 * Cancels a workflow that no process performs and that has not ended, so that its compensations run.
 * False where it has ended. Throws CONFLICT where another process resumes it.
 */
export async function cancelOrphanedWorkflow(
  paths: RunPaths,
  request: RunRequest,
  reason: string | undefined,
  compensate: CompensateRun,
): Promise<boolean> {
  const letGo = claimRun(paths)
  try {
    if (!(await recordCancel(paths, reason ?? 'cancelled'))) return (letGo(), false)
  } catch (error) {
    letGo()
    throw error
  }
  await rm(paths.cancel, { force: true })
  await compensate(paths, request)
  return true
}

async function recordCancel(paths: RunPaths, reason: string): Promise<boolean> {
  const journal = await openJournal(join(paths.folder, JOURNAL_FILE_NAME))
  try {
    // What never began has nothing to compensate.
    if (journal.records.length === 0 || findRecordedOutcome(journal.records, paths.id)) return false
    if (!journal.records.some(({ t }) => t === 'cancel'))
      journal.append({ t: 'cancel', w: paths.id, reason })
    await journal.synced()
    return true
  } finally {
    await journal.close()
  }
}

/**
 * Makes a run of an execution that another program has left. Throws PRECONDITION where this project
 * lacks tools that it needs: then it is left for that program.
 */
export async function adoptInlineExecution(
  root: string,
  id: string,
  config: string | undefined,
  { cwd, env }: CommandContext,
): Promise<void> {
  const surroundings = compact({ config })
  await withRegistry(surroundings, { cwd, env }, (registry) =>
    adoptExecution(root, id, { cwd, env, surroundings }, async ({ definition }) => {
      const [problem] = (await checkTools(definition, registry)).problems
      if (problem)
        throw new ToolError(
          'PRECONDITION',
          `it was begun by another program, with tools that are not there: ${formatProblem(problem)}`,
          { suggestion: 'Start that program again: it goes on with it' },
        )
    }),
  )
}
