import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Servable } from '../../call/servable.ts'
import type { Command } from '../../surfaces/cli/argv/command.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { printHelp } from '../../surfaces/cli/print-help.ts'
import { chooseProgress } from '../progress/progress-flag.ts'
import { refuseDryResume } from '../run/consent.ts'
import { startDetachedRun } from '../run/detach.ts'
import { followInForeground } from '../run/foreground.ts'
import { readRunOptions } from '../run/request.ts'
import type { RunFlags } from '../run/request.ts'
import { readOwnFlags } from '../own-flags.ts'
import { withRegistryOf } from '../run/registry-of.ts'
import { claimToResume } from './claim-to-resume.ts'

/** Goes on with a run that failed or was cancelled; gives the exit status. */
export async function runResume(
  program: Servable,
  command: Command & { kind: 'tool' },
  io: Io,
  host: Host,
): Promise<number> {
  const { flags, name, rest, problem } = readOwnFlags<RunFlags & { readonly config?: string }>(
    command,
    io,
    { everywhere: true },
  )
  const { globals } = command
  if (globals.help) return printHelp(program, command, io)
  const wrong = command.problem ?? problem
  if (wrong) throw wrong
  if (name === undefined)
    throw new ToolError('MISSING_PARAM', 'run is missing', {
      field: 'run',
      suggestion: 'toolable resume latest',
    })
  if (rest.length > 0)
    throw new ToolError(
      'USAGE',
      `resume takes no more than the id of a run; got '${rest[0]!.slice(0, 60)}'`,
    )
  refuseDryResume('resume', globals.dryRun)
  return resumeRun(name, flags, globals, io, host)
}

/** Goes on with the run that a word means; gives the exit status. Throws CONFLICT where somebody else does, PRECONDITION where there is nothing to go on with. */
export async function resumeRun(
  run: string,
  flags: RunFlags & { readonly config?: string },
  globals: Command['globals'],
  io: Io,
  host: Host,
): Promise<number> {
  const progress = chooseProgress(flags.progress, globals, io)
  const { paths, request } = await claimToResume(run, readRunOptions(flags, globals, io.cwd), {
    cwd: io.cwd,
    config: flags.config,
  })
  if (flags.detach) return startDetachedRun(paths, request, io, host, globals, 'resume')
  return withRegistryOf(request, paths, io, (performer) =>
    followInForeground(
      paths,
      request,
      { ...performer, wait: flags.wait === true, progress, resumedBy: 'resume' },
      io,
      host,
      globals,
    ),
  )
}
