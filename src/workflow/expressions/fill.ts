import { copyJson } from './copy-json.ts'
import { evaluate } from './evaluate.ts'
import { OPEN, parseTemplate } from './parse-template.ts'
import type { Scope } from './scope-type.ts'

/** A copy of a JSON value with its expressions replaced by what they give. A text that is one expression becomes its value; in others, texts are joined. Keys stay as they are, and what was put in is not looked at again. Throws INVALID_INPUT. */
export function fill(value: unknown, scope: Scope): unknown {
  return copyJson(value, (text) => (text.includes(OPEN) ? fillText(text, scope) : text))
}

function fillText(text: string, scope: Scope): unknown {
  const parts = parseTemplate(text)
  const [only] = parts
  // Copied: a tool that changes its input must not change what is on record.
  if (parts.length === 1 && typeof only === 'object')
    return copyJson(evaluate(only, scope), (found) => found)
  return parts
    .map((part) => (typeof part === 'string' ? part : textOf(evaluate(part, scope))))
    .join('')
}

/** A value inside a text: null is nothing, lists and objects are JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  // Copied first, because that is refused for a value without end, and this would end in a stack overflow.
  return typeof value === 'object' ? JSON.stringify(copyJson(value, (text) => text)) : String(value)
}
