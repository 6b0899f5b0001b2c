import type { Io } from '../../contract/io.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'
import { openPrinter } from '../runs/line-printer.ts'
import { openChannels } from './channels.ts'

/** Milliseconds that a run has to end after a signal: the grace of its tool, and a little more. */
const FAREWELL = 15_000

export type Around = { readonly registry: Pick<Registry, 'call'> | undefined; /** Wait for answers from elsewhere also where nobody here can answer. */ readonly wait: boolean; readonly resumedBy?: 'resume' }

/** Performs a run while its caller looks on: events as JSON lines for agents, words for people; gives the exit status. */
export async function followInForeground(paths: RunPaths, request: RunRequest, { registry, wait, resumedBy }: Around, io: Io, host: Host, globals: Globals): Promise<number> {
  const { mode } = choosePresentation(globals, io, findCaller(io.env))
  host.prepareForTools(redirectStrayOutput, { onCrash: () => undefined, farewell: FAREWELL })
  const printer = openPrinter({ io, globals })
  // What is on record is shown as it stands there.
  const show = (lines: string): Promise<void> => (mode === 'text' ? printer.events(lines.trimEnd().split('\n').map((line) => JSON.parse(line) as RunEvent)) : io.stdout.send(lines))
  const channels = openChannels(paths, io, { wait, session: globals.session === true })
  const ending = await performRun(paths, request, { env: io.env, ...(registry && { registry }), channels, onWritten: show, signal: host.signal, ...(resumedBy && { resumedBy }) })
  io.stdin.close()
  return ending.rc
}
