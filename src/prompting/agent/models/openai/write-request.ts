import type { ContentBlock } from '../../../../contract/content.ts'
import { isObject, parseObject } from '../../../../contract/json.ts'
import type { JsonObject } from '../../../../contract/json.ts'
import { contentText } from '../../../../contract/providers/outcome-text.ts'
import { toProvider } from '../../../../contract/providers/to-provider.ts'
import type { AgentMessage, ModelCall, ModelRequest } from '../../model-type.ts'
import { THOUGHTS } from './assemble.ts'
import type { OpenAiServer } from './server.ts'

/** The body of a request. */
export function writeRequest(
  { model, address, stream, strict, body }: OpenAiServer,
  { messages, tools, maxOutputTokens, temperature, stopSequences }: ModelRequest,
): JsonObject {
  return {
    model,
    messages: writeMessages(messages),
    ...(tools.length > 0 && { tools: toProvider('openai', tools, { strict }) }),
    // OpenAI has given up the old name, and the others do not know the new one.
    ...(maxOutputTokens !== undefined && {
      [address.hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens']:
        maxOutputTokens,
    }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && stopSequences.length > 0 && { stop: stopSequences }),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    ...body,
  }
}

function writeMessages(messages: readonly AgentMessage[]): JsonObject[] {
  const written: JsonObject[] = []
  // A tool message holds text only, and all answers to a reply have to stand together: what they show comes after them.
  let shown: JsonObject[] = []
  const show = (): void => {
    if (shown.length > 0) written.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') show()
    written.push(write(message))
    if (message.role === 'tool' && message.content)
      shown.push(
        { type: 'text', text: `What ${message.name} (${message.id}) shows:` },
        ...message.content.map(writeBlock),
      )
  }
  show()
  return written
}

function write(message: AgentMessage): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user':
      return {
        role: 'user',
        content: message.content
          ? [{ type: 'text', text: message.text }, ...message.content.map(writeBlock)]
          : message.text,
      }
    case 'tool':
      return { role: 'tool', tool_call_id: message.id, content: message.text }
    case 'assistant':
      return {
        role: 'assistant',
        content: message.text === '' ? null : message.text,
        ...thoughtsOf(message.own),
        ...(message.calls.length > 0 && { tool_calls: message.calls.map(writeCall) }),
      }
  }
}

// A conversation may have begun with another model: what that one wanted to see again is nothing to this one.
function thoughtsOf(own: JsonObject = {}): JsonObject {
  return Object.fromEntries(
    THOUGHTS.flatMap((field) => (own[field] === undefined ? [] : [[field, own[field]]])),
  )
}

function writeCall({
  id,
  name,
  arguments: given,
  own: { providerOptions: _other, ...own } = {},
}: ModelCall): JsonObject {
  return { ...own, id, type: 'function', function: { name, arguments: writeArguments(given) } }
}

// Many servers parse what a model wrote before, and break where it is no JSON.
function writeArguments(given: unknown): string {
  if (isObject(given)) return JSON.stringify(given)
  const text = typeof given === 'string' ? given : ''
  if (text.trim() === '') return '{}'
  return parseObject(text) ? text : JSON.stringify({ unreadable: text })
}

function writeBlock(block: ContentBlock): JsonObject {
  if (block.type === 'image')
    return { type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } }
  return { type: 'text', text: contentText(block) }
}
