import type { Context } from '../../contract/context.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { LookedAt } from '../cache/stamp.ts'
import type { ChildCall } from './child-call.ts'

/** Calls tools of executables that are kept running. */
export type WarmCaller = {
  /** The outcome as the executable tells it, its events told to `ctx` meanwhile; undefined where it cannot be kept warm, so that it is called cold. Throws ToolErrors. */
  call(
    call: ChildCall,
    input: JsonObject,
    ctx: Context,
    looked?: LookedAt,
  ): Promise<Outcome | undefined>
}

/** What calls of other processes share, given by the registry. */
export type ChildServices = {
  readonly warm?: WarmCaller
  /** Children that are not over yet. A cancelled call is answered at once, while its child may still be ending: whoever closes waits for these. */
  readonly running?: Set<Promise<unknown>>
}
