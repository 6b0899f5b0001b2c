import type { Interaction } from '../interaction.ts'
import type { DialectWriter } from './dialect.ts'

/** Our own form: the envelope as it is, and plain event lines. */
export const native: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [outcome],
  streamEnd: (outcome) => [{ type: 'result', ...outcome }],
  start: () => undefined,
  event: (event) => event,
  heartbeat: () => undefined,
  question: (question) => writeQuestion(question, 'action_required'),
  errorLine: (error) => ({ error }),
}

/** A question as one line: a request for a completion in its own form, anything else under the given type. */
export function writeQuestion(question: Interaction, type: string): object {
  if (question.kind !== 'sample') return { type, ...question }
  const { id, prompt, sampling, key } = question
  return { type: 'sample_request', id, prompt, ...sampling, ...(key !== undefined && { key }) }
}
