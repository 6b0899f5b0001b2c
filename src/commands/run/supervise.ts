/**
 * Performs a run in this process: signals, the registry that it needs, and the supervisor of a detached run.
 */

import { basename, dirname } from 'node:path'
import { redirectStrayOutput } from '../../cli/stray-output.ts'
import type { CommandHost } from '../../cli/types.ts'
import type { Io } from '../../protocol/io.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { createFolderChannel } from '../../runner/answer-channels.ts'
import { openRun } from '../../runner/find-run.ts'
import { waitForHandOver } from '../../runner/lock.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import type { RunHost } from '../../runner/run-target.ts'
import { HOUR_MS } from '../../util/units.ts'
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
 * Opens what performs a run that exists. Only a tool that is no program needs a registry, the one
 * of the place where the run was requested.
 */
export async function withRunPerformer<Result>(
  request: RunRequest,
  paths: RunPaths,
  io: Pick<Io, 'env' | 'now'>,
  work: (performer: RunPerformer) => Promise<Result>,
): Promise<Result> {
  const { call, cwd, surroundings = {}, workflow } = request
  if (call) return work({})
  if (workflow?.server) return work(await createRunPerformer(request, paths, undefined, io))
  return withRegistry(surroundings, { cwd, env: io.env }, async (registry) =>
    work(await createRunPerformer(request, paths, registry, io)),
  )
}

/**
 * What performs a run with a registry. An agent and a workflow work with the registry and are no
 * tools of it; the tools of a workflow on a server are those of its workers.
 */
export async function createRunPerformer(
  request: RunRequest,
  paths: RunPaths,
  registry: Registry | undefined,
  { env, now }: Pick<Io, 'env' | 'now'>,
): Promise<RunPerformer> {
  if (request.workflow?.server) {
    const { createRemoteTarget } = await import('../../workflow/restate/remote-run.ts')
    return { start: createRemoteTarget({ paths, request, now }) }
  }
  if (!registry) return {}
  if (request.command === 'workflow') {
    const { createWorkflowTarget } = await import('../../workflow/workflow-run.ts')
    return { start: createWorkflowTarget({ paths, request, registry, env, now }) }
  }
  if (request.command !== 'agent') return { registry }
  const { createAgentRegistry } = await import('../agent/agent-tool.ts')
  return { registry: createAgentRegistry(registry, paths.artifacts) }
}

/** Milliseconds that a run has to end after a signal: the grace of its tool, and a little more. */
const SHUTDOWN_TIMEOUT_MS = 15_000
/**
 * The same for a workflow that is cancelled and runs its compensations; a second signal ends it, and
 * it can be resumed.
 */
const WORKFLOW_SHUTDOWN_TIMEOUT_MS = HOUR_MS

type HostOptions = { readonly onCrash?: (error: Error) => void } & Partial<
  Pick<RunRequest, 'command' | 'run_id'>
>

/**
 * Makes this process one that performs a run: stray output of tools stays off stdout, and a signal
 * leaves the run time to end. Only Ctrl-C cancels a workflow: when its process or its terminal is
 * ended, it waits for a resume.
 */
export function prepareHost(
  host: CommandHost,
  { onCrash = () => undefined, command, run_id = '' }: HostOptions = {},
): void {
  const shutdownTimeoutMs = SHUTDOWN_TIMEOUT_MS
  if (command !== 'workflow')
    return host.prepareForTools(redirectStrayOutput, { onCrash, shutdownTimeoutMs })
  host.prepareForTools(redirectStrayOutput, {
    onCrash,
    shutdownTimeoutMs: WORKFLOW_SHUTDOWN_TIMEOUT_MS,
    leave(signal, status) {
      if (signal === 'SIGINT') return undefined
      return { error: createInterruptedError(signal, status, run_id), shutdownTimeoutMs }
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
