import type { Outcome } from '../../protocol/outcome.ts'
import type { OutcomeFormatter } from './envelope.ts'
import { toEnvelope, withErrorLine } from './envelope.ts'
import { toJsonText } from './json-text.ts'

/**
 * The items of a list as JSON lines, any other result as an envelope. Items leave no room for the
 * rest of the envelope, so it goes to stderr as one line where it says something.
 */
export const format: OutcomeFormatter = (outcome, options) => {
  const envelope = toEnvelope(outcome, options.renderInput)
  if (!outcome.ok || !Array.isArray(outcome.result))
    return withErrorLine(outcome, options, `${toJsonText(envelope)}\n`)
  const { result: _printed, ...rest } = envelope
  return {
    stdout: outcome.result.map((item) => `${toJsonText(item)}\n`).join(''),
    stderr: isNotable(outcome) ? `${toJsonText(rest)}\n` : '',
  }
}

function isNotable(outcome: Outcome & { readonly ok: true }): boolean {
  const { message, content, meta } = outcome
  return (
    outcome.status === 'partial' ||
    [message, content, meta.next_cursor].some((field) => field !== undefined) ||
    [meta.dry_run, meta.warnings, meta.truncated, meta.artifacts].some(Boolean)
  )
}
