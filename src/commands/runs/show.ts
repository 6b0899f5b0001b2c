import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import type { RunSummary } from '../../runner/summary/summary.ts'

/** A run with where it is and what was asked of it. */
export type ShownRun = RunSummary & { readonly args: readonly string[]; readonly folder: string }

/** Sums up one run. */
export async function showRecord({ run, config }: { readonly run: string; readonly config?: string }, { cwd }: { readonly cwd: string }): Promise<ShownRun> {
  const root = findRunsFolder(cwd, config)
  await recover(root)
  const { paths, request } = openRun(root, run)
  return { ...(await readSummary(paths, request)), args: request.args, folder: paths.folder }
}
