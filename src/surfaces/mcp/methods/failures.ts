import type { Outcome } from '../../../contract/outcome.ts'
import type { LiveCall, Settled } from '../calls/live-call.ts'
import { missingCapability } from '../exchange.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { RpcErrorObject } from '../wire/messages.ts'

/** The failures that are not the tool's result but an error of the protocol: those its author said so, and what the client would have had to declare. */
export function failureToRpc(outcome: Outcome, call: LiveCall): Settled | undefined {
  if (outcome.ok) return undefined
  const { code, message, details, suggestion } = outcome.error
  if (code === 'E_PROTOCOL' && Number.isInteger(details?.['code']))
    return {
      error: {
        code: details!['code'] as number,
        message,
        ...(details!['data'] !== undefined && { data: details!['data'] }),
      },
    }
  if (code === 'ANSWER_REQUIRED' && call.missing && call.caller.era === 'modern')
    return {
      error: {
        ...missingCapability(call.missing).toObject(),
        message: suggestion ? `${message}. ${suggestion.fix}` : message,
      },
    }
  return undefined
}

/** A failed read of a resource or prompt: who asked wrongly hears so. */
export function readFailure(
  outcome: Outcome & { readonly ok: false },
  call: LiveCall,
  notFound: RpcErrorObject,
): RpcErrorObject {
  const settled = failureToRpc(outcome, call)
  if (settled && 'error' in settled) return settled.error
  const { error } = outcome
  if (error.code === 'NOT_FOUND') return notFound
  return new RpcError(
    error.category === 'input' ? RPC.invalidParams : RPC.internal,
    error.message,
    { error },
  ).toObject()
}
