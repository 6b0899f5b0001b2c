import type { Io } from '../../contract/io.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { handToSupervisor } from './hand-over.ts'

/** Hands a run to a process of its own, and says how to find it again. */
export async function startDetachedRun(
  paths: RunPaths,
  request: RunRequest,
  io: Io,
  { started }: Host,
  globals: Globals,
  resumedBy?: 'resume',
): Promise<number> {
  const pid = await handToSupervisor(
    paths,
    request,
    { started, cwd: io.cwd, env: io.env },
    resumedBy,
  )
  const { run_id } = request
  const answer = {
    run_id,
    folder: paths.folder,
    supervisor: pid,
    watch: `toolable watch ${run_id}`,
    cancel: `toolable cancel ${run_id}`,
  }
  const asText = choosePresentation(globals, io, findCaller(io.env)).mode === 'text'
  io.stdout.write(
    asText
      ? `${run_id} runs; toolable watch ${run_id} shows it, toolable cancel ${run_id} ends it\n`
      : `${JSON.stringify({ ok: true, status: 'success', result: answer, meta: { tool: 'toolable.run', run_id, duration_ms: 0 } })}\n`,
  )
  return 0
}
