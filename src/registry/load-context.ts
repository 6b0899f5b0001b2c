import { host } from '../call/host.ts'
import { cacheFolder } from '../call/cache-folder.ts'
import type { RegistryOptions } from './registry-type.ts'
import type { LoadContext } from './source.ts'

/** What the sources of a registry work with, by its options. */
export async function loadContext(
  { cwd = host.cwd(), env = host.env(), cache = true, probe = {} }: RegistryOptions,
  signal: AbortSignal,
): Promise<LoadContext> {
  return {
    cwd,
    env,
    fresh: false,
    cacheFolder:
      cache === false ? undefined : typeof cache === 'string' ? cache : await cacheFolder(env),
    probe: {
      unsandboxed: probe.unsandboxed ?? false,
      ...(probe.concurrency !== undefined && { concurrency: probe.concurrency }),
    },
    signal,
  }
}
