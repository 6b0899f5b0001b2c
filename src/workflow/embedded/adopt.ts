/**
 * Adopts an inline execution whose process died, and continues it as a run.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../protocol/tool-error.ts'
import { claimRun } from '../../runner/lock.ts'
import { createRun } from '../../runner/run-folder.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { getRunPaths } from '../../runner/run-paths.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { WorkflowRequestOptions } from '../request.ts'
import { createWorkflowRequest } from '../request.ts'
import { JOURNAL_FILE_NAME } from '../run-record.ts'
import { openJournal } from './journal.ts'
import { getInlinePaths, getSegmentPaths } from './segment-files.ts'
import type { ExecutionRecords } from './segment-reader.ts'
import { groupByExecution, readExecutionIndex } from './segment-reader.ts'
import { isUnfinished, openSegment, throwNotTakeable } from './segments.ts'

/**
 * Turns an execution whose process is gone into a run that this process has claimed, with all of
 * its records. If `check` rejects, it stays as it was. Throws CONFLICT when another process has it,
 * NOT_FOUND.
 */
export async function adoptExecution(
  root: string,
  id: string,
  options: WorkflowRequestOptions,
  check: (adopted: AdoptedExecution) => Promise<void>,
): Promise<RunPaths> {
  const adopted = await adoptOrphan(root, id)
  try {
    await check(adopted)
    const request = {
      ...createWorkflowRequest(id, adopted.definition, adopted.begin.i as JsonObject, options),
      created: adopted.begin.at,
    }
    const paths = createOrClaimRun(root, request)
    await copyRecords(paths, adopted)
    await adopted.moved()
    return paths
  } catch (error) {
    await adopted.release().catch(() => undefined)
    throw error
  }
}

// An existing folder was created by a process that died while it adopted the execution: no process
// runs it before it has moved.
function createOrClaimRun(
  root: string,
  request: ReturnType<typeof createWorkflowRequest>,
): RunPaths {
  try {
    return createRun(root, request)
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'CONFLICT') throw error
    const paths = getRunPaths(root, request.run_id)
    claimRun(paths)
    rmSync(join(paths.folder, JOURNAL_FILE_NAME), { force: true })
    return paths
  }
}

async function copyRecords(
  { folder }: RunPaths,
  { begin, definition, records }: AdoptedExecution,
): Promise<void> {
  const journal = await openJournal(join(folder, JOURNAL_FILE_NAME))
  try {
    journal.append({ t: 'define', h: begin.h, d: definition })
    journal.append(begin)
    for (const record of records) journal.append(record)
    await journal.synced()
  } finally {
    await journal.close()
  }
}

/** An abandoned execution that this process has taken. */
type AdoptedExecution = ExecutionRecords & {
  /**
   * Records that it continues as a run, which must be on the disk already, and releases its
   * segment.
   */
  moved(): Promise<void>
  /** Gives it back as it was. */
  release(): Promise<void>
}

// Several processes may adopt executions of the same file, one after another.
const MAX_ADOPT_ATTEMPTS = 20
const ADOPT_RETRY_MS = 50

/**
 * Takes an execution whose process is gone, to turn it into a run. Throws CONFLICT, with the
 * process and its machine, when another one has it and when it is over; NOT_FOUND; CONFIG for a
 * damaged file.
 */
export async function adoptOrphan(
  root: string,
  id: string,
  now: () => number = Date.now,
): Promise<AdoptedExecution> {
  const paths = getInlinePaths(root)
  for (let tries = 1; ; tries += 1) {
    const listed = (await readExecutionIndex(paths)).get(id)
    if (!listed || listed.s !== undefined) return throwNotTakeable(paths, id)
    const segment = await openSegment(paths, listed.j, { read: true }).catch((error: unknown) => {
      if (ToolError.is(error) && error.code === 'CONFLICT' && tries < MAX_ADOPT_ATTEMPTS)
        return undefined
      throw ToolError.is(error) && error.code === 'CONFLICT'
        ? new ToolError(
            'CONFLICT',
            error.message.replace(listed.j, id),
            compact({ suggestion: error.suggestion, details: { ...error.details, run_id: id } }),
          )
        : error
    })
    if (!segment) {
      await sleep(ADOPT_RETRY_MS)
      continue
    }
    const one = groupByExecution(segment.records, getSegmentPaths(paths, listed.j).journal).get(id)
    if (!one || !isUnfinished(one)) {
      await segment.close()
      return throwNotTakeable(paths, id)
    }
    return {
      ...one,
      async moved() {
        const at = new Date(now()).toISOString()
        const position = segment.append({ t: 'moved', w: id, at })
        segment.note(position, one.begin, { s: 'moved', at })
        await segment.close()
      },
      release: () => segment.close(),
    }
  }
}
