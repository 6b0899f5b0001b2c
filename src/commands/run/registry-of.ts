import type { Io } from '../../contract/io.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { withRegistry } from '../with-registry.ts'

/** Opens the registry that a run needs to go on: only a tool that is no program needs one, and finds it where the run was asked for. */
export function withRegistryOf<Result>({ call, cwd, surroundings }: RunRequest, { env }: Io, work: (registry: Registry | undefined) => Promise<Result>): Promise<Result> {
  return call ? work(undefined) : withRegistry(surroundings ?? {}, { cwd, env }, work)
}
