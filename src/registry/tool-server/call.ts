import type { Context } from '../../contract/context.ts'
import { readOutcome } from '../../contract/dialects/read-outcome.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { replyOf } from '../foreign/reply-of.ts'
import { request } from '../http/request.ts'
import type { HttpAnswer } from '../http/request.ts'
import { statusFailure } from '../http/status-failure.ts'
import { readToolResult } from '../mcp/result.ts'
import { functionOf } from './server.ts'
import type { ToolServer } from './server.ts'

/** Calls a tool of a server; throws ToolError. */
export async function callTool(
  server: ToolServer,
  name: string,
  input: JsonObject,
  ctx: Context,
): Promise<unknown> {
  const answer = await request({
    url: functionOf(server, 'call_tool'),
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/plain',
      ...server.headers,
    },
    body: JSON.stringify({ name, arguments: input }),
    signal: ctx.signal,
    timeout: server.callTimeout,
    who: server.what,
  })
  if (answer.status >= 300) throw statusFailure(answer, server.what, name)
  return readAnswer(answer, server, name, ctx)
}

function readAnswer(
  { document, bytes, type }: HttpAnswer,
  server: ToolServer,
  name: string,
  ctx: Context,
): unknown {
  if (document === undefined) return readText(bytes, type, server)
  if (isToolResult(document)) return readToolResult(document, name, (text) => ctx.log(text, 'warn'))
  const outcome = readOutcome(document, { tool: name })
  return outcome ? replyOf(outcome) : document
}

// The form of MCP: pieces of content, each with a type.
function isToolResult(document: unknown): document is JsonObject {
  if (!isObject(document)) return false
  const { content, isError } = document
  return Array.isArray(content)
    ? content.every((block) => isObject(block) && typeof block['type'] === 'string') &&
        (content.length > 0 || isError !== undefined)
    : isError === true
}

function readText(bytes: Buffer, type: string, { what }: ToolServer): unknown {
  if (bytes.length === 0) return null
  const text = bytes.toString('utf8')
  const isText =
    type === '' ||
    type.startsWith('text/plain') ||
    type.startsWith('text/markdown') ||
    type.startsWith('text/csv')
  if (isText && !text.includes('\uFFFD') && !text.includes('\0')) return text
  throw new ToolError(
    'DEPENDENCY',
    `${what} answered with ${type === '' ? 'bytes' : type} that are neither JSON nor text: ${JSON.stringify(shorten(text, 60))}`,
    {
      retryable: false,
      suggestion: { action: 'use_different_tool', fix: 'Its author should answer with JSON' },
    },
  )
}
