import { isObject } from '../../../contract/json.ts'
import type { ErrorObject, Outcome, PartialSummary } from '../../../contract/outcome.ts'
import type { Paint } from './color.ts'
import { exampleOf } from './envelope.ts'
import type { RenderInput } from './envelope.ts'
import { toJsonText } from './json-text.ts'
import { cleanLine, cleanText } from './text/clean.ts'
import { truncateEnd } from './text/truncate.ts'

/** Everything about an outcome that is not its result, in the words of a person: failures, what to try, warnings, where the rest is. */
export function describeRemarks(outcome: Outcome, paint: Paint, renderInput?: RenderInput): string {
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

function describeError(error: ErrorObject, paint: Paint, renderInput?: RenderInput): string[] {
  const { suggestion } = error
  const example =
    suggestion &&
    (exampleOf(suggestion, renderInput) ?? (suggestion.input && toJsonText(suggestion.input)))
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

const LONGEST_DETAIL = 200
const MOST_ISSUES = 10

// Stacks are for logs. A list of issues, as validation gives it, reads best as one line each; a single one, and those of a message that has a line for each, are in the message already.
function describeDetail(key: string, value: unknown, message: string): string[] {
  if (value === undefined || value === null || key === 'stack') return []
  if (Array.isArray(value) && value.length > 0 && value.every(isIssue)) {
    if (
      (value.length === 1 || message.includes('\n')) &&
      value.every((issue) => message.includes(issue.message))
    )
      return []
    const shown = value
      .slice(0, MOST_ISSUES)
      .map((issue) => `  - ${cleanLine(describeIssue(issue))}`)
    return value.length > MOST_ISSUES ? [...shown, `  … ${value.length - MOST_ISSUES} more`] : shown
  }
  const text =
    Array.isArray(value) && value.every((item) => typeof item !== 'object')
      ? value.map(String).join(', ')
      : typeof value === 'object'
        ? toJsonText(value)
        : String(value)
  return [`  ${cleanLine(key)}: ${truncateEnd(cleanLine(text), LONGEST_DETAIL)}`]
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
