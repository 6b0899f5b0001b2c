/**
 * `toolable resume`, and joining an earlier run with the same idempotency key.
 */

import type { ParsedCommand } from '../../cli/command.ts'
import { printHelp } from '../../cli/documents.ts'
import { choosePresentation } from '../../cli/presentation.ts'
import type { CommandHost } from '../../cli/types.ts'
import type { Servable } from '../../core/provider.ts'
import type { GlobalFlags } from '../../define/global-flags.ts'
import type { Io } from '../../protocol/io.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isRunLive } from '../../runner/lock.ts'
import { followLines } from '../../runner/log-reader.ts'
import { getExitStatus, readRunSummary } from '../../runner/summary.ts'
import type { ProgressStyle } from '../command.ts'
import { chooseProgress } from '../command.ts'
import { rejectDryResume } from '../run/consent.ts'
import type { RunFlags, RunForKey } from '../run/create-run.ts'
import { detachRun, parseRunOptions } from '../run/create-run.ts'
import { openRunView, runInForeground } from '../run/foreground.ts'
import { withRunPerformer } from '../run/supervise.ts'
import { readOwnFlags } from '../tool-arguments.ts'
import { claimForResume } from './control-run.ts'

/** Goes on with a run that failed or was cancelled; gives the exit status. */
export async function runResumeCommand(
  program: Servable,
  command: ParsedCommand & { kind: 'tool' },
  io: Io,
  host: CommandHost,
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
  rejectDryResume('resume', globals.dryRun)
  return resumeRun(name, flags, globals, io, host)
}

/**
 * Goes on with the run that a word means; gives the exit status. Throws CONFLICT where somebody
 * else does, PRECONDITION where there is nothing to go on with.
 */
export async function resumeRun(
  run: string,
  flags: RunFlags & { readonly config?: string },
  globals: ParsedCommand['globals'],
  io: Io,
  host: CommandHost,
): Promise<number> {
  const progress = chooseProgress(flags.progress, globals, io)
  const { paths, request } = await claimForResume(run, parseRunOptions(flags, globals, io.cwd), {
    cwd: io.cwd,
    config: flags.config,
  })
  if (flags.detach) return detachRun(paths, request, io, host, globals, 'resume')
  return withRunPerformer(request, paths, io, (performer) =>
    runInForeground(
      paths,
      request,
      { ...performer, wait: flags.wait === true, progress, resumedBy: 'resume' },
      io,
      host,
      globals,
    ),
  )
}

/**
 * Answers from a run that was asked for before under the same key: its record from the beginning,
 * until it is over; a workflow that was left goes on. Gives the exit status.
 */
export async function joinEarlierRun(
  { is, paths, request }: RunForKey,
  {
    flags,
    progress,
  }: { readonly flags: RunFlags & { readonly config?: string }; readonly progress: ProgressStyle },
  io: Io,
  host: CommandHost,
  globals: GlobalFlags,
): Promise<number> {
  const note =
    is === 'left'
      ? `${paths.id} was begun with the same idempotency key, and goes on`
      : `answered from an earlier run with the same idempotency key: ${paths.id}`
  if (!globals.quiet) io.stderr.write(`${note}\n`)
  if (is === 'left') return resumeRun(paths.id, flags, globals, io, host)
  if (flags.detach) return printRunLocation({ is, paths, request }, note, io, globals)
  const view = await openRunView(
    { paths, request, io, globals, person: false, resumed: false },
    { progress, bare: false },
  )
  try {
    for await (const lines of followLines(paths.events, {
      follow: true,
      isComplete: () => !isRunLive(paths),
      signal: host.signal,
    }))
      await view.show(`${lines.join('\n')}\n`)
    await view.sumUp()
    return getExitStatus(await readRunSummary(paths, request))
  } finally {
    await view.close()
  }
}

function printRunLocation(
  { paths: { id, folder } }: RunForKey,
  note: string,
  io: Io,
  globals: GlobalFlags,
): number {
  const result = {
    run_id: id,
    folder,
    watch: `toolable watch ${id}`,
    cancel: `toolable cancel ${id}`,
  }
  const asText = choosePresentation(globals, io).mode === 'text'
  io.stdout.write(
    asText
      ? `${id}; toolable watch ${id} shows it\n`
      : `${JSON.stringify({ ok: true, status: 'success', result, meta: { tool: 'toolable.run', run_id: id, duration_ms: 0, warnings: [note] } })}\n`,
  )
  return 0
}
