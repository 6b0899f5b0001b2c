/**
 * Converts the record of a run into OpenTelemetry spans (OTLP/JSON).
 */

import { createHash } from 'node:crypto'
import type { RunEvent } from '../protocol/run-state.ts'
import { EVENT_ENVELOPE_FIELDS } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject, parseJsonObject } from '../util/values.ts'
import type { RunRequest } from './request.ts'
import { parseTraceparent } from './trace-context.ts'

/** A message of OTLP/JSON for `/v1/traces`. */
export type OtlpTraces = {
  readonly resourceSpans: readonly [
    {
      readonly resource: object
      readonly scopeSpans: readonly [
        { readonly scope: object; readonly spans: readonly OtlpSpan[] },
      ]
    },
  ]
}

type TracedRun = Pick<
  RunRequest,
  'run_id' | 'tool' | 'version' | 'created' | 'trace_id' | 'traceparent' | 'parent_span_id'
>

const ERROR_STATUS = { code: 2 } as const
const OK_STATUS = { code: 1 } as const

/**
 * The spans of a run, read from its log: the run, each attempt, each task and each question. The
 * same log gives the same spans, so that an export can be repeated.
 */
export async function exportTrace(
  request: TracedRun,
  events: AsyncIterable<RunEvent> | Iterable<RunEvent>,
): Promise<OtlpTraces> {
  const place = parseTraceparent(request.traceparent)
  const traceId = place?.traceId ?? hashToHex(request.trace_id, 32)
  const runSpan = place?.spanId ?? hashToHex(request.run_id, 16)
  const created = toNanoseconds(request.created) ?? '0'
  const run = startSpan({
    traceId,
    spanId: runSpan,
    parentSpanId: request.parent_span_id,
    name: `run ${request.tool}`,
    start: created,
    about: {
      'toolable.run_id': request.run_id,
      'toolable.tool': request.tool,
      'toolable.tool_version': request.version,
    },
  })
  const spans: OtlpSpan[] = []
  const inner = new Map<string, OpenSpan>()
  let attempt: OpenSpan | undefined
  let last = created
  let ending: RunEvent | undefined
  let failure: string | undefined

  const begin = (
    key: string,
    name: string,
    parent: string,
    start: string,
    about: { readonly [key: string]: unknown },
  ): OpenSpan =>
    startSpan({
      traceId,
      spanId: hashToHex(`${request.run_id} ${key}`, 16),
      parentSpanId: parent,
      name,
      start,
      about,
    })
  const open = (
    key: string,
    name: string,
    at: string,
    about: { readonly [key: string]: unknown },
  ): void => {
    if (attempt && !inner.has(key))
      inner.set(key, begin(`${attempt.spanId} ${key}`, name, attempt.spanId, at, about))
  }
  const close = (
    key: string,
    at: string,
    status: OtlpSpan['status'],
    more?: { readonly [key: string]: unknown },
  ): void => {
    const span = inner.get(key)
    if (!span) return
    inner.delete(key)
    spans.push(span.end(at, status, more))
  }
  const endAttempt = (at: string, event?: RunEvent): void => {
    for (const key of [...inner.keys()]) close(key, at, ERROR_STATUS)
    if (attempt)
      spans.push(
        attempt.end(at, getSpanStatus(event, failure), {
          'toolable.rc': event?.['rc'],
          'toolable.state': event?.['state'] ?? 'unfinished',
        }),
      )
    attempt = undefined
  }

  for await (const event of events) {
    const at = toNanoseconds(event.ts) ?? last
    last = BigInt(at) > BigInt(last) ? at : last
    const { type } = event
    const task =
      typeof event['task_id'] === 'string' && type.startsWith('task_')
        ? `task ${event['task_id']}`
        : undefined
    if (type === 'runner_start') {
      endAttempt(at)
      failure = undefined
      attempt = begin(`attempt ${event.attempt}`, `attempt ${event.attempt}`, runSpan, at, {
        'toolable.attempt': event.attempt,
        'toolable.level': event['level'],
      })
    } else if (type === 'runner_end') {
      endAttempt(at, event)
      ending = event
    } else {
      ;((task !== undefined && inner.get(task)) || (attempt ?? run)).note(event)
      if (type === 'error' || type === 'runner_error')
        failure = [event['code'], event['msg'] ?? event['message']]
          .filter((part) => typeof part === 'string')
          .join(': ')
      if (task !== undefined && (type === 'task_submitted' || type === 'task_started'))
        open(task, task, at, { 'toolable.task_id': event['task_id'] })
      else if (task !== undefined && (type === 'task_done' || type === 'task_error'))
        close(task, at, type === 'task_done' ? OK_STATUS : ERROR_STATUS)
      const { interaction, answer } = event
      if (type === 'action_required' && isObject(interaction))
        open(`question ${String(interaction['id'])}`, 'question', at, {
          'toolable.interaction': interaction['id'],
          'toolable.prompt': interaction['prompt'],
        })
      else if (type === 'runner_log' && isObject(answer))
        close(`question ${String(answer['id'])}`, at, OK_STATUS, {
          'toolable.answered_by': answer['by'],
        })
    }
  }
  endAttempt(last)
  const whole = run.end(last, getSpanStatus(ending, failure), {
    'toolable.state': ending?.['state'] ?? 'unfinished',
  })
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes({ 'service.name': request.tool }) },
        scopeSpans: [{ scope: { name: 'toolable' }, spans: [whole, ...spans] }],
      },
    ],
  }
}

