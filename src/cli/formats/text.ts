/**
 * The output formats that print the bare result: text, Markdown and CSV. Everything else about the
 * outcome goes to stderr as remarks.
 */

import type { ContentBlock, ErrorObject, Outcome, PartialSummary } from '../../protocol/outcome.ts'
import { isObject } from '../../util/values.ts'
import { getExample } from '../envelope.ts'
import type { FormatOptions, FormattedOutcome, InputRenderer } from '../envelope.ts'
import { toJsonText } from '../json-text.ts'
import { cleanLine, cleanText, createTextPainter } from '../terminal-text.ts'
import type { TextPainter } from '../terminal-text.ts'
import { truncateEnd } from '../truncate-text.ts'
import { renderCsv } from './csv.ts'
import { renderMarkdown } from './markdown.ts'
import { renderText } from './render-text.ts'

/** Text for a person: the message, the value, then other content; remarks on stderr. */
export function formatTextOutcome(outcome: Outcome, options: FormatOptions): FormattedOutcome {
  const { columns, color = false, renderResult = renderText } = options
  const remarks = describeOutcomeRemarks(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr: remarks }
  const message = endWithNewline(cleanText(outcome.message ?? ''))
  const stdout =
    message +
    (outcome.hidden ? '' : renderResult(outcome.result, { columns, color })) +
    renderContent(outcome.content)
  // On stderr, so that `| wc -l` counts no line for nothing.
  const empty =
    stdout === '' && !outcome.hidden && isEmptyCollection(outcome.result)
      ? `${createTextPainter(options.stderrColor ?? color)('dim', '(none)')}\n`
      : ''
  return { stdout, stderr: empty + remarks }
}

