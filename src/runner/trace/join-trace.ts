import { randomHex, readTraceparent, writeTraceparent } from './traceparent.ts'

/** The trace of a run, as `run.json` keeps it. */
export type JoinedTrace = {
  readonly trace_id: string
  /** For the tool: the run is its parent. */
  readonly traceparent: string
  /** The span of the caller, where one is known. */
  readonly parent_span_id?: string
}

/** The trace that a run belongs to: that of its caller where `TRACEPARENT` names one, else that of `TRACE_ID`, else a new one. */
export function joinTrace(env: { readonly [name: string]: string | undefined }): JoinedTrace {
  const caller = readTraceparent(env['TRACEPARENT'])
  const named = caller?.traceId ?? env['TRACE_ID'] ?? ''
  const traceId = /^(?!0{32})[0-9a-f]{32}$/.test(named) ? named : randomHex(16)
  return {
    // A caller may have names of its own for traces; the standard has not.
    trace_id: /^[\w.:-]{1,128}$/.test(named) ? named : traceId,
    traceparent: writeTraceparent({ traceId, spanId: randomHex(8), flags: caller?.flags ?? '01' }),
    ...(caller && { parent_span_id: caller.spanId }),
  }
}
