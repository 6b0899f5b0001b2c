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
 * Makes a run of an execution whose process is gone, claimed by this process, with everything that
 * is on record of it. `check` may refuse it, and then it stays as it was. Throws CONFLICT where
 * somebody else has it, NOT_FOUND.
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

// A folder that is there already was made by whoever died while he adopted it: nobody performs it
// before it has moved.
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

/**
 * An execution that nobody went on with, in our hands: nobody else takes it before it is given
 * back.
 */
type AdoptedExecution = ExecutionRecords & {
  /**
   * Notes that it goes on as a run of its own, which has to be on the disk already; and gives its
   * segment back.
   */
  moved(): Promise<void>
  /** Gives it back as it was. */
  release(): Promise<void>
}

// Others adopt what lies in the same file, one after the other.
const MAX_ADOPT_ATTEMPTS = 20
const ADOPT_RETRY_MS = 50

/**
 * Takes an execution whose process is gone, to make a run of it. Throws CONFLICT, with the process
 * and its place, where somebody has it, and where it is over; NOT_FOUND; CONFIG for a file that is
 * damaged.
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
