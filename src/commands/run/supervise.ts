/**
 * Performs a run in this process: signals, the registry that it needs, and the supervisor of a detached run.
 */

import { basename, dirname } from 'node:path'
import { redirectStrayOutput } from '../../cli/stray-output.ts'
import type { CommandHost } from '../../cli/types.ts'
import type { Io } from '../../protocol/io.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { createFolderChannel } from '../../runner/answer-channels.ts'
import { openRun } from '../../runner/find-run.ts'
import { waitForHandOver } from '../../runner/lock.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import type { RunHost } from '../../runner/run-target.ts'
import { compact } from '../../util/values.ts'
import { withRegistry } from '../config.ts'

/** Performs a detached run, as the process that owns it; gives the exit status. */
export async function superviseRun(
  [folder = '', resumed]: readonly string[],
  io: Io,
  host: CommandHost,
): Promise<number> {
  const { paths, request } = openRun(dirname(folder), basename(folder))
  prepareHost(host, { ...request, onCrash: (error) => io.stderr.write(`${error.message}\n`) })
  await waitForHandOver(paths)
  return withRunPerformer(request, paths, io, async (performer) => {
    const ending = await performRun(paths, request, {
      env: io.env,
      channels: [createFolderChannel(paths.answers)],
      signal: host.signal,
      ...performer,
      ...compact({ resumedBy: resumed === 'resume' ? 'resume' : undefined }),
    })
    return ending.rc
  })
}

/** What performs a run that is no program. */
export type RunPerformer = Pick<RunHost, 'registry' | 'start'>

/**
 * Opens the registry that a run needs to go on: only a tool that is no program needs one, and finds
 * it where the run was asked for. An agent and a workflow work with it, and are no tools of it.
 */
export function withRunPerformer<Result>(
  request: RunRequest,
  paths: RunPaths,
  io: Pick<Io, 'env' | 'now'>,
  work: (performer: RunPerformer) => Promise<Result>,
): Promise<Result> {
  const { call, cwd, surroundings, command } = request
  if (call) return work({})
  if (request.workflow?.server) return withRemotePerformer(request, paths, io, work)
  return withRegistry(surroundings ?? {}, { cwd, env: io.env }, async (registry) => {
    if (command === 'agent')
      return work({
        registry: (await import('../agent/agent-tool.ts')).createAgentRegistry(
          registry,
          paths.artifacts,
        ),
      })
    if (command === 'workflow')
      return work({
        start: (await import('../../workflow/workflow-run.ts')).createWorkflowTarget({
          paths,
          request,
          registry,
          env: io.env,
          now: io.now,
        }),
      })
    return work({ registry })
  })
}

// Its tools are those of the workers.
async function withRemotePerformer<Result>(
  request: RunRequest,
  paths: RunPaths,
  { now }: Pick<Io, 'now'>,
  work: (performer: RunPerformer) => Promise<Result>,
): Promise<Result> {
  const { createRemoteTarget } = await import('../../workflow/restate/remote-run.ts')
  return work({ start: createRemoteTarget({ paths, request, now }) })
}

/** Milliseconds that a run has to end after a signal: the grace of its tool, and a little more. */
const SHUTDOWN_TIMEOUT_MS = 15_000
/**
 * The same for a workflow that is cancelled, and takes back what it did; a second signal ends it at
 * once, and it can be resumed.
 */
const WORKFLOW_SHUTDOWN_TIMEOUT_MS = 3_600_000

/**
 * Makes this process one that performs a run: stray output of tools stays off stdout, and a signal
 * leaves the run time to end. A workflow is cancelled by Ctrl-C alone: whoever ends its process, or
 * its terminal, leaves it for a resume.
 */
export function prepareHost(
  host: CommandHost,
  {
    onCrash = () => undefined,
    command,
    run_id,
  }: { readonly onCrash?: (error: Error) => void } & Partial<
    Pick<RunRequest, 'command' | 'run_id'>
  > = {},
): void {
  if (command !== 'workflow')
    return host.prepareForTools(redirectStrayOutput, {
      onCrash,
      shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS,
    })
  host.prepareForTools(redirectStrayOutput, {
    onCrash,
    shutdownTimeoutMs: WORKFLOW_SHUTDOWN_TIMEOUT_MS,
    leave: (signal, status) =>
      signal === 'SIGINT'
        ? undefined
        : {
            error: createInterruptedError(signal, status, run_id ?? ''),
            shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS,
          },
  })
}

function createInterruptedError(signal: string, status: number, id: string): ToolError {
  return new ToolError(
    'INTERRUPTED',
    `${signal} ended the process that performed it; it is as it was, and can be resumed`,
    { suggestion: `toolable workflow resume ${id}`, details: { signal, exit_status: status } },
  )
}
