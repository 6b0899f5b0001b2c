import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'

/** The command that goes on with a run that failed or was cancelled; undefined where none does: a workflow that came to its end is not resumed. */
export async function findGoOn(
  paths: RunPaths,
  { command }: Pick<RunRequest, 'command'>,
  { state, error }: Pick<RunSummary, 'state' | 'error'>,
): Promise<string | undefined> {
  if (state !== 'failed' && state !== 'cancelled') return undefined
  if (
    command === 'workflow' &&
    !(await (await import('./check-resumable.ts')).isResumable(paths, error?.code))
  )
    return undefined
  return `toolable resume ${paths.id}`
}
