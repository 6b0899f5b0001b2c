import { readContent } from '../../../contract/dialects/read-content.ts'
import { readError } from '../../../contract/dialects/read-error.ts'
import { readOutcome } from '../../../contract/dialects/read-outcome.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import type { Outcome } from '../../../contract/outcome.ts'

const NOBODY = { tool: '', duration_ms: 0 }

/** The outcome that a document carries: any dialect of ours, the answer of an MCP tool, or one of the ways in which tools say that they failed; undefined for what is a result itself. */
export function readEnvelope(document: unknown, status: number | undefined): Outcome | undefined {
  const context = { tool: '', ...(status !== undefined && { exitCode: status }) }
  const outcome = readOutcome(document, context)
  if (outcome || !isObject(document)) return outcome
  if (isMcpResult(document)) return readMcpResult(document, context)
  const words = failureWords(document)
  return words === undefined
    ? undefined
    : { ok: false, status: 'error', error: readError(words, context), meta: NOBODY }
}

const MCP_KEYS = new Set(['content', 'structuredContent', 'isError', '_meta'])

function isMcpResult(document: JsonObject): boolean {
  const isMarked =
    typeof document['isError'] === 'boolean' || Object.hasOwn(document, 'structuredContent')
  return (
    isMarked &&
    Array.isArray(document['content']) &&
    Object.keys(document).every((key) => MCP_KEYS.has(key))
  )
}

function readMcpResult(
  { content, structuredContent, isError }: JsonObject,
  context: { readonly tool: string },
): Outcome {
  const texts = (content as readonly unknown[])
    .filter(isObject)
    .filter(({ type, text }) => type === 'text' && typeof text === 'string')
    .map(({ text }) => text as string)
  const text = texts.join('\n')
  if (isError === true)
    return {
      ok: false,
      status: 'error',
      error: readError(
        isObject(structuredContent) ? { message: text, ...structuredContent } : text,
        context,
      ),
      meta: NOBODY,
    }
  const hasMore = (content as readonly unknown[]).some(
    (block) => isObject(block) && block['type'] !== 'text',
  )
  return {
    ok: true,
    status: 'success',
    result: structuredContent ?? text,
    ...(hasMore && readContent(content)),
    meta: NOBODY,
  }
}

const REASONS = [
  'reason',
  'detail',
  'description',
  'error_message',
  'errorMessage',
  'error_description',
]

// `{"status":"error"}` with other facts in it may be a report about something else.
function failureWords(document: JsonObject): unknown {
  if (document['status'] !== 'error' && document['status'] !== 'failed') return undefined
  const { status, ...rest } = document
  if (Object.keys(rest).length === 0) return status === 'error' ? {} : undefined
  const reason = REASONS.find((key) => typeof rest[key] === 'string')
  if (reason === undefined) return undefined
  const { [reason]: message, ...others } = rest
  return { ...others, message }
}
