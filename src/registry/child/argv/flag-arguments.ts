import type { JsonObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'

const FIELD = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u

/** The input as flags: `_` becomes `-`, true is the bare flag, false and null are left out, a list repeats the flag, an object is JSON. */
export function flagArguments(input: JsonObject): readonly string[] {
  return Object.entries(input).flatMap(([field, value]) => {
    if (!FIELD.test(field))
      throw new ToolError('INVALID_INPUT', `the field '${field}' cannot be a flag`, {
        field,
        suggestion: 'Use letters, digits, _ . and - in names of fields',
      })
    const flag = `--${field.replaceAll('_', '-')}`
    return Array.isArray(value)
      ? value.flatMap((entry) => valueArguments(flag, entry))
      : fieldArguments(flag, value)
  })
}

/** A value as the text of an argument; undefined for null, which is said by leaving it out. */
export function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function fieldArguments(flag: string, value: unknown): readonly string[] {
  if (typeof value === 'boolean') return value ? [flag] : []
  return valueArguments(flag, value)
}

// Parsers written by hand in shell scripts seldom know `--flag=value`; for a value that would look like a flag it is the only safe form.
function valueArguments(flag: string, value: unknown): readonly string[] {
  const text = textOf(value)
  if (text === undefined) return []
  return text.startsWith('-') ? [`${flag}=${text}`] : [flag, text]
}
