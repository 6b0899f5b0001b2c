import { errorMessage } from './messages.ts'
import type { Id, RpcErrorObject } from './messages.ts'

/** An answer, written; the code of its error decides the status of HTTP. */
export type Answered = { readonly text: string; readonly error?: number }

/** The refusal of a request. */
export function refuse(id: Id | undefined, error: RpcErrorObject): Answered {
  return { text: errorMessage(id, error), error: error.code }
}
