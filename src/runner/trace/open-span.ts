import type { RunEvent } from '../../contract/run-state.ts'
import type { OtlpEvent, OtlpSpan } from './otlp-values.ts'
import { toAttributes, toNanoseconds } from './otlp-values.ts'

/** Events that a span carries; the others are counted. */
const MOST_EVENTS = 1000
const ENVELOPE = ['v', 'type', 'ts', 'run_id', 'trace_id', 'seq', 'attempt']

/** A span whose end has not been read yet. */
export type OpenSpan = {
  readonly spanId: string
  note(event: RunEvent): void
  end(at: string, status: OtlpSpan['status'], more?: { readonly [key: string]: unknown }): OtlpSpan
}

type Beginning = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  readonly name: string
  readonly start: string
  readonly about: { readonly [key: string]: unknown }
}

/** Begins a span. */
export function openSpan({
  traceId,
  spanId,
  parentSpanId,
  name,
  start,
  about,
}: Beginning): OpenSpan {
  const events: OtlpEvent[] = []
  let dropped = 0
  return {
    spanId,
    note(event) {
      const fields = Object.fromEntries(
        Object.entries(event).filter(([key]) => !ENVELOPE.includes(key)),
      )
      if (events.length < MOST_EVENTS)
        events.push({
          timeUnixNano: toNanoseconds(event.ts) ?? start,
          name: event.type,
          attributes: toAttributes({ ...fields, 'toolable.seq': event.seq }),
        })
      else dropped += 1
    },
    end: (at, status, more = {}) => ({
      traceId,
      spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name,
      kind: 1,
      startTimeUnixNano: start,
      // Clocks go back; a span does not.
      endTimeUnixNano: BigInt(at) < BigInt(start) ? start : at,
      attributes: toAttributes({ ...about, ...more }),
      events,
      ...(dropped > 0 && { droppedEventsCount: dropped }),
      status,
    }),
  }
}
