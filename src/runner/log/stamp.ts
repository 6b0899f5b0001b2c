import type { RunEvent } from '../../contract/run-state.ts'

/** What the runner says, or what a tool said, before it is stamped. */
export type UnstampedEvent = { readonly type: string; readonly [field: string]: unknown }

/** What every line of a run says of itself. */
export type Stamp = { readonly runId: string; readonly traceId: string | undefined; readonly seq: number; readonly attempt: number }

export type Stamped = { readonly event: RunEvent; readonly line: string }

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/
// A key that stands twice means one thing to us and perhaps another to somebody else.
const ONCE = ['"v"', '"type"', '"ts"', '"run_id"', '"trace_id"'] as const
const NEVER = ['"seq"', '"attempt"', '\\u'] as const

/** Gives an event its place in a run. `text` is the line that it was parsed from: where nothing in it is ours to say it is kept as it is, and the event is stamped in place. Throws nothing. */
export function stamp(event: UnstampedEvent, place: Stamp, text?: string): Stamped {
  return (text === undefined ? undefined : keepText(event, place, text)) ?? writeAnew(event, place)
}

// Writing a value costs more than reading it, and a tool that floods has written most of a line already.
function keepText(event: UnstampedEvent, { runId, traceId, seq, attempt }: Stamp, text: string): Stamped | undefined {
  const { v, run_id, ts, trace_id } = event
  if (v !== 1 || run_id !== runId || !isTime(ts) || (trace_id !== undefined && typeof trace_id !== 'string') || !isPlain(text)) return undefined
  const stamped: { [field: string]: unknown } = event
  const trace = trace_id === undefined && traceId !== undefined ? `,"trace_id":${JSON.stringify(traceId)}` : ''
  if (trace !== '') stamped['trace_id'] = traceId
  stamped['seq'] = seq
  stamped['attempt'] = attempt
  return { event: stamped as unknown as RunEvent, line: `${text.slice(0, -1)}${trace},"seq":${seq},"attempt":${attempt}}\n` }
}

function isPlain(text: string): boolean {
  if (text[0] !== '{' || text.at(-1) !== '}') return false
  for (const name of NEVER) if (text.includes(name)) return false
  for (const name of ONCE) if (text.indexOf(name) !== text.lastIndexOf(name)) return false
  return true
}

function writeAnew(event: UnstampedEvent, { runId, traceId, seq, attempt }: Stamp): Stamped {
  const { v: _v, type, ts, run_id: _runId, trace_id: trace, seq: _seq, attempt: _attempt, ...rest } = event
  const head = { v: 1 as const, type, ts: isTime(ts) ? ts : present(), run_id: runId }
  const ids = typeof trace === 'string' ? { trace_id: trace } : traceId !== undefined ? { trace_id: traceId } : {}
  const stamped: RunEvent = { ...head, ...ids, ...rest, seq, attempt }
  try {
    return { event: stamped, line: `${JSON.stringify(stamped)}\n` }
  } catch (error) {
    const told: RunEvent = { ...head, ...ids, problem: `the rest could not be written: ${(error as Error).message.split('\n', 1)[0]}`, seq, attempt }
    return { event: told, line: `${JSON.stringify(told)}\n` }
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
