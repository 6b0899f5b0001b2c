/**
 * Converts results and errors of remote servers (MCP, OpenAPI, tool servers) into replies.
 */

import type { Reply } from '../../define/results.ts'
import { ok, partial } from '../../define/results.ts'
import { readError } from '../../protocol/dialects/read-error.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import type { ContentBlock, Outcome } from '../../protocol/outcome.ts'
import { findContentProblem } from '../../protocol/outcome.ts'
import { reviveToolError, ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { asList, asObject, asText, compact, isObject, tryParseJson } from '../../util/values.ts'
import type { HttpResult } from '../http.ts'
import { toErrorCode } from '../http.ts'

// Servers made with this package put the rest of the envelope here.
const OUTCOME_META_KEY = 'dev.toolable/outcome'

/** The result of `tools/call` as a reply. Throws the ToolError that it reports. */
export function readToolResult(
  result: JsonObject,
  tool: string,
  log: (text: string) => void,
): Reply {
  const blocks = asList(result['content'])
  const texts = blocks
    .filter((block) => isObject(block) && block['type'] === 'text')
    .map((block) => (block as JsonObject)['text'])
    .filter((text) => typeof text === 'string')
  const meta = asObject(result['_meta'])?.[OUTCOME_META_KEY]
  if (result['isError'] === true) throw readToolError(result, texts, meta, tool)
  const others = filterContentBlocks(blocks, log)
  const structured = result['structuredContent']
  if (isObject(meta))
    return readToolableReply(meta, structured !== undefined ? structured : texts, others, tool)
  if (structured === undefined) return ok(toResultValue(texts), toContentOption(others))
  const told = texts
    .filter((text) => !isSameJson(text, structured))
    .map((text): ContentBlock => ({ type: 'text', text }))
  return ok(structured, toContentOption([...told, ...others]))
}

function readToolError(
  result: JsonObject,
  texts: readonly string[],
  meta: unknown,
  tool: string,
): Error {
  const own = isObject(meta) ? readOutcome(meta, { tool }) : undefined
  if (own && !own.ok) return reviveToolError(own.error)
  const text = texts.join('\n')
  const details = asObject(result['structuredContent'] ?? parseJsonText(text))
  const told = details && readOutcome(details, { tool })
  if (told && !told.ok) return reviveToolError(told.error)
  return reviveToolError(readError(compact({ message: text, details }), { tool }))
}

// A server made with this package says which of its texts only repeat the result.
function readToolableReply(
  meta: JsonObject,
  given: unknown,
  others: readonly ContentBlock[],
  tool: string,
): Reply {
  const result =
    Array.isArray(given) && given.every((text) => typeof text === 'string')
      ? toResultValue(given.filter((text) => text !== meta['message']))
      : given
  const outcome = readOutcome({ ...meta, result }, { tool })
  const { message, hidden } = meta
  const options = {
    ...toContentOption(others),
    ...compact({ message: asText(message), hidden: hidden === true || undefined }),
  }
  return outcome?.ok && outcome.status === 'partial'
    ? partial(result, outcome.errors, options)
    : ok(result, options)
}

function filterContentBlocks(
  blocks: readonly unknown[],
  log: (text: string) => void,
): readonly ContentBlock[] {
  return blocks.filter((block): block is ContentBlock => {
    if (isObject(block) && block['type'] === 'text') return false
    const problem = findContentProblem(block)
    if (problem !== undefined) log(`a piece of the answer cannot be shown: it ${problem}`)
    return problem === undefined
  })
}

// Many servers write JSON as text; only objects and lists are parsed.
function toResultValue(texts: readonly string[]): unknown {
  if (texts.length === 0) return null
  const text = texts.join('\n')
  const document = texts.length === 1 ? parseJsonText(text) : undefined
  return document === undefined ? text : document
}

function parseJsonText(text: string): unknown {
  return /^\s*[{[]/.test(text) ? tryParseJson(text) : undefined
}

function isSameJson(text: string, structured: unknown): boolean {
  return text === structured || JSON.stringify(tryParseJson(text)) === JSON.stringify(structured)
}

function toContentOption(blocks: readonly ContentBlock[]): {
  readonly content?: readonly ContentBlock[]
} {
  return blocks.length === 0 ? {} : { content: blocks }
}

/** Converts a foreign outcome into a reply. Throws the ToolError of a failure. */
export function toReply(outcome: Outcome): Reply {
  if (!outcome.ok) throw reviveToolError(outcome.error)
  const { result, message, hidden, content } = outcome
  const options = compact({ message, hidden, content })
  return outcome.status === 'partial'
    ? partial(result, outcome.errors, options)
    : ok(result, options)
}

const MAX_MESSAGE_LENGTH = 2000

/**
 * The error for an answer with an error status: the server's own error if the body has one, else a
 * code by the status, with the text of the body.
 */
export function toStatusError(answer: HttpResult, who: string, tool: string): ToolError {
  const { status, document } = answer
  const told = looksLikeEnvelope(document) ? readOutcome(document, { tool }) : undefined
  if (told && !told.ok && hasErrorCode(document)) return reviveToolError(told.error)
  const wait = Number(answer.headers.get('retry-after'))
  return new ToolError(
    toErrorCode(status),
    `${who} answered with HTTP status ${status}${describeBody(answer)}`,
    compact({
      details: compact({ status, body: document }),
      suggestion: wait > 0 ? `Wait ${wait} seconds, then call again` : undefined,
    }),
  )
}

function describeBody({ document, bytes, type }: HttpResult): string {
  let text = ''
  if (document !== undefined) text = findMessage(document)
  else if (!type.includes('html')) text = bytes.toString('utf8', 0, MAX_MESSAGE_LENGTH).trim()
  return text === '' ? '' : `: ${shorten(text, MAX_MESSAGE_LENGTH)}`
}

// The keys under which servers put their messages.
function findMessage(document: unknown): string {
  if (!isObject(document)) return JSON.stringify(document)
  const { error, message, detail, title, errors } = document
  const found = [isObject(error) ? error['message'] : error, message, detail, title, errors].find(
    (value) => value !== undefined && value !== null && value !== '',
  )
  return typeof found === 'string' ? found : JSON.stringify(found ?? document)
}

function looksLikeEnvelope(document: unknown): boolean {
  return isObject(document) && (document['ok'] === false || isObject(document['error']))
}

// Only a code that the author chose says more than the status.
function hasErrorCode(document: unknown): boolean {
  const code = asObject(asObject(document)?.['error'])?.['code']
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code)
}
