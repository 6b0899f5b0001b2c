import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** Parses a JSON object that is a whole input; throws INVALID_INPUT with line and column. */
export function parseJsonInput(text: string, source: string): { readonly [field: string]: unknown } {
  let value: unknown
  try {
    value = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (error) {
    const place = placeOf(error as Error, text)
    throw new ToolError('INVALID_INPUT', `${source} is not JSON${place.words}: ${cleanMessage(error as Error)}`, {
      details: { source, ...place.details },
      suggestion: 'Send one JSON object; quote it with single quotes in a shell, or send it on stdin',
    })
  }
  if (!isObject(value)) throw new ToolError('INVALID_INPUT', `${source} must be a JSON object, got ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}`, { details: { source } })
  return value
}

function placeOf(error: Error, text: string): { readonly words: string; readonly details: { readonly [key: string]: number } } {
  const found = /at position (\d+)/.exec(error.message)
  const position = found ? Number(found[1]) : /end of JSON input/.test(error.message) ? text.length : undefined
  if (position === undefined) return { words: '', details: {} }
  const before = text.slice(0, position)
  const line = before.split('\n').length
  const column = position - before.lastIndexOf('\n')
  return { words: ` (line ${line}, column ${column})`, details: { position, line, column } }
}

// V8 quotes the text itself, which may be long or secret.
function cleanMessage(error: Error): string {
  return error.message.replace(/ in JSON at position \d+.*$/s, '').replace(/, (\.\.\.)?".*" is not valid JSON$/s, '')
}
