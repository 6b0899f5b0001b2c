/**
 * Finishes the records of runs whose runner died: kills what they left running and records them as
 * failed with E_INTERRUPTED.
 */

import { existsSync } from 'node:fs'
import { killTree } from '../process/process-table.ts'
import { isFinished } from '../protocol/run-state.ts'
import { compact } from '../util/values.ts'
import { openEventLog } from './event-log.ts'
import { listRunIds, readRunRequest } from './find-run.ts'
import { isRunLive, listLiveChildren, lockRun, readRunLock } from './lock.ts'
import type { RunPaths } from './run-paths.ts'
import { getRunPaths } from './run-paths.ts'

/** A run whose runner had died, and the processes of it that still lived. */
export type RecoveredRun = { readonly run_id: string; readonly killed: number }

/**
 * Finishes the records of runs whose runner is dead: what they left running is killed, and they
 * have failed as INTERRUPTED. Never throws: a record that cannot be written stays as it is, for the
 * next time.
 */
export async function recoverRuns(root: string): Promise<readonly RecoveredRun[]> {
  const recovered: RecoveredRun[] = []
  for (const id of listRunIdsOrNone(root)) {
    const paths = getRunPaths(root, id)
    if (!existsSync(paths.lock) || isRunLive(paths)) continue
    const one = await recoverRun(paths).catch(() => undefined)
    if (one) recovered.push(one)
  }
  return recovered
}

/**
 * Finishes one run whose runner is gone; undefined where it was over already. Throws CONFLICT where
 * somebody has it, and what keeps its record from being written.
 */
export async function recoverRun(paths: RunPaths): Promise<RecoveredRun | undefined> {
  const left = readRunLock(paths)?.owner
  // From here on nobody else recovers it, and nobody resumes it.
  const lock = lockRun(paths)
  try {
    lock.setChildren(left?.children ?? [])
    const processes = left ? listLiveChildren(left) : []
    for (const { pid } of processes) killTree(pid)
    const { log, standing } = await openEventLog(paths.events, {
      runId: paths.id,
      traceId: readTraceId(paths),
    })
    const wasOver = isFinished(standing.state)
    if (!wasOver) {
      log.append(
        compact({
          type: 'runner_error',
          code: 'E_INTERRUPTED',
          msg: 'the runner died during the run',
          killed: processes.length > 0 ? processes.length : undefined,
        }),
      )
      log.append({ type: 'runner_end', state: 'failed', rc: 1, code: 'E_INTERRUPTED' })
    }
    await log.close()
    lock.release()
    return wasOver ? undefined : { run_id: paths.id, killed: processes.length }
  } catch (error) {
    lock.abandon()
    throw error
  }
}

function readTraceId(paths: RunPaths): string | undefined {
  try {
    return readRunRequest(paths).trace_id
  } catch {
    return undefined
  }
}

function listRunIdsOrNone(root: string): string[] {
  try {
    return listRunIds(root)
  } catch {
    return []
  }
}
