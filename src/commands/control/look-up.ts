import { isOver } from '../../contract/run-state.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { recover, recoverRun } from '../../runner/folder/recover.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'

/** A run that somebody wants to act on. */
export type FoundRun = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly summary: RunSummary
  /** Whether a runner has it; one that will try again has it although the last attempt is over. */ readonly live: boolean
}

/** Finds a run and where it stands. What nobody runs any more is finished first, also where its lock is gone. Throws like openRun. */
export async function lookUp(
  cwd: string,
  { run, config }: { readonly run: string; readonly config?: string },
): Promise<FoundRun> {
  const root = findRunsFolder(cwd, config)
  await recover(root)
  const { paths, request } = openRun(root, run)
  const summary = await readSummary(paths, request)
  const live = isLive(paths)
  if (live || isOver(summary.state)) return { paths, request, summary, live }
  await recoverRun(paths)
  return { paths, request, summary: await readSummary(paths, request), live: false }
}
