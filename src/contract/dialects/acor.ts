import { fileURLToPath } from 'node:url'
import { protocolName } from '../errors.ts'
import type { ProtocolLine, ToolEvent } from '../events.ts'
import type { Interaction } from '../interaction.ts'
import { isObject } from '../json.ts'
import type { Artifact, FailureOutcome, Outcome } from '../outcome.ts'
import type { DialectContext, DialectWriter } from './dialect.ts'
import { keepFacts } from './kept-code.ts'

/** The run protocol, version 1: one line per event, ending in `result`, `error` or `cancelled`. stderr is left to people. */
export const acor: DialectWriter = {
  alwaysStreams: true,
  outcome: (outcome, context) => [writeEnd(outcome, context)],
  streamEnd: (outcome, context) => [writeEnd(outcome, context)],
  start: (context) =>
    line('start', context, {
      step: context.tool,
      args: isObject(context.input) ? context.input : {},
    }),
  event: writeEvent,
  heartbeat: (context) => line('heartbeat', context, { step: context.tool }),
  question: writeQuestion,
  errorLine: () => undefined,
}

function line(
  type: string,
  context: DialectContext,
  fields: { readonly [field: string]: unknown },
): ProtocolLine {
  const trace = context.traceId === undefined ? {} : { trace_id: context.traceId }
  return { v: 1, type, ts: context.now(), run_id: context.runId, ...trace, ...fields }
}

function writeEvent(event: ToolEvent, context: DialectContext): object | undefined {
  switch (event.type) {
    case 'progress':
      return line('progress', context, {
        step: context.tool,
        ...(event.percent !== undefined && { pct: event.percent }),
        msg: event.message,
        ...(event.plan && { plan: event.plan }),
      })
    case 'log':
      return line('log', context, { level: event.level, msg: event.message })
    case 'artifact':
      return line('artifact', context, { name: event.name, uri: event.uri })
    case 'item':
      return line('item', context, { value: event.value })
    case 'session_start':
      return line('action_required', context, {
        action: 'input',
        context: { message: event.message, prompt: event.prompt },
      })
    case 'awaiting_input':
      return line('action_required', context, {
        action: 'input',
        context: { prompt: event.prompt },
      })
    case 'session_end':
      return undefined
  }
}

function writeQuestion(
  { kind, sampling, ...question }: Interaction,
  context: DialectContext,
): object {
  return line('action_required', context, { action: kind, context: { ...question, ...sampling } })
}

function writeEnd(outcome: Outcome, context: DialectContext): object {
  if (!outcome.ok) return writeFailure(outcome, context)
  const extra = {
    ...(outcome.message !== undefined && { message: outcome.message }),
    ...(outcome.content && { content: outcome.content }),
    ...(outcome.status === 'partial' && { errors: outcome.errors, summary: outcome.summary }),
  }
  return line('result', context, {
    status: outcome.status === 'partial' ? 'partial' : 'ok',
    result: outcome.result ?? null,
    artifacts: (outcome.meta.artifacts ?? []).map(writeArtifact),
    metrics: { duration_s: outcome.meta.duration_ms / 1000 },
    ...(Object.keys(extra).length > 0 && { context: extra }),
  })
}

function writeFailure({ error, errors, summary }: FailureOutcome, context: DialectContext): object {
  if (error.code === 'CANCELLED') return line('cancelled', context, { reason: error.message })
  const code = protocolName(error.code, error.retryable)
  const kept = { ...keepFacts(error, code), ...(errors && { errors }), ...(summary && { summary }) }
  return line('error', context, {
    code,
    msg: error.message,
    hint: error.suggestion?.fix ?? '',
    retryable: error.retryable,
    ...(Object.keys(kept).length > 0 && { context: kept }),
  })
}

function writeArtifact({ uri, sha256 }: Artifact): object {
  return { path: pathOf(uri), ...(sha256 !== undefined && { sha256 }) }
}

function pathOf(uri: string): string {
  if (!uri.startsWith('file:')) return uri
  try {
    return fileURLToPath(uri)
  } catch {
    return uri
  }
}
