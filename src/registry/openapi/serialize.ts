import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FieldPlan } from './plan.ts'

/** A value as a part of a path, encoded so that it stays the part that it is; throws INVALID_INPUT for one that could lead elsewhere. */
export function pathPart(plan: FieldPlan, value: unknown): string {
  const { field, style, explode, name } = plan
  const parts = textsOf(plan, value)
  for (const { text } of parts) {
    if (
      text === '' ||
      text.split(/[/\\]/).some((step) => step === '.' || step === '..') ||
      text.includes('\0')
    )
      throw new ToolError(
        'INVALID_INPUT',
        `${JSON.stringify(text)} cannot stand for '${field}' in a path`,
        { field },
      )
  }
  const joined = (separator: string): string =>
    parts
      .map(({ key, text }) =>
        explode && key !== undefined
          ? `${encode(key)}=${encode(text)}`
          : [...(key === undefined ? [] : [encode(key)]), encode(text)].join(','),
      )
      .join(separator)
  if (style === 'label') return `.${joined(explode ? '.' : ',')}`
  if (style !== 'matrix') return joined(',')
  if (!explode) return `;${encode(name)}=${joined(',')}`
  return parts.map(({ key, text }) => `;${encode(key ?? name)}=${encode(text)}`).join('')
}

/** A value as parameters of a query, in pairs. */
export function queryPairs(
  plan: FieldPlan,
  value: unknown,
): readonly (readonly [string, string])[] {
  const { name, style, explode } = plan
  const parts = textsOf(plan, value)
  if (style === 'deepObject')
    return parts.map(({ key, text }) => [key === undefined ? name : `${name}[${key}]`, text])
  if (explode) return parts.map(({ key, text }) => [key ?? name, text])
  const separator = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ','
  return parts.length === 0
    ? []
    : [
        [
          name,
          parts
            .flatMap(({ key, text }) => (key === undefined ? [text] : [key, text]))
            .join(separator),
        ],
      ]
}

/** A value as the text of a header; throws INVALID_INPUT for what no header can carry. */
export function headerText(plan: FieldPlan, value: unknown): string {
  const text = textsOf(plan, value)
    .map((part) =>
      part.key === undefined ? part.text : `${part.key}${plan.explode ? '=' : ','}${part.text}`,
    )
    .join(',')
  // Anything else would be another header, or a mistake of encoding.
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text
  throw new ToolError(
    'INVALID_INPUT',
    `'${plan.field}' travels in a header, which cannot carry line breaks and characters outside Latin-1`,
    { field: plan.field },
  )
}

type Part = { readonly key?: string; readonly text: string }

function textsOf({ field, json }: FieldPlan, value: unknown): readonly Part[] {
  if (json) return [{ text: JSON.stringify(value) }]
  if (Array.isArray(value)) return value.map((item: unknown) => ({ text: textOf(field, item) }))
  if (isObject(value))
    return Object.entries(value).map(([key, item]) => ({ key, text: textOf(field, item) }))
  return [{ text: textOf(field, value) }]
}

function textOf(field: string, value: unknown): string {
  const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
  if (/\p{Surrogate}/u.test(text))
    throw new ToolError('INVALID_INPUT', `'${field}' contains half a character`, { field })
  return text
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
