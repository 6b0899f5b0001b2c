/** What the model providers have in common: token counts, tool arguments and Retry-After. */

import type { TokenUsage } from '../../protocol/limits.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'

/** Token counts as a provider reports them; whatever is no number is left out. */
export function toTokenUsage(input: unknown, output: unknown): TokenUsage {
  return compact({
    input: typeof input === 'number' ? input : undefined,
    output: typeof output === 'number' ? output : undefined,
  })
}

/** Arguments as a model wrote them, as an object, which providers require. */
export function parseArguments(written: unknown): JsonObject {
  if (isObject(written)) return written
  const text = typeof written === 'string' ? written : ''
  return parseJsonObject(text) ?? (text.trim() === '' ? {} : { unreadable: text })
}

/** Seconds that a server asks to wait, by its headers: a number, milliseconds, or a date. */
export function parseRetryAfter(header: (name: string) => unknown): number | undefined {
  const milliseconds = Number(header('retry-after-ms') ?? NaN)
  if (milliseconds >= 0) return milliseconds / 1000
  const value = header('retry-after')
  if (value === undefined || value === null) return undefined
  const seconds = Number(value)
  if (seconds >= 0) return seconds
  const at = Date.parse(String(value))
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000)
}
