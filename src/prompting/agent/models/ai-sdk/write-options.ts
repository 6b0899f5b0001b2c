import type { ContentBlock } from '../../../../contract/content.ts'
import { isObject, parseObject } from '../../../../contract/json.ts'
import type { JsonObject } from '../../../../contract/json.ts'
import { contentText } from '../../../../contract/providers/outcome-text.ts'
import { toProvider } from '../../../../contract/providers/to-provider.ts'
import type { AgentMessage, ModelRequest } from '../../model-type.ts'
import type { AiSdkLanguageModel } from './language-model.ts'

/** A request in the words of the provider interface. */
export function writeOptions(
  { provider, specificationVersion }: AiSdkLanguageModel,
  { messages, tools, maxOutputTokens, temperature, stopSequences }: ModelRequest,
): JsonObject {
  return {
    prompt: writePrompt(messages, specificationVersion),
    ...(tools.length > 0 && { tools: writeTools(provider, tools), toolChoice: { type: 'auto' } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && stopSequences.length > 0 && { stopSequences }),
  }
}

function writeTools(provider: string, tools: ModelRequest['tools']): JsonObject[] {
  if (provider.includes('anthropic'))
    return toProvider('anthropic', tools).map(
      ({ name, description, input_schema: inputSchema }) => ({
        type: 'function',
        name,
        description,
        inputSchema,
      }),
    )
  return toProvider('openai', tools).map(
    ({ function: { name, description, parameters: inputSchema } }) => ({
      type: 'function',
      name,
      description,
      inputSchema,
    }),
  )
}

function writePrompt(messages: readonly AgentMessage[], version: string): JsonObject[] {
  const written: JsonObject[] = []
  for (const message of messages) {
    const last = written.at(-1)
    // All answers to a reply are one message.
    if (message.role === 'tool' && last?.['role'] === 'tool')
      (last['content'] as JsonObject[]).push(writeResult(message, version))
    else written.push(write(message, version))
  }
  return written
}

function write(message: AgentMessage, version: string): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user':
      return {
        role: 'user',
        content: [{ type: 'text', text: message.text }, ...(message.content ?? []).map(writePart)],
      }
    case 'tool':
      return { role: 'tool', content: [writeResult(message, version)] }
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.own && Array.isArray(message.own['parts'])
            ? (message.own['parts'] as readonly unknown[])
            : message.text === ''
              ? []
              : [{ type: 'text', text: message.text }]),
          ...message.calls.map(({ id, name, arguments: given, own }) => ({
            type: 'tool-call',
            toolCallId: id,
            toolName: name,
            input: readArguments(given),
            ...(own?.['providerOptions'] !== undefined && {
              providerOptions: own['providerOptions'],
            }),
          })),
        ],
      }
  }
}

// Providers take an object here, also where the model wrote none.
function readArguments(given: unknown): JsonObject {
  if (isObject(given)) return given
  const text = typeof given === 'string' ? given : ''
  return parseObject(text) ?? (text.trim() === '' ? {} : { unreadable: text })
}

function writePart(block: ContentBlock): JsonObject {
  return block.type === 'image' || block.type === 'audio'
    ? { type: 'file', mediaType: block.mimeType, data: block.data }
    : { type: 'text', text: contentText(block) }
}

function writeResult(
  { id, name, text, content, failed }: Extract<AgentMessage, { role: 'tool' }>,
  version: string,
): JsonObject {
  const output = content
    ? {
        type: 'content',
        value: [{ type: 'text', text }, ...content.map((block) => writeShown(block, version))],
      }
    : { type: failed ? 'error-text' : 'text', value: text }
  return { type: 'tool-result', toolCallId: id, toolName: name, output }
}

function writeShown(block: ContentBlock, version: string): JsonObject {
  if (block.type !== 'image') return { type: 'text', text: contentText(block) }
  return {
    type: version === 'v2' ? 'media' : 'image-data',
    data: block.data,
    mediaType: block.mimeType,
  }
}
