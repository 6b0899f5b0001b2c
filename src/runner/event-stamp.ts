/**
 * Gives events their envelope (v, ts, run_id, trace_id, seq, attempt) and removes secrets from
 * lines. On the hot path of chatty tools: lines are completed in place instead of being serialized
 * again.
 */

import type { RunEvent } from '../protocol/run-state.ts'
import { EVENT_ENVELOPE_FIELDS } from '../protocol/run-state.ts'
import type { JsonObject } from '../util/values.ts'
import { parseJsonObject } from '../util/values.ts'

/** What the runner says, or what a tool said, before it is stamped. */
export type UnstampedEvent = { readonly type: string; readonly [field: string]: unknown }

/** What every line of an attempt says of itself. */
type EventStamp = {
  readonly runId: string
  readonly traceId: string | undefined
  readonly attempt: number
  /** The trace as it stands in a line. */ readonly trace: string
  /** And the run. */ readonly run: string
}

type StampedEvent = { readonly event: RunEvent; readonly line: string }

const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const ENVELOPE_KEY_PATTERN = /"(?:v|type|ts|run_id|trace_id|seq|attempt)"|\\u/g
const TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/

/** What the lines of an attempt have in common. */
export function createStamp(
  runId: string,
  traceId: string | undefined,
  attempt: number,
): EventStamp {
  return {
    runId,
    traceId,
    attempt,
    trace: traceId === undefined ? '' : `,"trace_id":${JSON.stringify(traceId)}`,
    run: `"run_id":${JSON.stringify(runId)},`,
  }
}

/**
 * Gives an event its place in a run. Where nothing in it is ours to say, the event is stamped in
 * place, and `text`, the line that it was parsed from, is kept as it is. Throws nothing.
 */
export function stampEvent(
  event: UnstampedEvent,
  seq: number,
  place: EventStamp,
  text?: string,
): StampedEvent {
  let stamped: StampedEvent | undefined
  if (isEnvelopeComplete(event, place)) stamped = stampInPlace(event, seq, place, text)
  else if (text !== undefined) stamped = completeInPlace(event, seq, place, text)
  return stamped ?? rewriteEvent(event, seq, place)
}

function isEnvelopeComplete(
  { v, ts, run_id, trace_id, seq, attempt }: UnstampedEvent,
  { runId }: EventStamp,
): boolean {
  return (
    v === 1 &&
    run_id === runId &&
    seq === undefined &&
    attempt === undefined &&
    (trace_id === undefined || typeof trace_id === 'string') &&
    isTimestamp(ts)
  )
}

// Writing a value costs more than reading it, and a tool that floods has written most of a line
// already.
function stampInPlace(
  event: UnstampedEvent,
  seq: number,
  { traceId, attempt, trace }: EventStamp,
  text: string | undefined,
): StampedEvent | undefined {
  const body = text !== undefined && hasEnvelopeKeysOnce(text, event) ? text : tryStringify(event)
  if (body === undefined || body.length <= 2 || !Object.isExtensible(event)) return undefined
  const stamped: { [field: string]: unknown } = event
  const hasTrace = trace === '' || event['trace_id'] !== undefined
  if (!hasTrace) stamped['trace_id'] = traceId
  stamped['seq'] = seq
  stamped['attempt'] = attempt
  return {
    event: stamped as unknown as RunEvent,
    line: `${body.slice(0, -1)}${hasTrace ? '' : trace},"seq":${seq},"attempt":${attempt}}\n`,
  }
}

// Most tools leave to us what we know as well.
function completeInPlace(
  event: UnstampedEvent,
  seq: number,
  place: EventStamp,
  text: string,
): StampedEvent | undefined {
  const { v, ts, run_id, trace_id } = event
  if (
    (trace_id !== undefined && typeof trace_id !== 'string') ||
    (v !== undefined && v !== 1) ||
    (run_id !== undefined && run_id !== place.runId) ||
    (ts !== undefined && !isTimestamp(ts)) ||
    !hasEnvelopeKeysOnce(text, event)
  )
    return undefined
  const stamped: { [field: string]: unknown } = event
  let missing = '{'
  if (v === undefined) {
    stamped['v'] = 1
    missing += '"v":1,'
  }
  if (ts === undefined) {
    const now = getIsoNow()
    stamped['ts'] = now
    missing += `"ts":"${now}",`
  }
  if (run_id === undefined) {
    stamped['run_id'] = place.runId
    missing += place.run
  }
  const hasTrace = place.trace === '' || trace_id !== undefined
  if (!hasTrace) stamped['trace_id'] = place.traceId
  stamped['seq'] = seq
  stamped['attempt'] = place.attempt
  return {
    event: stamped as unknown as RunEvent,
    line: `${missing}${text.slice(1, -1)}${hasTrace ? '' : place.trace},"seq":${seq},"attempt":${place.attempt}}\n`,
  }
}

