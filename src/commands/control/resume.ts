import { rm } from 'node:fs/promises'
import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Servable } from '../../call/servable.ts'
import { claim } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Command } from '../../surfaces/cli/argv/command.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { printHelp } from '../../surfaces/cli/print-help.ts'
import { chooseProgress } from '../progress/progress-flag.ts'
import { startDetachedRun } from '../run/detach.ts'
import { followInForeground } from '../run/foreground.ts'
import { readRunOptions } from '../run/request.ts'
import type { RunFlags } from '../run/request.ts'
import { readOwnFlags } from '../own-flags.ts'
import { writeAtomically } from '../../runner/folder/write-atomically.ts'
import { withRegistryOf } from '../run/registry-of.ts'
import { lookUp } from './look-up.ts'

/** Goes on with a run that failed or was cancelled; gives the exit status. */
export async function runResume(program: Servable, command: Command & { kind: 'tool' }, io: Io, host: Host): Promise<number> {
  const { flags, name, rest, problem } = readOwnFlags<RunFlags & { readonly config?: string }>(command, io, { everywhere: true })
  const { globals } = command
  if (globals.help) return printHelp(program, command, io)
  const wrong = command.problem ?? problem
  if (wrong) throw wrong
  if (name === undefined) throw new ToolError('MISSING_PARAM', 'run is missing', { field: 'run', suggestion: 'toolable resume latest' })
  if (rest.length > 0) throw new ToolError('USAGE', `resume takes no more than the id of a run; got '${rest[0]!.slice(0, 60)}'`)
  return resumeRun(name, flags, globals, io, host)
}

/** Goes on with the run that a word means; gives the exit status. Throws CONFLICT where somebody else does, PRECONDITION where there is nothing to go on with. */
export async function resumeRun(run: string, flags: RunFlags & { readonly config?: string }, globals: Command['globals'], io: Io, host: Host): Promise<number> {
  const progress = chooseProgress(flags.progress, globals, io)
  const { paths } = await lookUp(io.cwd, { run, ...(flags.config !== undefined && { config: flags.config }) })
  const { timeout, heartbeatGrace, retries, allowLevel, answers, secrets } = readRunOptions(flags, globals, io.cwd)
  // Ours before anything is changed: of two who resume it one gets it, and the other changes nothing.
  const letGo = claim(paths)
  const request = readRequest(paths)
  try {
    await checkUnfinished(paths, request)
  } catch (error) {
    letGo()
    throw error
  }
  const changed: RunRequest = {
    ...request,
    ...(timeout !== undefined && { timeout_s: timeout }),
    ...(heartbeatGrace !== undefined && { heartbeat_grace_s: heartbeatGrace }),
    ...(retries !== undefined && { retries }),
    ...(allowLevel && { allow_level: allowLevel }),
    ...(secrets && { secrets: { ...request.secrets, ...secrets } }),
    ...(answers && { answers: { ...request.answers, ...answers } }),
  }
  writeAtomically(paths.request, `${JSON.stringify(changed, undefined, 2)}\n`)
  // The wish to end it belonged to the attempt before.
  await rm(paths.cancel, { force: true })
  if (flags.detach) return startDetachedRun(paths, changed, io, host, globals, 'resume')
  return withRegistryOf(changed, paths, io, (performer) => followInForeground(paths, changed, { ...performer, wait: flags.wait === true, progress, resumedBy: 'resume' }, io, host, globals))
}

async function checkUnfinished(paths: RunPaths, request: RunRequest): Promise<void> {
  const { state, error } = await readSummary(paths, request)
  if (state === 'completed') throw new ToolError('PRECONDITION', `${paths.id} is completed: there is nothing to resume`, { suggestion: `toolable runs show ${paths.id}` })
  if (request.command === 'workflow') await (await import('../../workflow/run/check-resumable.ts')).checkResumable(paths, { state, code: error?.code })
}
