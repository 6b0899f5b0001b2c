import type { Outcome } from '../outcome.ts'
import type { DialectWriter } from './dialect.ts'

/** The form of Simple JSON tools: the bare result, or `{error, code}`; one document and nothing before it. */
export const simple: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [writeDocument(outcome)],
  streamEnd: (outcome) => [writeDocument(outcome)],
  start: () => undefined,
  event: () => undefined,
  heartbeat: () => undefined,
  question: () => undefined,
  errorLine: () => undefined,
}

function writeDocument(outcome: Outcome): unknown {
  if (outcome.ok) return outcome.result ?? null
  return { error: outcome.error.message, code: outcome.error.code }
}
