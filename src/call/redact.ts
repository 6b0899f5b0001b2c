import type { Outcome } from '../contract/outcome.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { toJsonValue } from './json-value.ts'

/** What of an input may be shown in events and logs, as JSON: what the tool's `redact` leaves of it. Never throws. */
export function showInput({ hooks }: Pick<ToolDefinition, 'hooks'>, input: unknown): unknown {
  try {
    return toJsonValue(hooks.redact ? hooks.redact(input as never) : input).value
  } catch {
    return '[cannot be shown]'
  }
}

/** An outcome as events and logs may show it: a repaired input would repeat what `redact` takes out. */
export function showOutcome({ hooks }: ToolDefinition, outcome: Outcome): Outcome {
  if (!hooks.redact || outcome.ok || !outcome.error.suggestion?.input) return outcome
  const { input: _input, ...suggestion } = outcome.error.suggestion
  return { ...outcome, error: { ...outcome.error, suggestion } }
}
