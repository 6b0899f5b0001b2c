/**
 * The parts of an outcome besides its result, in words for a person: messages, content, errors and
 * how to fix them, warnings. The formats that print a bare result share them.
 */

import type { ContentBlock, ErrorObject, Outcome, PartialSummary } from '../../protocol/outcome.ts'
import { isObject } from '../../util/values.ts'
import type { FormatOptions, InputRenderer } from './envelope.ts'
import { getExample } from './envelope.ts'
import { toJsonText } from './json-text.ts'
import type { TextPainter } from './terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from './terminal-text.ts'
import { truncateEnd } from './text-layout.ts'

const MAX_DETAIL_CHARS = 200
const MAX_ISSUES = 10

/** Errors, fixes, warnings and where the rest of the result is, a line each. */
export function describeRemarks(
  outcome: Outcome,
  { color = false, stderrColor = color, renderInput }: FormatOptions,
): string {
  const paint = createTextPainter(stderrColor)
  const { dry_run, warnings = [], next_cursor } = outcome.meta
  const lines: string[] = []
  if (dry_run) lines.push(paint('cyan', 'dry run: nothing was changed'))
  for (const warning of warnings) lines.push(`${paint('yellow', 'warning:')} ${cleanText(warning)}`)
  if (!outcome.ok) lines.push(...describeError(outcome.error, paint, renderInput))
  if (outcome.status !== 'success') {
    for (const error of outcome.errors ?? [])
      lines.push(...describeError(error, paint, renderInput))
    if (outcome.summary) lines.push(describeSummary(outcome.summary))
  }
  if (next_cursor !== undefined)
    lines.push(paint('dim', `more: --cursor ${cleanLine(next_cursor)}`))
  return lines.map((line) => `${line}\n`).join('')
}

function describeError(
  error: ErrorObject,
  paint: TextPainter,
  renderInput?: InputRenderer,
): string[] {
  const { message, code, field, details = {}, suggestion } = error
  const lines = [
    `${paint('red', 'error:')} ${cleanText(message)} ${paint('dim', `(${cleanLine(code)})`)}`,
  ]
  if (field !== undefined) lines.push(`  field: ${cleanLine(field)}`)
  for (const [key, value] of Object.entries(details))
    lines.push(...describeDetail(key, value, message))
  if (!suggestion) return lines
  lines.push(`${paint('cyan', 'fix:')} ${cleanText(suggestion.fix)}`)
  const example =
    getExample(suggestion, renderInput) ?? (suggestion.input && toJsonText(suggestion.input))
  if (example !== undefined) lines.push(`${paint('cyan', 'try:')} ${cleanText(example)}`)
  return lines
}

type DescribedIssue = { readonly message: string; readonly [key: string]: unknown }

// Stacks are for logs. A list of issues, as validation returns it, reads best as one line each. A
// single issue, and those of a message with a line for each, are in the message already.
function describeDetail(key: string, value: unknown, message: string): string[] {
  if (value === undefined || value === null || key === 'stack') return []
  if (Array.isArray(value) && value.length > 0 && value.every(isIssue)) {
    const isRepeated = value.length === 1 || message.includes('\n')
    if (isRepeated && value.every((issue) => message.includes(issue.message))) return []
    const shown = value
      .slice(0, MAX_ISSUES)
      .map((issue) => `  - ${cleanLine(describeIssue(issue))}`)
    return value.length > MAX_ISSUES ? [...shown, `  … ${value.length - MAX_ISSUES} more`] : shown
  }
  const text = cleanLine(formatDetail(value))
  return [`  ${cleanLine(key)}: ${truncateEnd(text, MAX_DETAIL_CHARS)}`]
}

function formatDetail(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return value.map(String).join(', ')
  return typeof value === 'object' ? toJsonText(value) : String(value)
}

function isIssue(value: unknown): value is DescribedIssue {
  return isObject(value) && typeof value['message'] === 'string'
}

function describeIssue(issue: DescribedIssue): string {
  const place = issue['field'] ?? issue['path']
  const name = Array.isArray(place) ? place.map(String).join('.') : place
  return typeof name === 'string' && name !== '' ? `${name}: ${issue.message}` : issue.message
}

function describeSummary(summary: PartialSummary): string {
  const { total, succeeded, failed, recoverable_failures: fixable } = summary
  const note = fixable > 0 ? ` (${fixable} can be fixed by the caller)` : ''
  return `${succeeded} of ${total} succeeded, ${failed} failed${note}`
}

/** The message of an outcome as lines. */
export function renderMessage({ message = '' }: { readonly message?: string }): string {
  return endWithNewline(cleanText(message))
}

/** Content as a person reads it: texts, and one line for each picture, sound or file. */
export function renderContent(content: readonly ContentBlock[] = []): string {
  return content.map(renderBlock).join('')
}

function renderBlock(block: ContentBlock): string {
  return block.type === 'text'
    ? endWithNewline(cleanText(block.text))
    : `[${cleanLine(describeBlock(block))}]\n`
}

function describeBlock(block: Exclude<ContentBlock, { readonly type: 'text' }>): string {
  if (block.type === 'resource') {
    const { resource } = block
    const size = 'text' in resource ? Buffer.byteLength(resource.text) : base64Size(resource.blob)
    return joinFacts(`resource ${resource.uri}`, resource.mimeType, formatByteCount(size))
  }
  if (block.type === 'resource_link')
    return joinFacts(
      `link ${block.uri}`,
      block.title ?? block.name,
      block.mimeType,
      block.size === undefined ? undefined : formatByteCount(block.size),
    )
  return `${block.type} ${block.mimeType}, ${formatByteCount(base64Size(block.data))}`
}

function joinFacts(...facts: readonly (string | undefined)[]): string {
  return facts.filter((fact) => fact !== undefined).join(', ')
}

function base64Size(data: string): number {
  return Math.floor((data.replace(/=+$/, '').length * 3) / 4)
}

function formatByteCount(count: number): string {
  return `${count} byte${count === 1 ? '' : 's'}`
}

/** The text with a line feed at its end; an empty text stays empty. */
export function endWithNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
