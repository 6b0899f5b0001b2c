import type { JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'

/** The line that brings an answer to a tool. */
export function replyTo(
  { id, kind }: { readonly id?: unknown; readonly kind: string },
  answer: unknown,
): JsonObject {
  if (kind === 'sample') return { type: 'sample_response', id, content: answer }
  if (id !== undefined) return { id, value: answer }
  // The step of a session takes the object itself.
  return isObject(answer) ? answer : { value: answer }
}
