/**
 * Texts with `{{name}}` and `{{user.name}}` placeholders for params.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'

/** Texts and placeholders alternate, beginning and ending with a text. */
export type TextTemplate = {
  readonly texts: readonly string[]
  readonly placeholders: readonly (readonly string[])[]
}

// A backslash escapes the braces.
const BRACES_PATTERN = /\\\{\{|\{\{/g
const PLACEHOLDER_PATTERN = /^\s*([A-Za-z_][\w-]*(?:\.[A-Za-z0-9_][\w-]*)*)\s*$/

/**
 * Reads Markdown with `{{name}}` and `{{user.name}}` in it; throws CONFIG for braces that are
 * neither. `what` names the text in messages.
 */
export function parseTemplate(what: string, source: string): TextTemplate {
  const text = dedent(source)
  const texts: string[] = []
  const placeholders: string[][] = []
  let current = ''
  let position = 0
  for (const { 0: mark, index } of text.matchAll(BRACES_PATTERN)) {
    // Braces inside a placeholder that was read already.
    if (index < position) continue
    current += text.slice(position, index)
    if (mark !== '{{') {
      current += '{{'
      position = index + mark.length
      continue
    }
    const end = text.indexOf('}}', index)
    const path = end === -1 ? undefined : PLACEHOLDER_PATTERN.exec(text.slice(index + 2, end))?.[1]
    if (path === undefined) {
      const shown = shorten(
        text.slice(index, end === -1 ? index + 20 : end + 2).replace(/\s+/g, ' '),
        60,
      )
      throw new ToolError('CONFIG', `${what} has braces that hold no name of a param: ${shown}`, {
        suggestion:
          'Write {{name}} or {{user.name}} for a param, and \\{{ for the braces themselves',
      })
    }
    texts.push(current)
    placeholders.push(path.split('.'))
    current = ''
    position = end + 2
  }
  return { texts: [...texts, current + text.slice(position)], placeholders }
}

/** Renders the text with the values. Braces in values have no meaning. */
export function renderTemplate({ texts, placeholders }: TextTemplate, params: unknown): string {
  return texts
    .map((text, index) =>
      index === 0 ? text : toTemplateText(getPath(params, placeholders[index - 1]!)) + text,
    )
    .join('')
}

/** Normalises line ends, and removes surrounding empty lines and the indentation of source code. */
export function dedent(source: string): string {
  const lines = source.replace(/\r\n?/g, '\n').split('\n')
  // Only a text that begins on its own line has an indentation.
  const margin = lines[0]?.trim() === '' ? getMargin(lines) : 0
  while (lines[0]?.trim() === '') lines.shift()
  while (lines.at(-1)?.trim() === '') lines.pop()
  return lines
    .map((line) => line.slice(Math.min(margin, line.length - line.trimStart().length)))
    .join('\n')
}

function getMargin(lines: readonly string[]): number {
  const margins = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length)
  return margins.length === 0 ? 0 : margins.reduce((least, margin) => Math.min(least, margin))
}

function getPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string, unknown>)[key]
        : undefined,
    value,
  )
}

function toTemplateText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  return value instanceof Date
    ? value.toISOString()
    : (JSON.stringify(value, (_key, inner: unknown) =>
        typeof inner === 'bigint' ? String(inner) : inner,
      ) ?? '')
}
