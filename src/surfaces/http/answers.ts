import { httpStatusOf } from '../../contract/errors.ts'
import type { FailureOutcome, Outcome, Suggestion } from '../../contract/outcome.ts'
import { toEnvelope } from '../cli/output/envelope.ts'
import { toJsonText } from '../cli/output/json-text.ts'
import type { HttpAnswer } from './exchange.ts'

/** A bare JSON document. */
export function documentAnswer(document: unknown, type = 'application/json'): HttpAnswer {
  return {
    status: 200,
    headers: {
      'content-type': type,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    },
    body: toJsonText(document),
  }
}

/** An outcome as its envelope, under the status of its error code. */
export function outcomeAnswer(outcome: Outcome): HttpAnswer {
  return {
    status: outcome.ok ? 200 : httpStatusOf(outcome.error),
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body: toJsonText(envelopeOf(outcome)),
  }
}

/** The envelope as HTTP carries it: a repaired input is shown as the JSON to send. */
export function envelopeOf(outcome: Outcome): Record<string, unknown> {
  return toEnvelope(outcome, (input) => toJsonText(input))
}

/** Lets a failure that only a person can repair name the header or the command that goes on. */
export function withWayOn(outcome: Outcome, command: readonly string[], input: unknown): Outcome {
  if (outcome.ok || outcome.error.suggestion?.example !== undefined) return outcome
  if (outcome.error.code === 'CONFIRMATION_REQUIRED')
    return withExample(outcome, 'Send the header Toolable-Confirm: yes', 'Toolable-Confirm: yes')
  if (outcome.error.code !== 'ANSWER_REQUIRED') return outcome
  const flag = isSample(outcome) ? '--sample-via stdin' : '--session'
  return withExample(
    outcome,
    'Nobody can be asked over plain HTTP: call the tool on the command line, or over MCP',
    `${command.join(' ')} '${toJsonText(input).replaceAll("'", `'\\''`)}' ${flag}`,
  )
}

function withExample(outcome: FailureOutcome, fix: string, example: string): FailureOutcome {
  const { input: _unused, ...given }: Suggestion = outcome.error.suggestion ?? {
    action: 'retry_with_modified_input',
    fix,
    applicability: 'maybe_incorrect',
  }
  return { ...outcome, error: { ...outcome.error, suggestion: { ...given, example } } }
}

function isSample({ error: { details } }: FailureOutcome): boolean {
  const interaction = details?.['interaction'] as { readonly kind?: unknown } | undefined
  return interaction?.kind === 'sample'
}
