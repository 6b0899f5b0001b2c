import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isOver } from '../../contract/run-state.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'
import { findGoOn } from '../../workflow/run/find-go-on.ts'
import type { ShownRun } from './shown-run.ts'

/** Sums up one run. */
export async function showRecord(
  { run, config }: { readonly run: string; readonly config?: string },
  { cwd }: { readonly cwd: string },
): Promise<ShownRun> {
  const root = findRunsFolder(cwd, config)
  await recover(root)
  const light = existsSync(join(root, run))
    ? undefined
    : await (await import('../workflow/show-light.ts')).showLight(root, run)
  if (light) return light
  const { paths, request } = openRun(root, run)
  const summary = await readSummary(paths, request)
  const { parent, caller } = request
  const goOn = await findGoOn(paths, request, summary)
  return {
    ...summary,
    ...(request.command === 'workflow' && (await workflowFacts(paths, summary))),
    args: request.args,
    folder: paths.folder,
    ...(caller !== undefined && { caller }),
    ...(parent && { parent }),
    ...(goOn !== undefined && { go_on: goOn }),
  }
}

// What nobody performs at the moment may wait for an answer all the same.
async function workflowFacts(
  paths: RunPaths,
  { questions, state }: RunSummary,
): Promise<Pick<ShownRun, 'steps' | 'more_steps' | 'questions'>> {
  const { readWorkflowRun } = await import('../../workflow/run/read-workflow-run.ts')
  const { open, ...steps } = await readWorkflowRun(paths)
  return {
    ...steps,
    questions: isOver(state) ? open.filter(({ answered }) => answered !== true) : questions,
  }
}
