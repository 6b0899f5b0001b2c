import { basename, dirname } from 'node:path'
import type { Io } from '../../contract/io.ts'
import { untilHandedOver } from '../../runner/folder/lock.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { folderChannel } from '../../runner/interactions/channels/folder.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { withRegistryOf } from './registry-of.ts'
import { prepareHost } from './prepare-host.ts'

/** Performs a detached run, as the process that owns it; gives the exit status. */
export async function superviseRun(
  [folder = '', resumed]: readonly string[],
  io: Io,
  host: Host,
): Promise<number> {
  const { paths, request } = openRun(dirname(folder), basename(folder))
  prepareHost(host, { ...request, onCrash: (error) => io.stderr.write(`${error.message}\n`) })
  await untilHandedOver(paths)
  return withRegistryOf(request, paths, io, async (performer) => {
    const ending = await performRun(paths, request, {
      env: io.env,
      channels: [folderChannel(paths.answers)],
      signal: host.signal,
      ...performer,
      ...(resumed === 'resume' && { resumedBy: 'resume' }),
    })
    return ending.rc
  })
}