function getSpanStatus(end: RunEvent | undefined, failure: string | undefined): OtlpSpan['status'] {
  if (!end) return {}
  return end['state'] === 'completed'
    ? OK_STATUS
    : {
        code: 2,
        message:
          failure !== undefined && failure !== '' ? failure.slice(0, 1024) : String(end['state']),
      }
}

// Made of what is known, not of chance.
function hashToHex(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

/** Events that a span carries; the others are counted. */
const MAX_SPAN_EVENTS = 1000

/** A span whose end has not been read yet. */
type OpenSpan = {
  readonly spanId: string
  note(event: RunEvent): void
  end(at: string, status: OtlpSpan['status'], more?: { readonly [key: string]: unknown }): OtlpSpan
}

type SpanStart = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  readonly name: string
  readonly start: string
  readonly about: { readonly [key: string]: unknown }
}

/** Begins a span. */
function startSpan({ traceId, spanId, parentSpanId, name, start, about }: SpanStart): OpenSpan {
  const events: OtlpEvent[] = []
  let dropped = 0
  return {
    spanId,
    note(event) {
      const fields = Object.fromEntries(
        Object.entries(event).filter(([key]) => !EVENT_ENVELOPE_FIELDS.includes(key)),
      )
      if (events.length < MAX_SPAN_EVENTS)
        events.push({
          timeUnixNano: toNanoseconds(event.ts) ?? start,
          name: event.type,
          attributes: toAttributes({ ...fields, 'toolable.seq': event.seq }),
        })
      else dropped += 1
    },
    end: (at, status, more = {}) =>
      compact({
        traceId,
        spanId,
        parentSpanId,
        name,
        kind: 1,
        startTimeUnixNano: start,
        // Clocks go back; a span does not.
        endTimeUnixNano: BigInt(at) < BigInt(start) ? start : at,
        attributes: toAttributes({ ...about, ...more }),
        events,
        droppedEventsCount: dropped > 0 ? dropped : undefined,
        status,
      }),
  }
}

/** A value in the JSON form of OTLP. */
type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
type OtlpAttribute = { readonly key: string; readonly value: OtlpValue }
type OtlpEvent = {
  readonly timeUnixNano: string
  readonly name: string
  readonly attributes: readonly OtlpAttribute[]
}
/** A span in the JSON form of OTLP: ids as hexadecimal digits, times as texts of nanoseconds. */
export type OtlpSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: 1
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly OtlpAttribute[]
  readonly events: readonly OtlpEvent[]
  readonly droppedEventsCount?: number
  /** 1 is right, 2 is wrong. */
  readonly status: { readonly code?: 1 | 2; readonly message?: string }
}

const MAX_ATTRIBUTE_LENGTH = 1024

/** Attributes of an object; what is no single value becomes JSON, and what is long is cut. */
function toAttributes(fields: { readonly [key: string]: unknown }): readonly OtlpAttribute[] {
  return Object.entries(fields).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: toOtlpValue(value) }],
  )
}

/** Nanoseconds of a time as events tell it; undefined for what is none. */
function toNanoseconds(ts: unknown): string | undefined {
  const milliseconds = typeof ts === 'string' ? Date.parse(ts) : Number.NaN
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? `${milliseconds}000000` : undefined
}

function toOtlpValue(value: unknown): OtlpValue {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return {
    stringValue: (typeof value === 'string' ? value : JSON.stringify(value)).slice(
      0,
      MAX_ATTRIBUTE_LENGTH,
    ),
  }
}

/**
 * Sends spans to an OpenTelemetry collector. Loaded only for `runs export --endpoint`.
 */

const SEND_TIMEOUT_MS = 10_000
const MAX_RESPONSE_CHARS = 64 * 1024

/**
 * Sends spans to a collector, to exactly the address that was given. Throws INVALID_INPUT for what
 * is no address, DEPENDENCY where the collector does not take them.
 */
export async function sendTrace(
  endpoint: string,
  traces: OtlpTraces,
  signal: AbortSignal,
): Promise<void> {
  const url = parseEndpoint(endpoint)
  const refuse = (why: string, cause?: unknown): ToolError =>
    new ToolError(
      'DEPENDENCY',
      `the collector at ${url.origin} ${why}`,
      compact({
        suggestion: `curl -i -H 'content-type: application/json' -d '{"resourceSpans":[]}' ${url.href}`,
        cause,
      }),
    )
  const timeout = AbortSignal.timeout(SEND_TIMEOUT_MS)
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(traces),
    redirect: 'error',
    signal: AbortSignal.any([signal, timeout]),
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw refuse(
      timeout.aborted
        ? `did not answer within ${SEND_TIMEOUT_MS / 1000} s`
        : `cannot be reached (${((error as Error).cause as Error | undefined)?.message ?? (error as Error).message})`,
      error,
    )
  })
  if (!answer.ok) {
    await answer.body?.cancel()
    throw refuse(`answered ${answer.status}`)
  }
  const rejected = parseJsonObject(await readResponseStart(answer))?.['partialSuccess'] as
    { readonly rejectedSpans?: unknown; readonly errorMessage?: unknown } | undefined
  if (rejected && Number(rejected.rejectedSpans) > 0)
    throw refuse(
      `refused ${Number(rejected.rejectedSpans)} spans: ${String(rejected.errorMessage).slice(0, 200)}`,
    )
}

function parseEndpoint(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ToolError(
    'INVALID_INPUT',
    `'${endpoint.slice(0, 100)}' is not the address of a collector`,
    { field: 'endpoint', suggestion: '--endpoint http://127.0.0.1:4318/v1/traces' },
  )
}

async function readResponseStart(answer: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_RESPONSE_CHARS) break
  }
  return text
}
