/** How an outcome leaves a call: as text for a model, or written in an output dialect. */

import { compact } from '../util/values.ts'
import type { DialectName } from './dialects/dialects.ts'
import { DIALECTS } from './dialects/dialects.ts'
import { dialect as nativeDialect } from './dialects/native.ts'
import type { ContentBlock, Outcome } from './outcome.ts'
import type { DialectWriter } from './output-protocols.ts'

/**
 * What of an outcome is text for a model: message, then result, unless that is hidden; of a failure
 * the error with the way to repair it. Never empty.
 */
export function renderOutcomeText(outcome: Outcome): string {
  if (isBareResult(outcome)) return resultToText(outcome.result) || 'Done.'
  if (!outcome.ok)
    return JSON.stringify(
      compact({ error: outcome.error, errors: outcome.errors, summary: outcome.summary }),
    )
  const { message, hidden, result, content } = outcome
  const isSaid = (result ?? null) === null && (message !== undefined || content !== undefined)
  const parts = message === undefined ? [] : [message]
  if (!hidden && !isSaid) parts.push(resultToText(result))
  if (outcome.status === 'partial') {
    const { status, errors, summary } = outcome
    parts.push(JSON.stringify({ status, errors, summary }))
  }
  const text = parts.filter((part) => part !== '').join('\n\n')
  return text === '' && !content ? 'Done.' : text
}

// Most outcomes are a result and nothing besides; each call that is listened to writes one.
function isBareResult(
  outcome: Outcome,
): outcome is Extract<Outcome, { readonly status: 'success' }> {
  return (
    outcome.status === 'success' &&
    outcome.message === undefined &&
    outcome.content === undefined &&
    !outcome.hidden
  )
}

function resultToText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}

/** A piece of content in words, for providers that take only text. */
export function renderContentText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${getDecodedSize(block.data)} bytes]`
    case 'resource_link':
      return `[resource: ${block.name} <${block.uri}>]`
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[file: ${block.resource.uri}, ${getDecodedSize(block.resource.blob)} bytes]`
  }
}

/** Text and content of an outcome as one text. */
export function renderFullText(outcome: Outcome): string {
  if (isBareResult(outcome)) return renderOutcomeText(outcome)
  const content = outcome.ok ? (outcome.content ?? []) : []
  return (
    [renderOutcomeText(outcome), ...content.map(renderContentText)]
      .filter((part) => part !== '')
      .join('\n\n') || 'Done.'
  )
}

function getDecodedSize(base64: string): number {
  return Math.floor((base64.length * 3) / 4)
}

/** The writer of a dialect; all but our own are loaded when they are asked for. */
export async function loadDialectWriter(name: DialectName): Promise<DialectWriter> {
  // Most calls use it; loading it apart would cost each of them a file.
  if (name === 'native') return nativeDialect
  return (await DIALECTS[name]()).dialect
}
