import type { RunEvent } from '../../contract/run-state.ts'

/** What the runner says, or what a tool said, before it is stamped. */
export type UnstampedEvent = { readonly type: string; readonly [field: string]: unknown }

/** What every line of an attempt says of itself. */
export type Stamp = {
  readonly runId: string
  readonly traceId: string | undefined
  readonly attempt: number
  /** The trace as it stands in a line. */ readonly trace: string
  /** And the run. */ readonly run: string
}

export type Stamped = { readonly event: RunEvent; readonly line: string }

const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const ENVELOPE: readonly string[] = ['v', 'type', 'ts', 'run_id', 'trace_id', 'seq', 'attempt']
const OUR_KEYS = /"(?:v|type|ts|run_id|trace_id|seq|attempt)"|\\u/g
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/

/** What the lines of an attempt have in common. */
export function stampOf(runId: string, traceId: string | undefined, attempt: number): Stamp {
  return {
    runId,
    traceId,
    attempt,
    trace: traceId === undefined ? '' : `,"trace_id":${JSON.stringify(traceId)}`,
    run: `"run_id":${JSON.stringify(runId)},`,
  }
}

/** Gives an event its place in a run. Where nothing in it is ours to say, the event is stamped in place, and `text`, the line that it was parsed from, is kept as it is. Throws nothing. */
export function stamp(event: UnstampedEvent, seq: number, place: Stamp, text?: string): Stamped {
  return (
    (isOurs(event, place)
      ? stampInPlace(event, seq, place, text)
      : text === undefined
        ? undefined
        : complete(event, seq, place, text)) ?? writeAnew(event, seq, place)
  )
}

function isOurs(
  { v, ts, run_id, trace_id, seq, attempt }: UnstampedEvent,
  { runId }: Stamp,
): boolean {
  return (
    v === 1 &&
    run_id === runId &&
    seq === undefined &&
    attempt === undefined &&
    (trace_id === undefined || typeof trace_id === 'string') &&
    isTime(ts)
  )
}

// Writing a value costs more than reading it, and a tool that floods has written most of a line already.
function stampInPlace(
  event: UnstampedEvent,
  seq: number,
  { traceId, attempt, trace }: Stamp,
  text: string | undefined,
): Stamped | undefined {
  const body = text !== undefined && hasOurKeysOnce(text, event) ? text : stringify(event)
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
function complete(
  event: UnstampedEvent,
  seq: number,
  place: Stamp,
  text: string,
): Stamped | undefined {
  const { v, ts, run_id, trace_id } = event
  if (
    (trace_id !== undefined && typeof trace_id !== 'string') ||
    (v !== undefined && v !== 1) ||
    (run_id !== undefined && run_id !== place.runId) ||
    (ts !== undefined && !isTime(ts)) ||
    !hasOurKeysOnce(text, event)
  )
    return undefined
  const stamped: { [field: string]: unknown } = event
  let missing = '{'
  if (v === undefined) {
    stamped['v'] = 1
    missing += '"v":1,'
  }
  if (ts === undefined) {
    const now = present()
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

// A key that stands twice means one thing to us and perhaps another to somebody else. Each of ours is found at least once, plain or escaped, so that the right count means exactly once.
function hasOurKeysOnce(text: string, { v, ts, run_id, trace_id }: UnstampedEvent): boolean {
  if (text.charCodeAt(0) !== OPEN_BRACE || text.charCodeAt(text.length - 1) !== CLOSE_BRACE)
    return false
  let found = 0
  for (OUR_KEYS.lastIndex = 0; OUR_KEYS.test(text);) found += 1
  return (
    found ===
    1 +
      Number(v !== undefined) +
      Number(ts !== undefined) +
      Number(run_id !== undefined) +
      Number(trace_id !== undefined)
  )
}

function writeAnew(
  event: UnstampedEvent,
  seq: number,
  { runId, traceId, attempt }: Stamp,
): Stamped {
  const { type, ts, trace_id: trace } = event
  const stamped: { [field: string]: unknown } = {
    v: 1,
    type,
    ts: isTime(ts) ? ts : present(),
    run_id: runId,
  }
  if (typeof trace === 'string') stamped['trace_id'] = trace
  else if (traceId !== undefined) stamped['trace_id'] = traceId
  const head = { ...stamped }
  for (const [name, value] of Object.entries(event))
    if (!ENVELOPE.includes(name))
      Object.defineProperty(stamped, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      })
  const line = stringify(Object.assign(stamped, { seq, attempt }))
  if (line !== undefined) return { event: stamped as unknown as RunEvent, line: `${line}\n` }
  const told = {
    ...head,
    problem: 'the rest of this event cannot be written as JSON',
    seq,
    attempt,
  }
  return { event: told as unknown as RunEvent, line: `${JSON.stringify(told)}\n` }
}

function stringify(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && TIME.test(value)
}

let [moment, written] = [0, '']

// A flood asks for the same millisecond again and again.
function present(): string {
  const now = Date.now()
  if (now !== moment) [moment, written] = [now, new Date(now).toISOString()]
  return written
}
