import type { ContentBlock } from '../../contract/content.ts'
import { contentProblem } from '../../contract/content-problem.ts'
import { readError } from '../../contract/dialects/read-error.ts'
import { readOutcome } from '../../contract/dialects/read-outcome.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { toolErrorFrom } from '../../contract/tool-error.ts'
import { ok, partial } from '../../define/results.ts'
import type { Reply } from '../../define/results.ts'

// Where servers made with this package put the rest of the envelope.
const OUTCOME = 'dev.toolable/outcome'

/** The result of `tools/call` as a reply; throws the ToolError that it tells. */
export function readToolResult(
  result: JsonObject,
  tool: string,
  log: (text: string) => void,
): Reply {
  const blocks = Array.isArray(result['content']) ? (result['content'] as readonly unknown[]) : []
  const texts = blocks.flatMap((block) =>
    isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
      ? [block['text']]
      : [],
  )
  const meta = isObject(result['_meta']) ? result['_meta'][OUTCOME] : undefined
  if (result['isError'] === true) throw readToolError(result, texts, meta, tool)
  const others = readableBlocks(blocks, log)
  const structured = result['structuredContent']
  if (isObject(meta))
    return ownReply(meta, structured !== undefined ? structured : texts, others, tool)
  if (structured === undefined) return ok(valueOf(texts), content(others))
  const told = texts
    .filter((text) => !isSame(text, structured))
    .map((text): ContentBlock => ({ type: 'text', text }))
  return ok(structured, content([...told, ...others]))
}

function readToolError(
  result: JsonObject,
  texts: readonly string[],
  meta: unknown,
  tool: string,
): Error {
  const own = isObject(meta) ? readOutcome(meta, { tool }) : undefined
  if (own && !own.ok) return toolErrorFrom(own.error)
  const text = texts.join('\n')
  const document = result['structuredContent'] ?? parse(text)
  const told = isObject(document) ? readOutcome(document, { tool }) : undefined
  if (told && !told.ok) return toolErrorFrom(told.error)
  return toolErrorFrom(
    readError({ message: text, ...(isObject(document) && { details: document }) }, { tool }),
  )
}

// A server of ours tells what of its texts is only the result again.
function ownReply(
  meta: JsonObject,
  given: unknown,
  others: readonly ContentBlock[],
  tool: string,
): Reply {
  const result =
    Array.isArray(given) && given.every((text) => typeof text === 'string')
      ? valueOf(given.filter((text) => text !== meta['message']))
      : given
  const outcome = readOutcome({ ...meta, result }, { tool })
  const { message, hidden } = meta
  const options = {
    ...content(others),
    ...(typeof message === 'string' && { message }),
    ...(hidden === true && { hidden: true }),
  }
  return outcome?.ok && outcome.status === 'partial'
    ? partial(result, outcome.errors, options)
    : ok(result, options)
}

function readableBlocks(
  blocks: readonly unknown[],
  log: (text: string) => void,
): readonly ContentBlock[] {
  return blocks.filter((block): block is ContentBlock => {
    if (isObject(block) && block['type'] === 'text') return false
    const problem = contentProblem(block)
    if (problem !== undefined) log(`a piece of the answer cannot be shown: it ${problem}`)
    return problem === undefined
  })
}

// Many servers write JSON as text; a text that only looks like a number or a word stays text.
function valueOf(texts: readonly string[]): unknown {
  if (texts.length === 0) return null
  const text = texts.join('\n')
  const document = texts.length === 1 ? parse(text) : undefined
  return document === undefined ? text : document
}

function parse(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isSame(text: string, structured: unknown): boolean {
  if (text === structured) return true
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(structured)
  } catch {
    return false
  }
}

function content(blocks: readonly ContentBlock[]): { readonly content?: readonly ContentBlock[] } {
  return blocks.length === 0 ? {} : { content: blocks }
}
