import type { Io } from '../../contract/io.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunHost } from '../../runner/run-host.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { withRegistry } from '../with-registry.ts'

/** What performs a run that is no program. */
export type Performer = Pick<RunHost, 'registry' | 'start'>

/** Opens the registry that a run needs to go on: only a tool that is no program needs one, and finds it where the run was asked for. An agent and a workflow work with it, and are no tools of it. */
export function withRegistryOf<Result>(
  request: RunRequest,
  paths: RunPaths,
  io: Pick<Io, 'env' | 'now'>,
  work: (performer: Performer) => Promise<Result>,
): Promise<Result> {
  const { call, cwd, surroundings, command } = request
  if (call) return work({})
  if (request.workflow?.server) return withRemote(request, paths, io, work)
  return withRegistry(surroundings ?? {}, { cwd, env: io.env }, async (registry) => {
    if (command === 'agent')
      return work({
        registry: (await import('../agent/agent-host.ts')).agentHost(registry, paths.artifacts),
      })
    if (command === 'workflow')
      return work({
        start: (await import('../../workflow/run/workflow-subject.ts')).workflowSubject({
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
async function withRemote<Result>(
  request: RunRequest,
  paths: RunPaths,
  { now }: Pick<Io, 'now'>,
  work: (performer: Performer) => Promise<Result>,
): Promise<Result> {
  const { remoteSubject } = await import('../../workflow/engines/restate/remote-subject.ts')
  return work({ start: remoteSubject({ paths, request, now }) })
}
