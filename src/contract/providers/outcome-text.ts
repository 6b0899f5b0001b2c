import type { ContentBlock } from '../content.ts'
import type { Outcome } from '../outcome.ts'

/** What of an outcome is text for a model: message, then result, unless that is hidden; of a failure the error with the way to repair it. Never empty. */
export function outcomeText(outcome: Outcome): string {
  if (isBare(outcome)) return textOf(outcome.result) || 'Done.'
  if (!outcome.ok)
    return JSON.stringify({
      error: outcome.error,
      ...(outcome.errors && { errors: outcome.errors }),
      ...(outcome.summary && { summary: outcome.summary }),
    })
  const { message, hidden, result, content } = outcome
  const said = message !== undefined || content !== undefined
  const parts = [
    ...(message === undefined ? [] : [message]),
    ...(hidden || ((result === null || result === undefined) && said) ? [] : [textOf(result)]),
    ...(outcome.status === 'partial'
      ? [JSON.stringify({ status: 'partial', errors: outcome.errors, summary: outcome.summary })]
      : []),
  ].filter((part) => part !== '')
  return parts.length > 0 ? parts.join('\n\n') : content ? '' : 'Done.'
}

// Most outcomes are a result and nothing besides; each call that is listened to writes one.
function isBare(outcome: Outcome): outcome is Extract<Outcome, { readonly status: 'success' }> {
  return (
    outcome.status === 'success' &&
    outcome.message === undefined &&
    outcome.content === undefined &&
    !outcome.hidden
  )
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}

/** A piece of content in words, for providers that take only text. */
export function contentText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${bytesOf(block.data)} bytes]`
    case 'resource_link':
      return `[resource: ${block.name} <${block.uri}>]`
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[file: ${block.resource.uri}, ${bytesOf(block.resource.blob)} bytes]`
  }
}

/** Text and content of an outcome as one text. */
export function wholeText(outcome: Outcome): string {
  if (isBare(outcome)) return outcomeText(outcome)
  const content = outcome.ok ? (outcome.content ?? []) : []
  return (
    [outcomeText(outcome), ...content.map(contentText)]
      .filter((part) => part !== '')
      .join('\n\n') || 'Done.'
  )
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4)
}
