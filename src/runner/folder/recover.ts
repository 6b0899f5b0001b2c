import { existsSync } from 'node:fs'
import { isOver } from '../../contract/run-state.ts'
import { killTree } from '../../process/kill-tree.ts'
import { openLog } from '../log/event-log.ts'
import { listFolders } from './list-runs.ts'
import { isLive, lockRun, readLock } from './lock.ts'
import { readRequest } from './open-run.ts'
import { leftBehind } from './owner.ts'
import { runPaths } from './run-paths.ts'
import type { RunPaths } from './run-paths.ts'

/** A run whose runner had died, and the processes of it that still lived. */
export type RecoveredRun = { readonly run_id: string; readonly killed: number }

/** Finishes the records of runs whose runner is dead: what they left running is killed, and they have failed as INTERRUPTED. Never throws: a record that cannot be written stays as it is, for the next time. */
export async function recover(root: string): Promise<readonly RecoveredRun[]> {
  const recovered: RecoveredRun[] = []
  for (const id of listQuietly(root)) {
    const paths = runPaths(root, id)
    if (!existsSync(paths.lock) || isLive(paths)) continue
    const one = await recoverRun(paths).catch(() => undefined)
    if (one) recovered.push(one)
  }
  return recovered
}

/** Finishes one run whose runner is gone; undefined where it was over already. Throws CONFLICT where somebody has it, and what keeps its record from being written. */
export async function recoverRun(paths: RunPaths): Promise<RecoveredRun | undefined> {
  const left = readLock(paths)?.owner
  // From here on nobody else recovers it, and nobody resumes it.
  const lock = lockRun(paths)
  try {
    lock.remember(left?.children ?? [])
    const processes = left ? leftBehind(left) : []
    for (const { pid } of processes) killTree(pid)
    const { log, standing } = await openLog(paths.events, {
      runId: paths.id,
      traceId: traceOf(paths),
    })
    const wasOver = isOver(standing.state)
    if (!wasOver) {
      log.append({
        type: 'runner_error',
        code: 'E_INTERRUPTED',
        msg: 'the runner died during the run',
        ...(processes.length > 0 && { killed: processes.length }),
      })
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

function traceOf(paths: RunPaths): string | undefined {
  try {
    return readRequest(paths).trace_id
  } catch {
    return undefined
  }
}

function listQuietly(root: string): string[] {
  try {
    return listFolders(root)
  } catch {
    return []
  }
}
