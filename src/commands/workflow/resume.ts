import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { glance } from '../../runner/summary/read-summary.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { findOrphans } from '../../workflow/engines/embedded/light/adopt-orphan.ts'
import { resumeRun } from '../control/resume.ts'
import { refuseDryResume } from '../run/consent.ts'
import type { RunFlags } from '../run/request.ts'
import { adoptHere } from './adopt-here.ts'

type Flags = RunFlags & { readonly run?: string; readonly config?: string }

/** Goes on with a workflow, or in the background with every one whose process died; gives the exit status. */
export async function resumeWorkflows(
  { run, ...flags }: Flags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  refuseDryResume('workflow resume', globals.dryRun)
  const root = findRunsFolder(io.cwd, flags.config)
  const orphans = new Set((await findOrphans(root)).map(({ w }) => w))
  const resume = async (id: string, how: RunFlags): Promise<number> => {
    if (orphans.has(id)) await adoptHere(root, id, flags, io)
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
      choosePresentation(globals, io, findCaller(io.env)).mode === 'text'
        ? 'no workflow was interrupted\n'
        : `${JSON.stringify({ ok: true, status: 'success', result: { resumed: [] }, meta: { tool: 'toolable.workflow_resume', duration_ms: 0 } })}\n`,
    )
  return status
}

async function findInterrupted(root: string): Promise<readonly string[]> {
  await recover(root)
  const found: string[] = []
  for (const { id, paths } of listRuns(root).reverse())
    if (await isInterrupted(paths)) found.push(id)
  return found
}

async function isInterrupted(paths: RunPaths): Promise<boolean> {
  if (isLive(paths)) return false
  try {
    const request = readRequest(paths)
    return (
      request.command === 'workflow' &&
      (await glance(paths, request)).error?.code === 'E_INTERRUPTED'
    )
  } catch {
    return false
  }
}
