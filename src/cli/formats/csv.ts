import { isObject } from '../../util/values.ts'
import type { OutcomeFormatter } from './envelope.ts'
import { toJsonText, toPlainJson } from './json-text.ts'
import { describeRemarks, renderContent, renderMessage } from './remarks.ts'
import { cleanText } from './terminal-text.ts'
import { collectKeys } from './text.ts'

const SCALAR_COLUMN = 'value'

/**
 * CSV. Programs read it, so a hidden result is printed too, and everything that is no row goes to
 * stderr: the message and other content.
 */
export const format: OutcomeFormatter = (outcome, options) => {
  const stderr = describeRemarks(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  return {
    stdout: renderCsv(outcome.result, options.columns === undefined ? undefined : cleanText),
    stderr: renderMessage(outcome) + renderContent(outcome.content) + stderr,
  }
}

/**
 * The result as RFC 4180: a list of objects gives a header with the union of their keys, a list of
 * scalars one column `value`, an object one row,
 * a scalar one cell. Nested values are JSON. `guard` is applied to every text, for the case that a
 * terminal shows them.
 */
// Values are written exactly as they are: a `'` before `=` or `+` would protect careless
// spreadsheets and break every program that reads the data back.
export function renderCsv(
  value: unknown,
  guard: (text: string) => string = (text) => text,
): string {
  const plain = toPlainJson(value)
  if (plain === null) return ''
  if (!Array.isArray(plain) && !isObject(plain)) return `${toCsvField(plain, guard, true)}\r\n`
  const rows: Record<string, unknown>[] = (Array.isArray(plain) ? plain : [plain]).map((item) =>
    isObject(item) ? item : { [SCALAR_COLUMN]: item },
  )
  const keys = collectKeys(rows)
  if (keys.length === 0) return ''
  const alone = keys.length === 1
  const lines = [keys.map((key) => toCsvField(key, guard, alone)).join(',')]
  for (const row of rows)
    lines.push(
      keys
        .map((key) => toCsvField(Object.hasOwn(row, key) ? row[key] : null, guard, alone))
        .join(','),
    )
  return `${lines.join('\r\n')}\r\n`
}

function toCsvField(value: unknown, guard: (text: string) => string, alone: boolean): string {
  const text =
    value === null || value === undefined
      ? ''
      : guard(typeof value === 'object' ? toJsonText(value) : String(value))
  // Readers skip blank lines, so that an empty value which is the whole row has to be quoted.
  if (text === '') return alone ? '""' : ''
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
