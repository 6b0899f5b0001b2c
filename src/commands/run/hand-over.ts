import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { startDetached } from '../../process/start-detached.ts'
import { claim, handOver } from '../../runner/folder/lock.ts'
import { removeRun } from '../../runner/folder/remove-run.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Started } from '../../surfaces/cli/host.ts'
import { SUPERVISE } from './supervise-word.ts'

/** What a process that performs runs by itself is started from. */
export type Nursery = {
  readonly started: Started
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
}

/** Refuses what a process without a caller cannot do. Throws USAGE. */
export function checkDetachable({
  secrets = {},
}: {
  readonly secrets?: RunRequest['secrets'] | undefined
}): void {
  if (Object.values(secrets).includes('-'))
    throw new ToolError('USAGE', 'a detached run cannot read a secret from stdin', {
      field: 'secret-file',
      suggestion: 'Give the secret by a file',
    })
}

/** Gives a run that this process has claimed to a process of its own, which outlives this one; gives the id of that process. Throws USAGE, and INTERNAL where none can be started: then a new run is gone, and one that was to be resumed is as it was. */
export async function handToSupervisor(
  paths: RunPaths,
  request: RunRequest,
  nursery: Nursery,
  resumedBy?: 'resume',
): Promise<number> {
  try {
    checkDetachable(request)
    const pid = await startSupervisor(paths, nursery, resumedBy)
    handOver(paths, pid)
    return pid
  } catch (error) {
    // Whoever claims what it has gets it again, and can let it go.
    if (resumedBy) claim(paths)()
    else await removeRun(paths)
    throw error
  }
}

async function startSupervisor(
  paths: RunPaths,
  { started, cwd, env }: Nursery,
  resumedBy: 'resume' | undefined,
): Promise<number> {
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  const command = [
    started.execPath,
    ...started.execArgv,
    started.script ?? '',
    SUPERVISE,
    paths.folder,
    ...(resumedBy ? [resumedBy] : []),
  ] as const
  const pid = await startDetached({ command, cwd, env: given }, join(paths.logs, 'runner.log'))
  if (pid instanceof Error)
    throw new ToolError('INTERNAL', `the supervisor could not be started: ${pid.message}`, {
      cause: pid,
    })
  return pid
}
