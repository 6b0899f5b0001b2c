import type { Outcome } from '../outcome.ts'
import type { DialectWriter } from '../output-protocols.ts'

/**
 * The form of Simple JSON tools: the bare result, or `{error, code}`; one document and nothing
 * before it.
 */
export const dialect: DialectWriter = {
  alwaysStreams: false,
  outcome: (outcome) => [writeSimpleDocument(outcome)],
  streamEnd: (outcome) => [writeSimpleDocument(outcome)],
  start: () => undefined,
  event: () => undefined,
  heartbeat: () => undefined,
  question: () => undefined,
  errorLine: () => undefined,
}

function writeSimpleDocument(outcome: Outcome): unknown {
  if (outcome.ok) return outcome.result ?? null
  return { error: outcome.error.message, code: outcome.error.code }
}
