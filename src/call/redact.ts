import type { ToolDefinition } from '../define/tool-type.ts'
import { toJsonValue } from './json-value.ts'

/** What of an input may be shown in events and logs, as JSON: what the tool's `redact` leaves of it. Never throws. */
export function showInput({ hooks }: ToolDefinition, input: unknown): unknown {
  try {
    return toJsonValue(hooks.redact ? hooks.redact(input as never) : input).value
  } catch {
    return '[cannot be shown]'
  }
}
