import type { OutcomeFormatter } from './envelope.ts'
import { toEnvelope, withErrorLine } from './envelope.ts'
import { toJsonText } from './json-text.ts'

/** The envelope as one JSON document. */
export const format: OutcomeFormatter = (outcome, options) => {
  const envelope = toEnvelope(outcome, options.renderInput)
  const text = toJsonText(envelope, options.pretty ? 2 : undefined)
  return withErrorLine(outcome, options, `${text}\n`)
}
