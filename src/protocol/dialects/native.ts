import { compact } from '../../util/values.ts'
import type { Interaction } from '../events.ts'
import type { DialectWriter } from '../output-protocols.ts'

/** Our own form: the envelope as it is, and plain event lines. */
export const dialect: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [outcome],
  streamEnd: (outcome) => [{ type: 'result', ...outcome }],
  start: () => undefined,
  event: (event) => event,
  heartbeat: () => undefined,
  question: (question) => writeQuestionLine(question, 'action_required'),
  errorLine: (error) => ({ error }),
}

/**
 * A question as one line: a request for a completion in its own form, anything else under the given
 * type.
 */
export function writeQuestionLine(question: Interaction, type: string): object {
  if (question.kind !== 'sample') return { type, ...question }
  const { id, prompt, sampling, key } = question
  return compact({ type: 'sample_request', id, prompt, ...sampling, key })
}
