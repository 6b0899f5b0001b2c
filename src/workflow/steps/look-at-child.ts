import { existsSync } from 'node:fs'
import { isOver } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { recoverRun } from '../../runner/folder/recover.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import { startSummary } from '../../views/model/summary/summarize.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'

/** What the run of a step has come to. */
export type EndedChild = {
  readonly is: 'ended'
  readonly summary: RunSummary
  /** Whether its end is that of this try, and one that another attempt would not change. */
  readonly counts: boolean
  /** What the tool, or the runner, says about trying again. */
  readonly retryable: unknown
}

/** How the run of a step is found: `unfinished` is a folder that somebody is about to fill. */
export type Child = { readonly is: 'none' | 'unfinished' | 'live' } | EndedChild

// Nobody failed: the runner died, or nobody answered. What was cancelled is asked for again.
const AGAIN = ['E_INTERRUPTED', 'E_ANSWER_REQUIRED']

/** Looks at the run of a step; throws CONFLICT where it is that of another one. A run whose runner died is finished first, and what it left running is ended. */
export async function lookAtChild(
  paths: RunPaths,
  attempt: number,
  parent: RunRequest['parent'],
): Promise<Child> {
  if (!existsSync(paths.folder)) return { is: 'none' }
  if (!existsSync(paths.request)) return { is: 'unfinished' }
  const request = readRequest(paths)
  if (request.parent?.run_id !== parent?.run_id || request.parent?.step !== parent?.step)
    throw new ToolError('CONFLICT', `${paths.id} is the run of something else`, {
      suggestion: `toolable runs show ${paths.id}`,
    })
  if (isLive(paths)) return { is: 'live' }
  const child = await readChild(paths, request, attempt)
  if (isOver(child.summary.state)) return child
  try {
    await recoverRun(paths)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFLICT') return { is: 'live' }
    throw error
  }
  return readChild(paths, request, attempt)
}

async function readChild(
  paths: RunPaths,
  request: Parameters<typeof startSummary>[0],
  attempt: number,
): Promise<EndedChild> {
  const builder = startSummary(request)
  let tried: unknown
  let retryable: unknown
  for await (const events of readBatches(paths.events)) {
    for (const event of events) {
      builder.add(event)
      if (event.type === 'runner_start') [tried, retryable] = [event['workflow_attempt'], undefined]
      else if (event.type === 'error' || event.type === 'runner_error')
        retryable = event['retryable']
    }
  }
  const summary = builder.current()
  // An end that somebody else brought about, by hand, is that of the try that he went on with.
  const isThisTry = typeof tried !== 'number' || tried >= attempt
  const counts =
    summary.state === 'completed' ||
    (summary.state === 'failed' && isThisTry && !AGAIN.includes(summary.error?.code ?? ''))
  return { is: 'ended', summary, counts, retryable }
}
