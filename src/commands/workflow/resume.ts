import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { recover } from '../../runner/folder/recover.ts'
import { glance } from '../../runner/summary/read-summary.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { resumeRun } from '../control/resume.ts'
import type { RunFlags } from '../run/request.ts'

type Flags = RunFlags & { readonly run?: string; readonly config?: string }

/** Goes on with a workflow, or in the background with every one whose process died; gives the exit status. */
export async function resumeWorkflows({ run, ...flags }: Flags, { io, host, globals }: BuiltinContext): Promise<number> {
  if (run !== undefined) return resumeRun(run, flags, globals, io, host)
  const ids = await findInterrupted(io, flags.config)
  let status = 0
  for (const id of ids) {
    try {
      await resumeRun(id, { ...flags, detach: true }, globals, io, host)
    } catch (error) {
      // Somebody else was quicker.
      if (!ToolError.is(error) || error.code !== 'CONFLICT') throw error
      io.stderr.write(`${error.message}\n`)
      status = 73
    }
  }
  if (ids.length === 0) io.stdout.write(io.stdout.isTTY && globals.output === undefined ? 'no workflow was interrupted\n' : `${JSON.stringify({ ok: true, status: 'success', result: { resumed: [] }, meta: { tool: 'toolable.workflow_resume', duration_ms: 0 } })}\n`)
  return status
}

async function findInterrupted({ cwd }: Io, config: string | undefined): Promise<readonly string[]> {
  const root = findRunsFolder(cwd, config)
  await recover(root)
  const found: string[] = []
  for (const { id, paths } of listRuns(root).reverse()) if (await isInterrupted(paths)) found.push(id)
  return found
}

async function isInterrupted(paths: RunPaths): Promise<boolean> {
  if (isLive(paths)) return false
  try {
    const request = readRequest(paths)
    return request.command === 'workflow' && (await glance(paths, request)).error?.code === 'E_INTERRUPTED'
  } catch {
    return false
  }
}
