/** A value in the JSON form of OTLP. */
export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
export type OtlpAttribute = { readonly key: string; readonly value: OtlpValue }
export type OtlpEvent = {
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

const LONGEST = 1024

/** Attributes of an object; what is no single value becomes JSON, and what is long is cut. */
export function toAttributes(fields: {
  readonly [key: string]: unknown
}): readonly OtlpAttribute[] {
  return Object.entries(fields).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: toValue(value) }],
  )
}

/** Nanoseconds of a time as events tell it; undefined for what is none. */
export function toNanoseconds(ts: unknown): string | undefined {
  const milliseconds = typeof ts === 'string' ? Date.parse(ts) : Number.NaN
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? `${milliseconds}000000` : undefined
}

function toValue(value: unknown): OtlpValue {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return {
    stringValue: (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, LONGEST),
  }
}
