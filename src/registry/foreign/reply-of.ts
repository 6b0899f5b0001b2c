import type { Outcome } from '../../contract/outcome.ts'
import { toolErrorFrom } from '../../contract/tool-error.ts'
import { ok, partial } from '../../define/results.ts'
import type { Reply } from '../../define/results.ts'

/** What a handler returns for the outcome of somebody else; throws the ToolError of a failure. */
export function replyOf(outcome: Outcome): Reply {
  if (!outcome.ok) throw toolErrorFrom(outcome.error)
  const { result, message, hidden, content } = outcome
  const options = {
    ...(message !== undefined && { message }),
    ...(hidden !== undefined && { hidden }),
    ...(content !== undefined && { content }),
  }
  return outcome.status === 'partial'
    ? partial(result, outcome.errors, options)
    : ok(result, options)
}
