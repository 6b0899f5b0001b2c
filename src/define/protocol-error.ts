import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'

/** The code of an error that a server answers with a number of its wire protocol. */
export const PROTOCOL_ERROR = 'E_PROTOCOL'

/**
 * Fails the request itself with a number of JSON-RPC instead of giving a failed result; elsewhere
 * it is an ordinary failure `E_PROTOCOL`. Throws CONFIG when the number is no integer.
 */
export function protocolError(code: number, message: string, data?: unknown): never {
  if (!Number.isSafeInteger(code))
    throw new ToolError(
      'CONFIG',
      `protocolError() needs an integer, such as -32602; it got ${String(code)}`,
    )
  throw new ToolError(PROTOCOL_ERROR, message, { details: compact({ code, data }) })
}
