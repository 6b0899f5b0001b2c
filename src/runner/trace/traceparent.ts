/** A place in a trace: the trace, a span of it, and whether it is recorded. */
export type TraceContext = {
  readonly traceId: string
  readonly spanId: string
  readonly flags: string
}

/** Reads `traceparent` of W3C Trace Context. Undefined for what is none, as the standard wants it: then a new trace begins. */
export function readTraceparent(text: string | undefined): TraceContext | undefined {
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
export function writeTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags}`
}

/** So many random bytes as hexadecimal digits, never all zero. */
export function randomHex(bytes: number): string {
  const hex = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
  return /^0+$/.test(hex) ? randomHex(bytes) : hex
}
