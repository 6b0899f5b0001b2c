import { availableParallelism } from 'node:os'
import { host } from '../call/host.ts'
import { cacheFolder } from './cache-folder.ts'
import type { RegistryOptions } from './registry-type.ts'
import type { LoadContext } from './source.ts'

/** What the sources of a registry work with, by its options. */
export function loadContext({ cwd = host.cwd(), env = host.env(), cache = true, probe = {} }: RegistryOptions, signal: AbortSignal): LoadContext {
  return {
    cwd,
    env,
    fresh: false,
    cacheFolder: cache === false ? undefined : typeof cache === 'string' ? cache : cacheFolder(env),
    probe: { unsandboxed: probe.unsandboxed ?? false, concurrency: probe.concurrency ?? availableParallelism() },
    signal,
  }
}
