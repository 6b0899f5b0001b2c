import type { Outcome } from '../../../contract/outcome.ts'
import { createPaint } from './color.ts'
import { renderCsv } from './csv.ts'
import type { FormatOptions, Printed } from './format-options.ts'
import { renderMarkdown } from './markdown.ts'
import { describeRemarks } from './remarks.ts'
import { cleanText } from './text/clean.ts'
import { renderContent } from './text/content.ts'
import { renderText } from './text/render.ts'

/** Text for a person: the message, the value, then other content; remarks on stderr. */
export function writeText(outcome: Outcome, options: FormatOptions): Printed {
  const { columns, color = false, renderResult = renderText } = options
  const remarks = describe(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr: remarks }
  const message = endLine(cleanText(outcome.message ?? ''))
  const stdout =
    message +
    (outcome.hidden ? '' : renderResult(outcome.result, { columns, color })) +
    renderContent(outcome.content)
  // On stderr, so that `| wc -l` counts no line for nothing.
  const empty =
    stdout === '' && !outcome.hidden && isEmptyCollection(outcome.result)
      ? `${createPaint(options.stderrColor ?? color)('dim', '(none)')}\n`
      : ''
  return { stdout, stderr: empty + remarks }
}

/** GitHub Markdown: the message as a paragraph, the value, then other content. */
export function writeMarkdown(outcome: Outcome, options: FormatOptions): Printed {
  const stderr = describe(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  const parts = [
    endLine(cleanText(outcome.message ?? '')),
    outcome.hidden ? '' : renderMarkdown(outcome.result),
    ...(outcome.content ?? []).map((block) => renderContent([block])),
  ]
  return { stdout: parts.filter((part) => part !== '').join('\n'), stderr }
}

/** CSV. It is read by programs, so that a hidden result is printed too, and what is no row, message and other content, goes to stderr. */
export function writeCsv(outcome: Outcome, options: FormatOptions): Printed {
  const stderr = describe(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  const stdout = renderCsv(outcome.result, options.columns === undefined ? undefined : cleanText)
  return {
    stdout,
    stderr: endLine(cleanText(outcome.message ?? '')) + renderContent(outcome.content) + stderr,
  }
}

function describe(
  outcome: Outcome,
  { color = false, stderrColor = color, renderInput }: FormatOptions,
): string {
  return describeRemarks(outcome, createPaint(stderrColor), renderInput)
}

function isEmptyCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
