import type { OutcomeFormatter } from './envelope.ts'
import { toEnvelope, withErrorLine } from './envelope.ts'
import { escapeInvisible, hasInvisible, toJsonText, toPlainJson } from './json-text.ts'

/** The envelope as TOON. */
export const format: OutcomeFormatter = async (outcome, options) =>
  withErrorLine(outcome, options, await toToonText(toEnvelope(outcome, options.renderInput)))

// TOON refuses unpaired surrogates, so they become U+FFFD.
async function toToonText(value: unknown): Promise<string> {
  const { encode, escapeString, rawString } = await import('@toon-format/toon')
  const text = encode(toWellFormed(value), {
    replacer: (_key, item) =>
      typeof item === 'string' && hasInvisible(item) ? rawString(`"${escapeString(item)}"`) : item,
  })
  return `${escapeInvisible(text)}\n`
}

function toWellFormed(value: unknown): unknown {
  const mightBeLone = /\\ud[89a-f]/i.test(toJsonText(value))
  return mightBeLone ? replaceLoneSurrogates(toPlainJson(value)) : toPlainJson(value)
}

function replaceLoneSurrogates(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '\ufffd')
  if (Array.isArray(value)) return value.map(replaceLoneSurrogates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      replaceLoneSurrogates(key),
      replaceLoneSurrogates(item),
    ]),
  )
}
