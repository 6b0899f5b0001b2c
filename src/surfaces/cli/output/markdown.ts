import { isObject } from '../../../contract/json.ts'
import { toJsonText, toPlainJson } from './json-text.ts'
import { cleanText } from './text/clean.ts'
import { unionOfKeys } from './text/table.ts'

/** The result as GitHub Markdown: a table for a list of objects, bullets for other lists, a key/value table for an object, text as it is. */
export function renderMarkdown(value: unknown): string {
  const plain = toPlainJson(value)
  if (plain === null || plain === '') return ''
  if (typeof plain === 'string') return endLine(cleanText(plain))
  if (Array.isArray(plain))
    return plain.length > 0 && plain.every(isObject)
      ? renderRows(plain)
      : plain.map((item) => `- ${escapeBlockStart(toInline(item))}\n`).join('')
  if (!isObject(plain)) return `${String(plain)}\n`
  const rows = Object.entries(plain).map(([key, item]) => toLine([toInline(key), toInline(item)]))
  return rows.length === 0
    ? ''
    : [toLine(['key', 'value']), toLine(['---', '---']), ...rows].join('')
}

function renderRows(rows: readonly Record<string, unknown>[]): string {
  const keys = unionOfKeys(rows)
  const cells = (row: Record<string, unknown>) =>
    keys.map((key) => toInline(Object.hasOwn(row, key) ? row[key] : null))
  const numeric = keys.map((key) =>
    isNumeric(rows.map((row) => (Object.hasOwn(row, key) ? row[key] : null))),
  )
  return [
    toLine(keys.map(toInline)),
    toLine(numeric.map((right) => (right ? '---:' : '---'))),
    ...rows.map((row) => toLine(cells(row))),
  ].join('')
}

function isNumeric(values: readonly unknown[]): boolean {
  return (
    values.every((value) => typeof value === 'number' || value === null) &&
    values.some((value) => value !== null)
  )
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`
}

// A backslash needs escaping only before punctuation (or a newline, which becomes a tag); underscores inside words never mean emphasis. Paths stay readable.
function toInline(value: unknown): string {
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

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
