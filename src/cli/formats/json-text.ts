import type { Json } from '../../util/values.ts'

const MAX_DEPTH = 500

/**
 * JSON of any value, safe on a terminal: what JSON cannot say (cycles, bigints, bottomless nesting)
 * becomes text instead of an exception.
 */
export function toJsonText(value: unknown, indent?: number): string {
  return escapeInvisible(stringifySafely(value, indent) ?? 'null')
}

/** The value as a reader of its JSON would see it: no dates, no undefined, no cycles. */
export function toPlainJson(value: unknown): Json {
  const text = stringifySafely(value)
  return text === undefined ? null : (JSON.parse(text) as Json)
}

// JSON.stringify leaves DEL, C1 controls and bidi overrides raw, and some terminals obey them;
// escaped they are the same JSON.
const INVISIBLE_CHARACTERS = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/**
 * Writes control characters that JSON, YAML and TOON strings may carry raw as `\uXXXX`; right only
 * inside quoted strings.
 */
export function escapeInvisible(text: string): string {
  return text.replace(
    INVISIBLE_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** True when the text holds characters that `escapeInvisible` would write differently. */
export function hasInvisible(text: string): boolean {
  return text.search(INVISIBLE_CHARACTERS) !== -1
}

function stringifySafely(value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch {
    return JSON.stringify(sanitize(value, []), undefined, indent)
  }
}

function sanitize(value: unknown, ancestors: readonly object[]): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (ancestors.includes(value)) return '[circular]'
  if (ancestors.length >= MAX_DEPTH) return '[nested too deeply]'
  const path = [...ancestors, value]
  try {
    const given =
      typeof (value as { toJSON?: unknown }).toJSON === 'function'
        ? (value as { toJSON: () => unknown }).toJSON()
        : value
    if (given !== value) return sanitize(given, path)
    if (Array.isArray(value)) return value.map((item) => sanitize(item, path))
    return Object.fromEntries(
      Object.keys(value).map((key) => [
        key,
        sanitize((value as Record<string, unknown>)[key], path),
      ]),
    )
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.message : String(error)}]`
  }
}
