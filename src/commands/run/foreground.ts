import type { Io } from '../../contract/io.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunHost } from '../../runner/run-host.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import type { ChosenProgress } from '../progress/progress-flag.ts'
import { isPerson, openChannels } from './channels.ts'
import { openRunView } from './run-view.ts'
import type { Performer } from './registry-of.ts'
import { prepareHost } from './prepare-host.ts'

export type Around = Performer & {
  /** Wait for answers from elsewhere also where nobody here can answer. */ readonly wait: boolean
  readonly progress: ChosenProgress
  readonly resumedBy?: 'resume'
  /** Somebody only asks about the tool (`--help`). */ readonly asks?: boolean
}

/** Performs a run while its caller looks on: events as JSON lines for agents, words for people; gives the exit status. */
export async function followInForeground(
  paths: RunPaths,
  request: RunRequest,
  { registry, start, wait, progress, resumedBy, asks = false }: Around,
  io: Io,
  host: Host,
  globals: Globals,
): Promise<number> {
  prepareHost(host, request)
  const secrets = await readGivenSecrets(request, io, host.signal)
  const view = await openRunView(
    { paths, request, io, globals, person: isPerson(io), resumed: resumedBy !== undefined },
    { progress, bare: asks },
  )
  try {
    const channels = openChannels(paths, io, { wait, session: globals.session === true }, view.ask)
    const ending = await performRun(paths, request, {
      env: io.env,
      ...(registry && { registry }),
      ...(start && { start }),
      channels,
      onWritten: view.show,
      signal: host.signal,
      ...(secrets && { secrets }),
      ...(resumedBy && { resumedBy }),
    })
    io.stdin.close()
    await view.sumUp()
    return ending.rc
  } finally {
    await view.close()
  }
}

// The path `-` of a secret is stdin, which then answers nothing.
async function readGivenSecrets(
  { secrets = {} }: RunRequest,
  io: Io,
  signal: AbortSignal,
): Promise<RunHost['secrets']> {
  const names = Object.keys(secrets).filter((name) => secrets[name] === '-')
  if (names.length === 0) return undefined
  const { readSecrets } = await import('../../surfaces/cli/secrets.ts')
  return readSecrets(
    names.map((name) => `${name}=-`),
    io,
    { talksOnStdin: false, signal },
  )
}
