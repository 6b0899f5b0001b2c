import { host } from '../call/host.ts'
import type { ChildServices } from './child/services.ts'
import type { RegistryOptions } from './registry-type.ts'
import { keepWarm } from './warm/warm-caller.ts'

/** What the sources of one registry share; `close` ends it and waits for what still runs. */
export type Services = ChildServices & { refresh(): void; close(): Promise<void> }

/** Opens what the sources share. Nothing is loaded or started before it is needed. */
export function openServices({ env = host.env() }: RegistryOptions): Services {
  const running = new Set<Promise<unknown>>()
  const warm = keepWarm({ env })
  return {
    running,
    warm,
    refresh: () => warm.refresh(),
    async close() {
      await warm.close()
      await Promise.allSettled([...running])
    },
  }
}
