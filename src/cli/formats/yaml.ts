/**
 * The output formats YAML and TOON. Their libraries are loaded on first use.
 */

import { escapeInvisible, hasInvisible, toJsonText, toPlainJson } from '../json-text.ts'

/**
 * The value as one YAML document that readers of YAML 1.1 and 1.2 understand alike. Loads the
 * library when called.
 */
export async function toYamlText(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml')
  const document = new Document(toPlainJson(value), {
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
  })
  visit(document, {
    Scalar(_key, node) {
      // Only a quoted string can hold the escape.
      if (typeof node.value === 'string' && hasInvisible(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeInvisible(document.toString({ lineWidth: 0 }))
}

/**
 * The value as TOON. Loads the library when called. Unpaired surrogates, which TOON refuses, become
 * U+FFFD.
 */
export async function toToonText(value: unknown): Promise<string> {
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
