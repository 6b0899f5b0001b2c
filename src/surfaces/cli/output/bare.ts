import type { Outcome } from '../../../contract/outcome.ts'
import { createPaint } from './color.ts'
import { renderCsv } from './csv.ts'
import type { FormatOptions, Printed } from './format-options.ts'
import { renderMarkdown } from './markdown.ts'
import { describeRemarks } from './remarks.ts'
import { cleanText } from './text/clean.ts'
import { renderText } from './text/render.ts'

/** Text for a person: the message, then the value; remarks on stderr. */
export function writeText(outcome: Outcome, options: FormatOptions): Printed {
  const { columns, color = false } = options
  const remarks = describe(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr: remarks }
  const message = endLine(cleanText(outcome.message ?? ''))
  const stdout = outcome.hidden ? message : message + renderText(outcome.result, { columns, color })
  // On stderr, so that `| wc -l` counts no line for nothing.
  const empty = stdout === '' && !outcome.hidden && isEmptyCollection(outcome.result) ? `${createPaint(options.stderrColor ?? color)('dim', '(none)')}\n` : ''
  return { stdout, stderr: empty + remarks }
}

/** GitHub Markdown: the message as a paragraph, then the value. */
export function writeMarkdown(outcome: Outcome, options: FormatOptions): Printed {
  const stderr = describe(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  const message = endLine(cleanText(outcome.message ?? ''))
  const body = outcome.hidden ? '' : renderMarkdown(outcome.result)
  return { stdout: message + (message !== '' && body !== '' ? '\n' : '') + body, stderr }
}

/** CSV. It is read by programs, so that a hidden result is printed too, and the message, which is no row, goes to stderr. */
export function writeCsv(outcome: Outcome, options: FormatOptions): Printed {
  const stderr = describe(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  const stdout = renderCsv(outcome.result, options.columns === undefined ? undefined : cleanText)
  return { stdout, stderr: endLine(cleanText(outcome.message ?? '')) + stderr }
}

function describe(outcome: Outcome, { color = false, stderrColor = color, renderInput }: FormatOptions): string {
  return describeRemarks(outcome, createPaint(stderrColor), renderInput)
}

function isEmptyCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
