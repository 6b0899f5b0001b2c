import type { Io } from '../../contract/io.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { withRegistry } from '../with-registry.ts'

/** Opens the registry that a run needs to go on: only a tool that is no program needs one, and finds it where the run was asked for. An agent works with it, and is no tool of it. */
export function withRegistryOf<Result>({ call, cwd, surroundings, command }: RunRequest, { artifacts }: RunPaths, { env }: Io, work: (registry: Pick<Registry, 'call'> | undefined) => Promise<Result>): Promise<Result> {
  if (call) return work(undefined)
  return withRegistry(surroundings ?? {}, { cwd, env }, async (registry) => work(command === 'agent' ? (await import('../agent/agent-host.ts')).agentHost(registry, artifacts) : registry))
}
