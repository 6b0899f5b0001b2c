/**
 * `toolable workflow resume`.
 */

import { choosePresentation } from '../../cli/presentation.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { listRuns, readRunRequest } from '../../runner/find-run.ts'
import { isRunLive } from '../../runner/lock.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { readBriefSummary } from '../../runner/summary.ts'
import { findOrphans } from '../../workflow/embedded/adopt.ts'
import { resumeRun } from '../control/resume.ts'
import { rejectDryResume } from '../run/consent.ts'
import type { RunFlags } from '../run/create-run.ts'
import { adoptInlineExecution } from './inline-executions.ts'

type ResumeWorkflowsFlags = RunFlags & { readonly run?: string; readonly config?: string }

/**
 * Goes on with a workflow, or in the background with every one whose process died; gives the exit
 * status.
 */
export async function resumeWorkflows(
  { run, ...flags }: ResumeWorkflowsFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  rejectDryResume('workflow resume', globals.dryRun)
  const root = findRunsFolder(io.cwd, flags.config)
  const orphans = new Set((await findOrphans(root)).map(({ w }) => w))
  const resume = async (id: string, how: RunFlags): Promise<number> => {
    if (orphans.has(id)) await adoptInlineExecution(root, id, flags, io)
    return resumeRun(id, { ...flags, ...how }, globals, io, host)
  }
  if (run !== undefined) return resume(run, flags)
  const ids = [...(await findInterrupted(root)), ...orphans]
  let status = 0
  for (const id of ids) {
    try {
      await resume(id, { detach: true })
    } catch (error) {
      // Somebody else was quicker, or its tools are not those of this project: the others go on.
      if (!ToolError.is(error)) throw error
      io.stderr.write(`${id}: ${error.message}\n`)
      status = 73
    }
  }
  if (ids.length === 0)
    io.stdout.write(
      choosePresentation(globals, io).mode === 'text'
        ? 'no workflow was interrupted\n'
        : `${JSON.stringify({ ok: true, status: 'success', result: { resumed: [] }, meta: { tool: 'toolable.workflow_resume', duration_ms: 0 } })}\n`,
    )
  return status
}

async function findInterrupted(root: string): Promise<readonly string[]> {
  await recoverRuns(root)
  const found: string[] = []
  for (const { id, paths } of listRuns(root).reverse())
    if (await isInterrupted(paths)) found.push(id)
  return found
}

async function isInterrupted(paths: RunPaths): Promise<boolean> {
  if (isRunLive(paths)) return false
  try {
    const request = readRunRequest(paths)
    return (
      request.command === 'workflow' &&
      (await readBriefSummary(paths, request)).error?.code === 'E_INTERRUPTED'
    )
  } catch {
    return false
  }
}
