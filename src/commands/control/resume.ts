/**
 * `toolable resume` and `toolable workflow resume`: another attempt of runs that are over, and of
 * workflows whose process died.
 */

import type { BuiltinContext } from '../../cli/types.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { listRuns, readRunRequest } from '../../runner/find-run.ts'
import { isRunLive } from '../../runner/lock.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { readBriefSummary } from '../../runner/summary.ts'
import { findOrphans } from '../../workflow/embedded/find-executions.ts'
import { readNamedCommandLine } from '../call.ts'
import type { ToolInvocation } from '../command.ts'
import { chooseProgress, printResult } from '../command.ts'
import { rejectDryResume } from '../run/consent.ts'
import type { RunFlags } from '../run/create-run.ts'
import { detachRun, parseRunOptions } from '../run/create-run.ts'
import { runInForeground } from '../run/foreground.ts'
import { withRunPerformer } from '../run/supervise.ts'
import { claimForResume } from './control-run.ts'
import { adoptInlineExecution } from './orphaned-workflows.ts'

type ResumeFlags = RunFlags & { readonly config?: string }

/** Resumes a run that failed or was cancelled; gives the exit status. */
export async function runResume(command: ToolInvocation, context: BuiltinContext): Promise<number> {
  const line = await readNamedCommandLine<ResumeFlags>(
    command,
    context,
    () =>
      new ToolError('MISSING_PARAM', 'run is missing', {
        field: 'run',
        suggestion: 'toolable resume latest',
      }),
    { everywhere: true },
  )
  if (!line) return 0
  const { flags, name, rest } = line
  if (rest.length > 0)
    throw new ToolError(
      'USAGE',
      `resume takes no more than the id of a run; got '${rest[0]!.slice(0, 60)}'`,
    )
  rejectDryResume('resume', context.globals.dryRun)
  return resumeRun(name, flags, context)
}

/**
 * Resumes the run that a word means; gives the exit status. Throws CONFLICT where another process
 * does, PRECONDITION where there is nothing to resume.
 */
export async function resumeRun(
  run: string,
  flags: ResumeFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, globals } = context
  const progress = chooseProgress(flags.progress, context)
  const options = parseRunOptions(flags, globals, io.cwd)
  const { config } = flags
  const { paths, request } = await claimForResume(run, options, { cwd: io.cwd, config })
  if (flags.detach) return detachRun(paths, request, context, 'resume')
  const wait = flags.wait === true
  return withRunPerformer(request, paths, io, (performer) =>
    runInForeground(paths, request, { ...performer, wait, progress, resumedBy: 'resume' }, context),
  )
}

/**
 * Resumes a workflow, or in the background every one whose process died; gives the exit status.
 */
export async function resumeWorkflows(
  { run, ...flags }: ResumeFlags & { readonly run?: string },
  context: BuiltinContext,
): Promise<number> {
  const { io, globals } = context
  rejectDryResume('workflow resume', globals.dryRun)
  const root = findRunsFolder(io.cwd, flags.config)
  const orphans = new Set((await findOrphans(root)).map(({ w }) => w))
  const resume = async (id: string, how: RunFlags): Promise<number> => {
    if (orphans.has(id)) await adoptInlineExecution(root, id, flags.config, io)
    return resumeRun(id, { ...flags, ...how }, context)
  }
  if (run !== undefined) return resume(run, flags)
  const ids = [...(await findInterrupted(root)), ...orphans]
  let status = 0
  for (const id of ids) {
    try {
      await resume(id, { detach: true })
    } catch (error) {
      // Another process was quicker, or its tools are not those of this project: the others go on.
      if (!ToolError.is(error)) throw error
      io.stderr.write(`${id}: ${error.message}\n`)
      status = 73
    }
  }
  const meta = { tool: 'toolable.workflow_resume', duration_ms: 0 }
  if (ids.length === 0) printResult(context, 'no workflow was interrupted', { resumed: [] }, meta)
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
