import type { Context } from '../../contract/context.ts'
import type { ChildCall } from '../child/child-call.ts'
import { ownVariables } from '../child/environment.ts'
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
export function keepWarm(
  settings: Partial<WarmSettings> & Pick<WarmSettings, 'env'>,
): KeptPrograms {
  let pool: WarmPool | undefined
  let opening: Promise<WarmPool> | undefined
  const open = (): Promise<WarmPool> =>
    (opening ??= import('./pool.ts').then(({ warmPool }) => (pool = warmPool(settings))))
  return {
    async call(call, input, ctx, looked) {
      if (call.tool === undefined) return undefined
      try {
        return await (pool ?? (await open())).call(
          toWarmCall(call, call.tool, input, ctx),
          ctx,
          looked,
        )
      } catch (error) {
        if (error instanceof WarmUnavailable) return undefined
        throw error
      }
    },
    refresh: () => pool?.refresh(),
    close: async () => (await opening)?.close(),
  }
}

function toWarmCall(call: ChildCall, tool: string, input: unknown, ctx: Context): WarmCall {
  const { command, cwd = ctx.cwd, destructive = false } = call
  return {
    command,
    cwd,
    tool,
    input,
    host: ctx.env,
    env: variablesOf(call, ctx),
    confirmed: destructive,
  }
}

const kept = new WeakMap<ChildCall, WarmCall['env'] & object>()

// What does not depend on the caller is made once.
function variablesOf(call: ChildCall, ctx: Context): WarmCall['env'] & object {
  if (call.requireEnv) return ownVariables(call, ctx)
  let variables = kept.get(call)
  if (!variables) kept.set(call, (variables = ownVariables(call, ctx)))
  return variables
}
