import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const INTEGER = /^[+-]?\d+$/

/** Refuses the text of an argument that cannot be what its field declares: INVALID_INPUT. Texts, lists and objects are the tool's own business. */
export function checkValue(field: string, property: JsonSchema, text: string | undefined): void {
  if (text === undefined) return
  const { type, minimum, maximum, enum: choices } = property
  if (type === 'integer' && !INTEGER.test(text)) throw wrong(field, 'a whole number', text)
  if (type === 'number' && !NUMBER.test(text)) throw wrong(field, 'a number', text)
  if (type === 'boolean' && !/^(true|false|yes|no|on|off|1|0)$/i.test(text))
    throw wrong(field, 'true or false', text)
  if (type === 'integer' || type === 'number') {
    if (typeof minimum === 'number' && Number(text) < minimum)
      throw wrong(field, `${minimum} or more`, text)
    if (typeof maximum === 'number' && Number(text) > maximum)
      throw wrong(field, `${maximum} or less`, text)
  }
  const listed = Array.isArray(choices)
    ? choices
    : isObject(property['items']) && Array.isArray(property['items']['enum'])
      ? property['items']['enum']
      : undefined
  if (listed && !listed.some((choice) => String(choice) === text))
    throw wrong(field, `one of ${shorten(listed.map(String).join(', '), 200)}`, text)
}

function wrong(field: string, wanted: string, text: string): ToolError {
  return new ToolError(
    'INVALID_INPUT',
    `${field}: must be ${wanted}; got ${JSON.stringify(shorten(text, 100))}`,
    { field, suggestion: `Write --${field.replaceAll('_', '-')} with ${wanted}` },
  )
}
