/**
 * W3C Trace Context: reads and writes `traceparent`, and decides which trace a run belongs to.
 */

import { compact } from '../util/values.ts'

/** The trace of a run, as `run.json` keeps it. */
type RunTrace = {
  readonly trace_id: string
  /** For the tool: the run is its parent. */
  readonly traceparent: string
  /** The span of the caller, where one is known. */
  readonly parent_span_id?: string
}

/**
 * The trace that a run belongs to: that of its caller where `TRACEPARENT` names one, else that of
 * `TRACE_ID`, else a new one.
 */
export function joinTrace(env: { readonly [name: string]: string | undefined }): RunTrace {
  const caller = parseTraceparent(env['TRACEPARENT'])
  const named = caller?.traceId ?? env['TRACE_ID'] ?? ''
  const traceId = /^(?!0{32})[0-9a-f]{32}$/.test(named) ? named : randomHex(16)
  return compact({
    // A caller may have names of its own for traces; the standard has not.
    trace_id: /^[\w.:-]{1,128}$/.test(named) ? named : traceId,
    traceparent: formatTraceparent({ traceId, spanId: randomHex(8), flags: caller?.flags ?? '01' }),
    parent_span_id: caller ? caller.spanId : undefined,
  })
}

/** A place in a trace: the trace, a span of it, and whether it is recorded. */
type TraceContext = { readonly traceId: string; readonly spanId: string; readonly flags: string }

/**
 * Reads `traceparent` of W3C Trace Context. Undefined for what is none, as the standard wants it:
 * then a new trace begins.
 */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text?.trim() ?? '') ??
    []
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined)
    return undefined
  // Later versions may say more; of this one nobody may.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId, flags }
}

/** Writes `traceparent`, in the version that we know. */
function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags}`
}

/** So many random bytes as hexadecimal digits, never all zero. */
function randomHex(bytes: number): string {
  const hex = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
  return /^0+$/.test(hex) ? randomHex(bytes) : hex
}
