import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findPatterns } from './find-patterns.ts'
import { redactStream } from './redact-stream.ts'
import type { RedactingStream } from './redact-stream.ts'
import { cutOut, REDACTED } from './replace.ts'
import { listVariants, SHORTEST_SECRET } from './variants.ts'

/** Takes secrets out of whatever is written down or shown. Exact search in the usual encodings: what a program makes of a secret in other ways is not found. */
export type Redactor = {
  /** True where there are no secrets; then everything comes back as it is, at no cost. */
  readonly isEmpty: boolean
  text(text: string): string
  /** The same for a JSON value, in its keys, texts and numbers. */
  value(json: unknown): unknown
  /** The same for the text of a JSON value, which stays JSON. */
  json(text: string): string
  /** For bytes that come in chunks. */
  stream(): RedactingStream
}

const NOTHING: Redactor = {
  isEmpty: true,
  text: (text) => text,
  value: (json) => json,
  json: (text) => text,
  stream: () => ({ push: (chunk) => chunk, finish: () => Buffer.alloc(0) }),
}

/** Makes a redactor of secrets. Throws CONFIG for one of less than 6 characters, which would be found everywhere. */
export function createRedactor(secrets: readonly string[]): Redactor {
  if (secrets.length === 0) return NOTHING
  if (secrets.some((secret) => secret.trim().length < SHORTEST_SECRET))
    throw new ToolError(
      'CONFIG',
      `A secret has less than ${SHORTEST_SECRET} characters and cannot be kept out of logs`,
      { suggestion: 'Use a longer secret' },
    )
  const finder = findPatterns(secrets.flatMap(listVariants))
  const text = (given: string): string => {
    const bytes = Buffer.from(given)
    const found = finder.find(bytes)
    return found.length === 0 ? given : cutOut(bytes, found).toString()
  }
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given)
    if (typeof given === 'number') return text(String(given)) === String(given) ? given : REDACTED
    if (Array.isArray(given)) return given.map(value)
    // fromEntries defines properties, also one that is called __proto__.
    return isObject(given)
      ? Object.fromEntries(Object.entries(given).map(([key, inner]) => [text(key), value(inner)]))
      : given
  }
  const json = (given: string): string =>
    finder.find(Buffer.from(given)).length === 0 ? given : JSON.stringify(value(JSON.parse(given)))
  return { isEmpty: false, text, value, json, stream: () => redactStream(finder) }
}
