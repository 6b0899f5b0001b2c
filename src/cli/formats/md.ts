import { isObject } from '../../util/values.ts'
import type { OutcomeFormatter } from './envelope.ts'
import { toJsonText, toPlainJson } from './json-text.ts'
import { describeRemarks, endWithNewline, renderContent, renderMessage } from './remarks.ts'
import { cleanText } from './terminal-text.ts'
import { collectKeys } from './text.ts'

/** GitHub Markdown: the message as a paragraph, the value, then other content. */
export const format: OutcomeFormatter = (outcome, options) => {
  const stderr = describeRemarks(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  const parts = [
    renderMessage(outcome),
    outcome.hidden ? '' : renderMarkdown(outcome.result),
    ...(outcome.content ?? []).map((block) => renderContent([block])),
  ]
  return { stdout: parts.filter((part) => part !== '').join('\n'), stderr }
}

/**
 * The result as GitHub Markdown: a table for a list of objects, bullets for other lists, a
 * key/value table for an object, text as it is.
 */
export function renderMarkdown(value: unknown): string {
  const plain = toPlainJson(value)
  if (plain === null || plain === '') return ''
  if (typeof plain === 'string') return endWithNewline(cleanText(plain))
  if (Array.isArray(plain))
    return plain.length > 0 && plain.every(isObject)
      ? renderMarkdownTable(plain)
      : plain.map((item) => `- ${escapeBlockStart(toInlineMarkdown(item))}\n`).join('')
  if (!isObject(plain)) return `${String(plain)}\n`
  const rows = Object.entries(plain).map(([key, item]) =>
    toTableLine([toInlineMarkdown(key), toInlineMarkdown(item)]),
  )
  return rows.length === 0
    ? ''
    : [toTableLine(['key', 'value']), toTableLine(['---', '---']), ...rows].join('')
}

function renderMarkdownTable(rows: readonly Record<string, unknown>[]): string {
  const keys = collectKeys(rows)
  const cells = (row: Record<string, unknown>) =>
    keys.map((key) => toInlineMarkdown(Object.hasOwn(row, key) ? row[key] : null))
  const numeric = keys.map((key) =>
    isNumericColumn(rows.map((row) => (Object.hasOwn(row, key) ? row[key] : null))),
  )
  return [
    toTableLine(keys.map(toInlineMarkdown)),
    toTableLine(numeric.map((right) => (right ? '---:' : '---'))),
    ...rows.map((row) => toTableLine(cells(row))),
  ].join('')
}

function isNumericColumn(values: readonly unknown[]): boolean {
  return (
    values.every((value) => typeof value === 'number' || value === null) &&
    values.some((value) => value !== null)
  )
}

function toTableLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`
}

// A backslash needs escaping only before punctuation (or a newline, which becomes a tag);
// underscores inside words never mean emphasis. Paths stay readable.
function toInlineMarkdown(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = cleanText(typeof value === 'object' ? toJsonText(value) : String(value)).trim()
  return text
    .replace(/\\(?=[\n!-/:-@[-`{-~])|[|`*<>[\]]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/\n/g, '<br>')
    .replace(/\t/g, ' ')
}

function escapeBlockStart(line: string): string {
  return line
    .replace(/^(?:#{1,6}(?=\s|$)|[-+](?=\s|$)|-{3,}|={2,}|~{3,})/, '\\$&')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2')
}
