import { fileURLToPath } from 'node:url'
import { compact, isObject } from '../../util/values.ts'
import { findErrorRow, toProtocolCode } from '../errors.ts'
import type { Interaction, ProtocolLine, ToolEvent } from '../events.ts'
import type { Artifact, FailureOutcome, Outcome } from '../outcome.ts'
import type { DialectContext, DialectWriter } from '../output-protocols.ts'

/**
 * The run protocol, version 1: one line per event, ending in `result`, `error` or `cancelled`.
 * stderr is left to people.
 */
export const dialect: DialectWriter = {
  alwaysStreams: true,
  outcome: (outcome, context) => [writeEndLine(outcome, context)],
  streamEnd: (outcome, context) => [writeEndLine(outcome, context)],
  start: (context) =>
    createLine('start', context, {
      step: context.tool,
      args: isObject(context.input) ? context.input : {},
    }),
  event: writeEventLine,
  heartbeat: (context) => createLine('heartbeat', context, { step: context.tool }),
  question: writeActionLine,
  errorLine: () => undefined,
}

function createLine(
  type: string,
  context: DialectContext,
  fields: { readonly [field: string]: unknown },
): ProtocolLine {
  const { now, runId, traceId } = context
  return compact({ v: 1, type, ts: now(), run_id: runId, trace_id: traceId, ...fields })
}

function writeEventLine(event: ToolEvent, context: DialectContext): object | undefined {
  switch (event.type) {
    case 'progress':
      return createLine('progress', context, {
        step: context.tool,
        pct: event.percent,
        msg: event.message,
        plan: event.plan,
      })
    case 'log':
      return createLine('log', context, { level: event.level, msg: event.message })
    case 'artifact':
      return createLine('artifact', context, { name: event.name, uri: event.uri })
    case 'item':
      return createLine('item', context, { value: event.value })
    case 'session_start':
      return createLine('action_required', context, {
        action: 'input',
        context: { message: event.message, prompt: event.prompt },
      })
    case 'awaiting_input':
      return createLine('action_required', context, {
        action: 'input',
        context: { prompt: event.prompt },
      })
    case 'session_end':
      return undefined
  }
}

function writeActionLine(
  { kind, sampling, ...question }: Interaction,
  context: DialectContext,
): object {
  return createLine('action_required', context, {
    action: kind,
    context: { ...question, ...sampling },
  })
}

function writeEndLine(outcome: Outcome, context: DialectContext): object {
  if (!outcome.ok) return writeFailureLine(outcome, context)
  const { message, content, result, meta } = outcome
  const { errors, summary } = outcome.status === 'partial' ? outcome : {}
  return createLine('result', context, {
    status: outcome.status === 'partial' ? 'partial' : 'ok',
    result: result ?? null,
    artifacts: (meta.artifacts ?? []).map(writeArtifact),
    metrics: { duration_s: meta.duration_ms / 1000 },
    context: toOptionalObject({ message, content, errors, summary }),
  })
}

function writeFailureLine(
  { error, errors, summary }: FailureOutcome,
  context: DialectContext,
): object {
  if (error.code === 'CANCELLED') return createLine('cancelled', context, { reason: error.message })
  const code = toProtocolCode(error.code, error.retryable)
  return createLine('error', context, {
    code,
    msg: error.message,
    hint: error.suggestion?.fix ?? '',
    retryable: error.retryable,
    context: toOptionalObject({ ...toLosslessDetails(error, code), errors, summary }),
  })
}

function writeArtifact({ uri, sha256 }: Artifact): object {
  return compact({ path: toFilePath(uri), sha256 })
}

function toFilePath(uri: string): string {
  if (!uri.startsWith('file:')) return uri
  try {
    return fileURLToPath(uri)
  } catch {
    return uri
  }
}

type ErrorDetails = { readonly [key: string]: unknown }

/**
 * The details of an error together with what its written form would lose: the code, where it reads
 * back as another one, and the field.
 */
export function toLosslessDetails(
  error: { readonly code: string; readonly field?: string; readonly details?: ErrorDetails },
  written: string,
): ErrorDetails | undefined {
  const readsBackAs = findErrorRow(written)?.code ?? written
  const code = readsBackAs === error.code ? undefined : error.code
  return toOptionalObject({ ...error.details, ...compact({ field: error.field, code }) })
}

function toOptionalObject(fields: ErrorDetails): ErrorDetails | undefined {
  const kept = compact(fields)
  return Object.keys(kept).length > 0 ? kept : undefined
}
