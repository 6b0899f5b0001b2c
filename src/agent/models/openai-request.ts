/**
 * Requests to `POST /chat/completions`, with an idle timeout and a size limit.
 */

import { onAbort } from '../../core/lifecycle.ts'
import type { ContentBlock } from '../../protocol/outcome.ts'
import { renderContentText } from '../../protocol/output.ts'
import { toProvider } from '../../protocol/providers/export-tools.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { MAX_RESPONSE_BYTES, toResponseTooLargeError } from '../../registry/http.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import type { AgentMessage, Model, ModelCall, ModelReply, ModelRequest } from '../types.ts'
import type { OpenAiServer } from './openai-reply.ts'
import {
  createResponseError,
  createUnreachableError,
  readJsonReply,
  readStreamedReply,
  REASONING_FIELDS,
  redactError,
} from './openai-reply.ts'
import { parseArguments } from './shared.ts'

/** Requests one reply. Throws ToolErrors that say whether to retry, and never contain the key. */
export async function generateReply(
  server: OpenAiServer,
  request: ModelRequest,
  { signal, onText }: Parameters<Model['generate']>[1],
): Promise<ModelReply> {
  const silence = createIdleTimeout(signal, server)
  try {
    const answer = await fetch(server.address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: server.stream ? 'text/event-stream, application/json' : 'application/json',
        ...server.headers,
      },
      body: JSON.stringify(toRequestBody(server, request)),
      signal: silence.signal,
      redirect: 'manual',
    })
    const bytes = limitResponseSize(answer, silence.beat)
    if (!answer.ok) throw await createResponseError(server, answer, bytes)
    // Some servers do not stream.
    const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true
    return isStream
      ? await readStreamedReply(server, bytes, onText)
      : await readJsonReply(server, bytes, onText)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (silence.signal.aborted) throw silence.signal.reason
    throw redactError(
      ToolError.is(error) ? error : createUnreachableError(server, error),
      server.secrets,
    )
  } finally {
    silence.stop()
  }
}

async function* limitResponseSize(answer: Response, beat: () => void): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    beat()
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) throw toResponseTooLargeError()
    yield chunk
  }
}

/** A signal that aborts when the server is silent for too long. */
function createIdleTimeout(
  outer: AbortSignal,
  { idleTimeoutMs, address }: OpenAiServer,
): { readonly signal: AbortSignal; beat(): void; stop(): void } {
  const controller = new AbortController()
  const stopListening = onAbort(outer, () => controller.abort(outer.reason))
  if (outer.aborted) controller.abort(outer.reason)
  const timer = setTimeout(
    () =>
      controller.abort(
        new ToolError(
          'TIMEOUT',
          `the model server ${address.origin} said nothing for ${idleTimeoutMs / 1000} seconds`,
          { retryable: true },
        ),
      ),
    idleTimeoutMs,
  )
  return {
    signal: controller.signal,
    beat: () => void timer.refresh(),
    stop() {
      clearTimeout(timer)
      stopListening()
    },
  }
}

/** The body of a request. */
function toRequestBody(
  { model, address, stream, strict, body }: OpenAiServer,
  { messages, tools, maxOutputTokens, temperature, stopSequences }: ModelRequest,
): JsonObject {
  // OpenAI renamed the field; other servers only know the old name.
  const isOpenAi = address.hostname === 'api.openai.com'
  return {
    ...compact({
      model,
      messages: toOpenAiMessages(messages),
      tools: tools.length > 0 ? toProvider('openai', tools, { strict }) : undefined,
      [isOpenAi ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens,
      temperature,
      stop: stopSequences && stopSequences.length > 0 ? stopSequences : undefined,
      stream: stream || undefined,
      stream_options: stream ? { include_usage: true } : undefined,
    }),
    ...body,
  }
}

function toOpenAiMessages(messages: readonly AgentMessage[]): JsonObject[] {
  const written: JsonObject[] = []
  // Tool messages contain text only, and all results of a reply must be adjacent, so images follow.
  let shown: JsonObject[] = []
  const show = (): void => {
    if (shown.length > 0) written.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') show()
    written.push(toOpenAiMessage(message))
    if (message.role === 'tool' && message.content)
      shown.push(
        { type: 'text', text: `What ${message.name} (${message.id}) shows:` },
        ...message.content.map(toContentPart),
      )
  }
  show()
  return written
}

function toOpenAiMessage(message: AgentMessage): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user':
      return {
        role: 'user',
        content: message.content
          ? [{ type: 'text', text: message.text }, ...message.content.map(toContentPart)]
          : message.text,
      }
    case 'tool':
      return { role: 'tool', tool_call_id: message.id, content: message.text }
    case 'assistant':
      return {
        role: 'assistant',
        content: message.text === '' ? null : message.text,
        ...pickReasoning(message.own),
        ...compact({
          tool_calls: message.calls.length > 0 ? message.calls.map(toOpenAiToolCall) : undefined,
        }),
      }
  }
}

// The conversation may have begun with another model, whose fields this one does not know.
function pickReasoning(own: JsonObject = {}): JsonObject {
  return Object.fromEntries(
    REASONING_FIELDS.flatMap((field) => (own[field] === undefined ? [] : [[field, own[field]]])),
  )
}

function toOpenAiToolCall({
  id,
  name,
  arguments: given,
  own: { providerOptions: _other, ...own } = {},
}: ModelCall): JsonObject {
  return { ...own, id, type: 'function', function: { name, arguments: toArgumentsText(given) } }
}

// Many servers parse earlier arguments, and fail when they are no JSON.
function toArgumentsText(given: unknown): string {
  if (typeof given === 'string' && parseJsonObject(given)) return given
  return JSON.stringify(parseArguments(given))
}

function toContentPart(block: ContentBlock): JsonObject {
  if (block.type === 'image')
    return { type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } }
  return { type: 'text', text: renderContentText(block) }
}
