/**
 * What a call prints for programs: the envelope of its outcome with fixed key order, and
 * notifications on stderr. Also the types of output formats.
 */

import type { LogLevel, ToolEvent } from '../../protocol/events.ts'
import type { ErrorObject, Outcome, OutcomeMeta, Suggestion } from '../../protocol/outcome.ts'
import { compact } from '../../util/values.ts'
import { toJsonText } from './json-text.ts'
import { cleanLine, cleanText } from './terminal-text.ts'

/** Writes a repaired input in the form of the surface, for instance as a command line. */
export type InputRenderer = (input: { readonly [field: string]: unknown }) => string

/**
 * The envelope of an outcome as it is printed: fixed key order, absent values left out, `hidden`
 * never shown.
 */
export function toEnvelope(outcome: Outcome, renderInput?: InputRenderer): Record<string, unknown> {
  const success = outcome.ok ? outcome : undefined
  const failure = outcome.ok ? undefined : outcome
  const errors = outcome.status === 'success' ? undefined : outcome.errors
  return compact({
    ok: outcome.ok,
    status: outcome.status,
    result: success?.result,
    message: success?.message,
    content: success?.content,
    errors: errors?.map((error) => toErrorEnvelope(error, renderInput)),
    summary: outcome.status === 'success' ? undefined : outcome.summary,
    error: failure && toErrorEnvelope(failure.error, renderInput),
    meta: orderMeta(outcome.meta),
  })
}

/** One error object in fixed key order, a repaired input also as `suggestion.example`. */
export function toErrorEnvelope(
  error: ErrorObject,
  renderInput?: InputRenderer,
): Record<string, unknown> {
  return compact({
    code: error.code,
    category: error.category,
    message: error.message,
    recoverable: error.recoverable,
    retryable: error.retryable,
    suggestion: error.suggestion && orderSuggestion(error.suggestion, renderInput),
    field: error.field,
    details: error.details,
  })
}

/** The example of a suggestion: as given, else the repaired input in the form of the surface. */
export function getExample(
  suggestion: Suggestion,
  renderInput?: InputRenderer,
): string | undefined {
  if (suggestion.example !== undefined) return suggestion.example
  return suggestion.input === undefined ? undefined : renderInput?.(suggestion.input)
}

function orderSuggestion(
  suggestion: Suggestion,
  renderInput?: InputRenderer,
): Record<string, unknown> {
  return compact({
    action: suggestion.action,
    fix: suggestion.fix,
    example: getExample(suggestion, renderInput),
    input: suggestion.input,
    applicability: suggestion.applicability,
  })
}

function orderMeta(meta: OutcomeMeta): Record<string, unknown> {
  return compact({
    tool: meta.tool,
    version: meta.version,
    duration_ms: meta.duration_ms,
    dry_run: meta.dry_run,
    warnings: meta.warnings,
    truncated: meta.truncated,
    next_cursor: meta.next_cursor,
    caller: meta.caller,
    run_id: meta.run_id,
    artifacts: meta.artifacts,
  })
}

/** A result in the words of its command; ends with a newline. */
export type ResultRenderer = (
  result: unknown,
  layout: { readonly columns: number | undefined; readonly color: boolean },
) => string

/** How an outcome is printed, besides its format. */
export type FormatOptions = {
  /** Indents JSON, for a person who looks at it. */
  readonly pretty?: boolean | undefined
  readonly color?: boolean | undefined
  /** Colour of stderr, where it differs from stdout. */
  readonly stderrColor?: boolean | undefined
  /** Width of the terminal on stdout; undefined when stdout is not one. */
  readonly columns?: number | undefined
  readonly renderInput?: InputRenderer | undefined
  /** Writes the result in text mode, where the general form does not say enough. */
  readonly renderResult?: ResultRenderer | undefined
}

/** What goes to which stream, each empty or ending with a newline. */
export type FormattedOutcome = { readonly stdout: string; readonly stderr: string }

/** What every module of an output format exports as `format`. */
export type OutcomeFormatter = (
  outcome: Outcome,
  options: FormatOptions,
) => FormattedOutcome | Promise<FormattedOutcome>

/** The output of an envelope format: a failure is printed to stderr as one line too. */
export function withErrorLine(
  outcome: Outcome,
  { renderInput }: FormatOptions,
  stdout: string,
): FormattedOutcome {
  if (outcome.ok) return { stdout, stderr: '' }
  const error = toErrorEnvelope(outcome.error, renderInput)
  return { stdout, stderr: `${toJsonText({ error })}\n` }
}

/**
 * The JSON line, without newline, that reports an event on stderr; undefined for events that are no
 * notification.
 */
export function formatNotificationJson(event: ToolEvent): string | undefined {
  switch (event.type) {
    case 'progress':
      return toJsonText(
        compact({
          type: 'notification',
          kind: 'progress',
          message: event.message,
          percent: event.percent,
          plan: event.plan,
        }),
      )
    case 'log':
      return toJsonText({
        type: 'notification',
        kind: 'log',
        level: event.level,
        message: event.message,
      })
    case 'artifact':
      return toJsonText({
        type: 'notification',
        kind: 'artifact',
        name: event.name,
        uri: event.uri,
      })
    default:
      return undefined
  }
}

/** The same for a person, where there is no terminal to draw on. */
export function formatNotificationText(event: ToolEvent): string | undefined {
  switch (event.type) {
    case 'progress':
      return `${event.percent === undefined ? '' : `${formatPercent(event.percent)} `}${cleanLine(event.message)}`
    case 'log':
      return `${LEVEL_PREFIXES[event.level] ?? ''}${cleanText(event.message)}`
    case 'artifact':
      return `artifact: ${cleanLine(event.name)} ${cleanLine(event.uri)}`
    default:
      return undefined
  }
}

/** A true percentage as text; nonsense gives ''. */
export function formatPercent(percent: number): string {
  return Number.isFinite(percent) ? `${Math.round(Math.min(100, Math.max(0, percent)))}%` : ''
}

const LEVEL_PREFIXES: { readonly [level in LogLevel]: string } = {
  debug: 'debug: ',
  info: '',
  warn: 'warning: ',
  error: 'error: ',
}
