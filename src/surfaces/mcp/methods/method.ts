import type { Exchange } from '../exchange.ts'
import type { McpServer } from '../server-type.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'

/** Answers one method; throws RpcError for faults of the protocol. */
export type Method = (
  server: McpServer,
  params: Params,
  exchange: Exchange,
) => object | Promise<object>

/** A parameter that has to be a text. */
export function textParam(params: Params, name: string): string {
  const value = params[name]
  if (typeof value !== 'string')
    throw new RpcError(RPC.invalidParams, `params.${name} is missing or not a text`)
  return value
}

/** How long and by whom lists may be kept: everybody sees the same, and changes are announced. */
export const CACHEABLE = { ttlMs: 60_000, cacheScope: 'public' } as const

/** Adds to a list what modern clients want to know about keeping it. */
export function cacheable(result: object, { caller }: Exchange): object {
  return caller.era === 'modern' ? { ...result, ...CACHEABLE } : result
}