/** GitHub Markdown: the message as a paragraph, the value, then other content. */
export function formatMarkdownOutcome(outcome: Outcome, options: FormatOptions): FormattedOutcome {
  const stderr = describeOutcomeRemarks(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  const parts = [
    endWithNewline(cleanText(outcome.message ?? '')),
    outcome.hidden ? '' : renderMarkdown(outcome.result),
    ...(outcome.content ?? []).map((block) => renderContent([block])),
  ]
  return { stdout: parts.filter((part) => part !== '').join('\n'), stderr }
}

/**
 * CSV. It is read by programs, so that a hidden result is printed too, and what is no row, message
 * and other content, goes to stderr.
 */
export function formatCsvOutcome(outcome: Outcome, options: FormatOptions): FormattedOutcome {
  const stderr = describeOutcomeRemarks(outcome, options)
  if (!outcome.ok) return { stdout: '', stderr }
  const stdout = renderCsv(outcome.result, options.columns === undefined ? undefined : cleanText)
  return {
    stdout,
    stderr:
      endWithNewline(cleanText(outcome.message ?? '')) + renderContent(outcome.content) + stderr,
  }
}

function describeOutcomeRemarks(
  outcome: Outcome,
  { color = false, stderrColor = color, renderInput }: FormatOptions,
): string {
  return describeRemarks(outcome, createTextPainter(stderrColor), renderInput)
}

function isEmptyCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function endWithNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/**
 * Everything about an outcome that is not its result, in the words of a person: failures, what to
 * try, warnings, where the rest is.
 */
function describeRemarks(
  outcome: Outcome,
  paint: TextPainter,
  renderInput?: InputRenderer,
): string {
  const { meta } = outcome
  const lines = [
    ...(meta.dry_run ? [paint('cyan', 'dry run: nothing was changed')] : []),
    ...(meta.warnings ?? []).map(
      (warning) => `${paint('yellow', 'warning:')} ${cleanText(warning)}`,
    ),
    ...(outcome.ok ? [] : describeError(outcome.error, paint, renderInput)),
    ...(outcome.status === 'success'
      ? []
      : (outcome.errors ?? []).flatMap((error) => describeError(error, paint, renderInput))),
    ...(outcome.status !== 'success' && outcome.summary ? [describeSummary(outcome.summary)] : []),
    ...(meta.next_cursor === undefined
      ? []
      : [paint('dim', `more: --cursor ${cleanLine(meta.next_cursor)}`)]),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function describeError(
  error: ErrorObject,
  paint: TextPainter,
  renderInput?: InputRenderer,
): string[] {
  const { suggestion } = error
  const example =
    suggestion &&
    (getExample(suggestion, renderInput) ?? (suggestion.input && toJsonText(suggestion.input)))
  return [
    `${paint('red', 'error:')} ${cleanText(error.message)} ${paint('dim', `(${cleanLine(error.code)})`)}`,
    ...(error.field === undefined ? [] : [`  field: ${cleanLine(error.field)}`]),
    ...Object.entries(error.details ?? {}).flatMap(([key, value]) =>
      describeDetail(key, value, error.message),
    ),
    ...(suggestion ? [`${paint('cyan', 'fix:')} ${cleanText(suggestion.fix)}`] : []),
    ...(example === undefined ? [] : [`${paint('cyan', 'try:')} ${cleanText(example)}`]),
  ]
}

const MAX_DETAIL_CHARS = 200
const MAX_ISSUES = 10

// Stacks are for logs. A list of issues, as validation gives it, reads best as one line each; a
// single one, and those of a message that has a line for each, are in the message already.
function describeDetail(key: string, value: unknown, message: string): string[] {
  if (value === undefined || value === null || key === 'stack') return []
  if (Array.isArray(value) && value.length > 0 && value.every(isIssue)) {
    if (
      (value.length === 1 || message.includes('\n')) &&
      value.every((issue) => message.includes(issue.message))
    )
      return []
    const shown = value
      .slice(0, MAX_ISSUES)
      .map((issue) => `  - ${cleanLine(describeIssue(issue))}`)
    return value.length > MAX_ISSUES ? [...shown, `  … ${value.length - MAX_ISSUES} more`] : shown
  }
  const text =
    Array.isArray(value) && value.every((item) => typeof item !== 'object')
      ? value.map(String).join(', ')
      : typeof value === 'object'
        ? toJsonText(value)
        : String(value)
  return [`  ${cleanLine(key)}: ${truncateEnd(cleanLine(text), MAX_DETAIL_CHARS)}`]
}

function isIssue(
  value: unknown,
): value is { readonly message: string; readonly [key: string]: unknown } {
  return isObject(value) && typeof value['message'] === 'string'
}

function describeIssue(issue: {
  readonly message: string
  readonly [key: string]: unknown
}): string {
  const place = issue['field'] ?? issue['path']
  const name = Array.isArray(place)
    ? place.map(String).join('.')
    : typeof place === 'string'
      ? place
      : ''
  return name === '' ? issue.message : `${name}: ${issue.message}`
}

function describeSummary({
  total,
  succeeded,
  failed,
  recoverable_failures,
}: PartialSummary): string {
  const fixable =
    recoverable_failures > 0 ? ` (${recoverable_failures} can be fixed by the caller)` : ''
  return `${succeeded} of ${total} succeeded, ${failed} failed${fixable}`
}

/**
 * Content as a person reads it: texts as they are, and one line for each picture, sound or file.
 */
function renderContent(content: readonly ContentBlock[] = []): string {
  return content
    .map((block) =>
      block.type === 'text'
        ? endBlockWithNewline(cleanText(block.text))
        : `[${cleanLine(describeBlock(block))}]\n`,
    )
    .join('')
}

function describeBlock(block: Exclude<ContentBlock, { readonly type: 'text' }>): string {
  if (block.type === 'resource') {
    const { resource } = block
    const size = 'text' in resource ? Buffer.byteLength(resource.text) : base64Size(resource.blob)
    return [
      `resource ${resource.uri}`,
      ...toOptionalList(resource.mimeType),
      formatByteCount(size),
    ].join(', ')
  }
  if (block.type === 'resource_link')
    return [
      `link ${block.uri}`,
      ...toOptionalList(block.title ?? block.name),
      ...toOptionalList(block.mimeType),
      ...(block.size === undefined ? [] : [formatByteCount(block.size)]),
    ].join(', ')
  return `${block.type} ${block.mimeType}, ${formatByteCount(base64Size(block.data))}`
}

function toOptionalList(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [text]
}

function base64Size(data: string): number {
  return Math.floor((data.replace(/=+$/, '').length * 3) / 4)
}

function formatByteCount(count: number): string {
  return `${count} byte${count === 1 ? '' : 's'}`
}

function endBlockWithNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
