import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { parseJson } from '../schema/parse-json.ts'

const BYTE_ORDER_MARK = 0xfeff

/** Parses a JSON object that is a whole input; throws INVALID_INPUT with line and column. */
export function parseJsonInput(
  given: string,
  source: string,
  fix = 'Send one JSON object; quote it with single quotes in a shell, or send it on stdin',
): { readonly [field: string]: unknown } {
  const text = given.charCodeAt(0) === BYTE_ORDER_MARK ? given.slice(1) : given
  if (text.trim() === '')
    throw new ToolError('INVALID_INPUT', `${source} is empty; one JSON object is expected`, {
      details: { source },
      suggestion: 'Send one JSON object, at least {}',
    })
  const parsed = parseJson(text)
  if (!parsed.ok) {
    const { line, column } = placeOf(parsed.position, text)
    throw new ToolError(
      'INVALID_INPUT',
      `${source} is not JSON (line ${line}, column ${column}): ${parsed.found}`,
      { details: { source, position: parsed.position, line, column }, suggestion: fix },
    )
  }
  const { value } = parsed
  if (!isObject(value))
    throw new ToolError(
      'INVALID_INPUT',
      `${source} must be a JSON object, got ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}`,
      { details: { source } },
    )
  return value
}

function placeOf(
  position: number,
  text: string,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, position)
  return { line: before.split('\n').length, column: position - before.lastIndexOf('\n') }
}
