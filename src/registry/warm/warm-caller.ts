import type { Context } from '../../contract/context.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { WarmCaller } from '../child/services.ts'
import type { WarmPool } from './pool.ts'
import { WarmUnavailable } from './warm-type.ts'
import type { WarmCall, WarmSettings } from './warm-type.ts'

/** The programs that the calls of a registry keep running. */
export type KeptPrograms = WarmCaller & {
  /** From here on new processes answer: what a program was made of may have changed. */
  refresh(): void
  close(): Promise<void>
}

/** Calls tools warm. Everything it needs is loaded by the first call. */
export function keepWarm(settings: Partial<WarmSettings> & Pick<WarmSettings, 'env'>): KeptPrograms {
  let pool: WarmPool | undefined
  let opening: Promise<WarmPool> | undefined
  const open = (): Promise<WarmPool> => (opening ??= import('./pool.ts').then(({ warmPool }) => (pool = warmPool(settings))))
  return {
    async call(call, input, ctx) {
      const target = toWarmCall(call, input, ctx)
      if (!target) return undefined
      try {
        return await (pool ?? (await open())).call(target, ctx)
      } catch (error) {
        if (error instanceof WarmUnavailable) return undefined
        throw error
      }
    },
    refresh: () => pool?.refresh(),
    close: async () => (await opening)?.close(),
  }
}

// Undefined where the cold call has to say what is missing.
function toWarmCall(call: ChildCall, input: unknown, ctx: Context): WarmCall | undefined {
  const { command, cwd = ctx.cwd, tool } = call
  const env = variablesOf(call, ctx)
  return tool === undefined || !env ? undefined : { command, cwd, tool, input, host: ctx.env, env }
}

const NONE = {}

function variablesOf({ env = NONE, requireEnv }: ChildCall, { env: host }: Context): WarmCall['env'] {
  if (!requireEnv) return env
  const required: { [name: string]: string } = Object.create(null) as {}
  for (const name of requireEnv) {
    const value = Object.hasOwn(host, name) ? host[name] : undefined
    if (value === undefined && !Object.hasOwn(env, name)) return undefined
    if (value !== undefined) required[name] = value
  }
  return { ...required, ...env }
}