// A key that stands twice means one thing to us and perhaps another to somebody else. Each of ours
// is found at least once, plain or escaped, so that the right count means exactly once.
function hasEnvelopeKeysOnce(text: string, { v, ts, run_id, trace_id }: UnstampedEvent): boolean {
  if (text.charCodeAt(0) !== OPEN_BRACE || text.charCodeAt(text.length - 1) !== CLOSE_BRACE)
    return false
  let found = 0
  for (ENVELOPE_KEY_PATTERN.lastIndex = 0; ENVELOPE_KEY_PATTERN.test(text);) found += 1
  return (
    found ===
    1 +
      Number(v !== undefined) +
      Number(ts !== undefined) +
      Number(run_id !== undefined) +
      Number(trace_id !== undefined)
  )
}

function rewriteEvent(
  event: UnstampedEvent,
  seq: number,
  { runId, traceId, attempt }: EventStamp,
): StampedEvent {
  const { type, ts, trace_id: trace } = event
  const stamped: { [field: string]: unknown } = {
    v: 1,
    type,
    ts: isTimestamp(ts) ? ts : getIsoNow(),
    run_id: runId,
  }
  if (typeof trace === 'string') stamped['trace_id'] = trace
  else if (traceId !== undefined) stamped['trace_id'] = traceId
  const head = { ...stamped }
  for (const [name, value] of Object.entries(event))
    if (!EVENT_ENVELOPE_FIELDS.includes(name))
      Object.defineProperty(stamped, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      })
  const line = tryStringify(Object.assign(stamped, { seq, attempt }))
  if (line !== undefined) return { event: stamped as unknown as RunEvent, line: `${line}\n` }
  const told = {
    ...head,
    problem: 'the rest of this event cannot be written as JSON',
    seq,
    attempt,
  }
  return { event: told as unknown as RunEvent, line: `${JSON.stringify(told)}\n` }
}

function tryStringify(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && TIMESTAMP_PATTERN.test(value)
}

let cachedMs = 0
let cachedIso = ''

// A flood of events asks for the same millisecond again and again.
function getIsoNow(): string {
  const now = Date.now()
  if (now !== cachedMs) [cachedMs, cachedIso] = [now, new Date(now).toISOString()]
  return cachedIso
}

/**
 * What the readers of a log live on; a secret that happens to be one of these words must not take
 * it away.
 */
const PROTECTED_FIELDS = ['v', 'type', 'ts', 'run_id', 'seq', 'attempt', 'state', 'rc'] as const

/** Redacts lines of JSON such that each stays a line of JSON, of the same place in the run. */
export function createEventLineRedactor(
  redact: (text: string) => string,
): (text: string) => string {
  return (text) => {
    if (redact(text) === text) return text
    return text
      .slice(0, -1)
      .split('\n')
      .map((line) => `${redactEventLine(line, redact)}\n`)
      .join('')
  }
}

function redactEventLine(line: string, redact: (text: string) => string): string {
  const safe = redact(line)
  if (safe === line) return line
  const [before, after] = [
    parseJsonObject(line),
    safe.includes('\n') ? undefined : parseJsonObject(safe),
  ]
  if (before && after && PROTECTED_FIELDS.every((name) => before[name] === after[name])) return safe
  return JSON.stringify({ ...pickProtectedFields(before ?? {}), redacted: true })
}

function pickProtectedFields(event: JsonObject): JsonObject {
  return Object.fromEntries(
    PROTECTED_FIELDS.flatMap((name) => (Object.hasOwn(event, name) ? [[name, event[name]]] : [])),
  )
}
