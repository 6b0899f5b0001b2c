import { ToolError } from '../../../contract/tool-error.ts'
import { RPC, RpcError } from './messages.ts'
import type { RpcErrorObject } from './messages.ts'

/** What was thrown, as the error of a response. */
export function rpcErrorOf(thrown: unknown): RpcErrorObject {
  if (thrown instanceof RpcError) return thrown.toObject()
  if (ToolError.is(thrown))
    return { code: RPC.internal, message: thrown.message, data: thrown.toObject() }
  return {
    code: RPC.internal,
    message: `the server failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
  }
}
