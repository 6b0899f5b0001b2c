/**
 * Adds to a failure the exact command that would succeed or continue.
 */

import { isDeepStrictEqual } from 'node:util'
import type { ErrorObject, FailureOutcome, Outcome, Suggestion } from '../protocol/outcome.ts'
import { isObject } from '../util/values.ts'
import { formatCommandLine } from './command-line.ts'
import type { CliCall } from './host.ts'

const REPAIR_FLAGS: { readonly [code: string]: (error: ErrorObject) => string } = {
  CONFIRMATION_REQUIRED: () => '--yes',
  ANSWER_REQUIRED: ({ details }) =>
    isObject(details?.['interaction']) && details['interaction']['kind'] === 'sample'
      ? '--sample-via stdin'
      : '--session',
}

/** Lets a failure name the exact command that would go on. */
export function addRepairCommand(outcome: Outcome, call: CliCall): Outcome {
  if (outcome.ok || !isObject(call.input)) return outcome
  if (outcome.error.code === 'MISSING_PARAM' && call.origin === 'flags')
    return addUsageExample(outcome, call)
  const flag = Object.hasOwn(REPAIR_FLAGS, outcome.error.code)
    ? REPAIR_FLAGS[outcome.error.code]!(outcome.error)
    : undefined
  if (flag === undefined || outcome.error.suggestion?.example !== undefined) return outcome
  const given: Suggestion = outcome.error.suggestion ?? {
    action: 'retry_with_modified_input',
    fix: `Call again with ${flag}`,
    applicability: 'maybe_incorrect',
  }
  const { input: _unused, ...suggestion } = given
  return {
    ...outcome,
    error: {
      ...outcome.error,
      suggestion: { ...suggestion, example: `${formatRepairCommand(call, call.input)} ${flag}` },
    },
  }
}

// What is missing stands as a placeholder where it belongs.
function addUsageExample(
  outcome: FailureOutcome,
  { set, entry, single, specs }: CliCall,
): FailureOutcome {
  const words = specs
    .filter((spec) => spec.required)
    .map((spec) => (spec.positional ? `<${spec.long}>` : `--${spec.long} <${spec.valueName}>`))
  const suggestion: Suggestion = {
    action: 'retry_with_modified_input',
    fix: outcome.error.suggestion?.fix ?? 'Give what is missing',
    example: [set.command ?? set.name, ...(single ? [] : entry.path), ...words].join(' '),
    applicability: 'has_placeholders',
  }
  return { ...outcome, error: { ...outcome.error, suggestion } }
}

/**
 * An input as a command line of the called tool. What the caller left to its default is left out
 * again.
 */
export function formatRepairCommand(
  { set, entry, single, specs, input: given }: CliCall,
  input: { readonly [field: string]: unknown },
): string {
  const leftOut = specs.filter(
    ({ field, default: byDefault }) =>
      !(isObject(given) && Object.hasOwn(given, field)) &&
      byDefault !== undefined &&
      isDeepStrictEqual(input[field], byDefault),
  )
  const said = Object.fromEntries(
    Object.entries(input).filter(([field]) => !leftOut.some((spec) => spec.field === field)),
  )
  // Its own name as the first word would be taken for the name of the tool.
  return formatCommandLine(
    set.command ?? set.name,
    single ? [] : entry.path,
    specs,
    said,
    single ? [entry.name] : [],
  )
}
