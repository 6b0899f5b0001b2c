import type { Context } from '../contract/context.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Outcome } from '../contract/outcome.ts'
import { host } from '../call/host.ts'
import type { ChildCall } from './child/child-call.ts'
import type { ChildServices } from './child/services.ts'
import type { RegistryOptions } from './registry-type.ts'
import type { WarmPool } from './warm/pool.ts'

/** What the sources of one registry share; `close` ends it and waits for what still runs. */
export type Services = ChildServices & { refresh(): Promise<void>; close(): Promise<void> }

/** Opens what the sources share. Nothing is loaded or started before it is needed. */
export function openServices({ env = host.env() }: RegistryOptions): Services {
  const running = new Set<Promise<unknown>>()
  let opening: Promise<WarmPool> | undefined
  let pool: WarmPool | undefined
  const open = (): Promise<WarmPool> => (opening ??= import('./warm/pool.ts').then(({ warmPool }) => (pool = warmPool({ env }))))
  return {
    running,
    warm: { call: async (call, input, ctx) => callWarm(pool ?? (await open()), call, input, ctx) },
    refresh: async () => (await opening)?.refresh(),
    async close() {
      await (await opening)?.close()
      await Promise.allSettled([...running])
    },
  }
}

async function callWarm(pool: WarmPool, { command, tool = '', cwd, env }: ChildCall, input: JsonObject, ctx: Context): Promise<Outcome | undefined> {
  try {
    // Whoever called through the registry was asked there.
    return await pool.call({ command, tool, input, cwd: cwd ?? ctx.cwd, host: ctx.env, ...(env && { env }), confirmed: true }, ctx)
  } catch (error) {
    if ((error as Error).name === 'WarmUnavailable') return undefined
    throw error
  }
}
