import { ToolError } from '../../contract/tool-error.ts'
import type { Checked } from './schema.ts'

/** Checks a value so that whatever it throws becomes an issue. Errors that the author raised with `fail` pass through. */
export function guardCheck(
  check: (value: unknown) => Checked | Promise<Checked>,
  value: unknown,
): Checked | Promise<Checked> {
  try {
    const checked = check(value)
    return checked instanceof Promise ? checked.catch(refuse) : checked
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): Checked {
  if (ToolError.is(error)) throw error
  const message =
    error instanceof RangeError && /call stack/i.test(error.message)
      ? 'is nested too deeply'
      : `cannot be checked: ${error instanceof Error ? error.message : String(error)}`
  return { ok: false, issues: [{ path: [], kind: 'invalid', message }] }
}
