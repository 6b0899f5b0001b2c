import { join } from 'node:path'
import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { startDetached } from '../../process/start-detached.ts'
import { handOver } from '../../runner/folder/lock.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { SUPERVISE } from './supervise-word.ts'

/** Hands a run to a process of its own, and says how to find it again. */
export async function startDetachedRun(paths: RunPaths, request: RunRequest, io: Io, { started }: Host, globals: Globals, resumedBy?: 'resume'): Promise<number> {
  if (Object.values(request.secrets ?? {}).includes('-')) throw new ToolError('USAGE', 'a detached run cannot read a secret from stdin', { field: 'secret-file', suggestion: 'Give the secret by a file' })
  const env = Object.fromEntries(Object.entries(io.env).filter((entry): entry is [string, string] => entry[1] !== undefined))
  const command = [started.execPath, ...started.execArgv, started.script ?? '', SUPERVISE, paths.folder, ...(resumedBy ? [resumedBy] : [])] as const
  const pid = await startDetached({ command, cwd: io.cwd, env }, join(paths.logs, 'runner.log'))
  if (pid instanceof Error) throw new ToolError('INTERNAL', `the supervisor could not be started: ${pid.message}`, { cause: pid })
  handOver(paths, pid)
  const { run_id } = request
  const answer = { run_id, folder: paths.folder, supervisor: pid, watch: `toolable watch ${run_id}`, cancel: `toolable cancel ${run_id}` }
  const asText = choosePresentation(globals, io, findCaller(io.env)).mode === 'text'
  io.stdout.write(asText ? `${run_id} runs; toolable watch ${run_id} shows it, toolable cancel ${run_id} ends it\n` : `${JSON.stringify({ ok: true, status: 'success', result: answer, meta: { tool: 'toolable.run', run_id, duration_ms: 0 } })}\n`)
  return 0
}
