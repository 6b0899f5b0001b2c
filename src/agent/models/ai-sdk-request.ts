/**
 * Requests to a language model of the `ai` package (specification v2 and v3), and its replies.
 */

import { toToolError } from '../../core/errors.ts'
import type { TokenUsage } from '../../protocol/limits.ts'
import type { ContentBlock } from '../../protocol/outcome.ts'
import { renderContentText } from '../../protocol/output.ts'
import { toProvider } from '../../protocol/providers/export-tools.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { toErrorCode } from '../../registry/http.ts'
import { shorten } from '../../util/text.ts'
import { MEBIBYTE } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type {
  AgentMessage,
  AiSdkLanguageModel,
  Model,
  ModelCall,
  ModelReply,
  ModelRequest,
} from '../types.ts'
import { parseArguments, parseRetryAfter, toTokenUsage } from './shared.ts'

/** Characters of one reply. */
const MAX_REPLY_CHARS = 16 * MEBIBYTE

/** Asks a provider of the `ai` package for one reply. */
export async function generateReply(
  model: AiSdkLanguageModel,
  stream: boolean,
  request: ModelRequest,
  { signal, onText }: Parameters<Model['generate']>[1],
): Promise<ModelReply> {
  const options = { ...toCallOptions(model, request), abortSignal: signal } as never
  try {
    if (stream) return await readReplyStream(model, options, onText)
    const result = await model.doGenerate(options)
    if (!isObject(result) || !Array.isArray(result['content']))
      throw new ToolError('DEPENDENCY', `the model '${model.modelId}' gave no content`, {
        retryable: false,
      })
    const builder = createReplyBuilder()
    for (const part of result['content'].filter(isObject)) builder.addPart(part)
    builder.addPart({ ...result, type: 'finish' })
    const reply = builder.reply()
    if (reply.text !== '') onText?.(reply.text)
    return reply
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw toProviderError(error, model)
  }
}

async function readReplyStream(
  model: AiSdkLanguageModel,
  options: never,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const reader = (await model.doStream(options)).stream.getReader()
  const builder = createReplyBuilder()
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!isObject(value)) continue
      if (value['type'] === 'error') throw value['error']
      const delta = builder.addPart(value)
      size += typeof value['delta'] === 'string' ? value['delta'].length : 0
      if (size > MAX_REPLY_CHARS)
        throw new ToolError(
          'OUTPUT_LIMIT',
          `the model '${model.modelId}' wrote more than ${MAX_REPLY_CHARS / MEBIBYTE} million characters`,
        )
      if (delta !== '') onText?.(delta)
    }
  } finally {
    // Closes the connection when we leave before the end.
    await reader.cancel().catch(() => undefined)
  }
  if (!builder.isFinished)
    throw new ToolError(
      'DEPENDENCY',
      `the stream of the model '${model.modelId}' broke off before the reply was whole`,
    )
  return builder.reply()
}

/** A request in the format of the provider interface. */
function toCallOptions(
  { provider, specificationVersion }: AiSdkLanguageModel,
  { messages, tools, maxOutputTokens, temperature, stopSequences }: ModelRequest,
): JsonObject {
  const hasTools = tools.length > 0
  return compact({
    prompt: toSdkPrompt(messages, specificationVersion),
    tools: hasTools ? toSdkTools(provider, tools) : undefined,
    toolChoice: hasTools ? { type: 'auto' } : undefined,
    maxOutputTokens,
    temperature,
    stopSequences: stopSequences && stopSequences.length > 0 ? stopSequences : undefined,
  })
}

function toSdkTools(provider: string, tools: ModelRequest['tools']): JsonObject[] {
  const type = 'function'
  if (provider.includes('anthropic'))
    return toProvider('anthropic', tools).map(
      ({ name, description, input_schema: inputSchema }) => ({
        type,
        name,
        description,
        inputSchema,
      }),
    )
  return toProvider('openai', tools).map(
    ({ function: { name, description, parameters: inputSchema } }) => ({
      type,
      name,
      description,
      inputSchema,
    }),
  )
}

function toSdkPrompt(messages: readonly AgentMessage[], version: string): JsonObject[] {
  const written: JsonObject[] = []
  for (const message of messages) {
    const last = written.at(-1)
    // All results of a reply are one message.
    if (message.role === 'tool' && last?.['role'] === 'tool')
      (last['content'] as JsonObject[]).push(toToolResultPart(message, version))
    else written.push(toSdkMessage(message, version))
  }
  return written
}

function toAssistantParts(
  message: Extract<AgentMessage, { role: 'assistant' }>,
): readonly unknown[] {
  if (Array.isArray(message.own?.['parts'])) return message.own['parts']
  return message.text === '' ? [] : [{ type: 'text', text: message.text }]
}

function toSdkMessage(message: AgentMessage, version: string): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user':
      return {
        role: 'user',
        content: [{ type: 'text', text: message.text }, ...(message.content ?? []).map(toSdkPart)],
      }
    case 'tool':
      return { role: 'tool', content: [toToolResultPart(message, version)] }
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...toAssistantParts(message),
          ...message.calls.map(({ id, name, arguments: given, own }) =>
            compact({
              type: 'tool-call',
              toolCallId: id,
              toolName: name,
              input: parseArguments(given),
              providerOptions: own?.['providerOptions'],
            }),
          ),
        ],
      }
  }
}

function toSdkPart(block: ContentBlock): JsonObject {
  return block.type === 'image' || block.type === 'audio'
    ? { type: 'file', mediaType: block.mimeType, data: block.data }
    : { type: 'text', text: renderContentText(block) }
}

function toToolResultPart(
  { id, name, text, content, failed }: Extract<AgentMessage, { role: 'tool' }>,
  version: string,
): JsonObject {
  const output = content
    ? {
        type: 'content',
        value: [{ type: 'text', text }, ...content.map((block) => toResultContent(block, version))],
      }
    : { type: failed ? 'error-text' : 'text', value: text }
  return { type: 'tool-result', toolCallId: id, toolName: name, output }
}

function toResultContent(block: ContentBlock, version: string): JsonObject {
  if (block.type !== 'image') return { type: 'text', text: renderContentText(block) }
  return {
    type: version === 'v2' ? 'media' : 'image-data',
    data: block.data,
    mediaType: block.mimeType,
  }
}

/** Builds a reply from the parts of a stream or of a whole reply. */
type AiSdkReplyBuilder = {
  /** Returns the text in the part. */
  addPart(part: JsonObject): string
  readonly isFinished: boolean
  reply(): ModelReply
}

/** A part of a message in the form that the provider expects in the next request. */
type AiSdkReplyPart = {
  readonly type: string
  text?: string
  id?: unknown
  readonly call?: ModelCall
  providerOptions?: unknown
}

function createReplyBuilder(): AiSdkReplyBuilder {
  const parts: AiSdkReplyPart[] = []
  let finish: JsonObject | undefined

  const appendText = (type: 'text' | 'reasoning', part: JsonObject, delta: unknown): string => {
    const { id, providerMetadata } = part
    let kept =
      id === undefined ? undefined : parts.findLast((one) => one.type === type && one.id === id)
    if (!kept) parts.push((kept = { type, text: '', id }))
    if (providerMetadata !== undefined) kept.providerOptions = providerMetadata
    if (typeof delta !== 'string') return ''
    kept.text += delta
    return type === 'text' ? delta : ''
  }

  return {
    addPart(part) {
      const { type } = part
      const [kind, step] = String(type).split('-') as [string, string | undefined]
      if (kind === 'text' || kind === 'reasoning')
        return appendText(kind, part, step === undefined ? part['text'] : part['delta'])
      // The provider itself runs some calls.
      if (type === 'tool-call' && part['providerExecuted'] !== true)
        parts.push({
          type,
          call: {
            id: String(part['toolCallId'] ?? ''),
            name: String(part['toolName'] ?? ''),
            arguments: part['input'],
          },
          ...compact({ providerOptions: part['providerMetadata'] }),
        })
      else if (type === 'finish') finish = part
      return ''
    },
    get isFinished() {
      return finish !== undefined
    },
    reply: () =>
      compact({
        text: parts
          .filter(({ type }) => type === 'text')
          .map(({ text }) => text)
          .join(''),
        calls: parts.flatMap(({ call, providerOptions }) => {
          const own = providerOptions === undefined ? undefined : { providerOptions }
          return call ? [{ ...call, ...compact({ own }) }] : []
        }),
        finish: toFinishReason(finish?.['finishReason']),
        usage: readUsage(finish?.['usage']),
        // Plain text is in the message already.
        own: parts.some(
          ({ type, providerOptions }) =>
            type === 'reasoning' || (type === 'text' && providerOptions !== undefined),
        )
          ? {
              parts: parts
                .filter(({ type }) => type !== 'tool-call')
                .map(({ type, text, providerOptions }) => compact({ type, text, providerOptions })),
            }
          : undefined,
      }),
  }
}

// A word in v2, in v3 an object with the word.
function toFinishReason(reason: unknown): NonNullable<ModelReply['finish']> {
  const word = isObject(reason) ? reason['unified'] : reason
  if (word === 'length') return 'length'
  return word === 'content-filter' ? 'content_filter' : 'stop'
}

// A number in v2, in v3 an object with the total.
function readUsage(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = isObject(usage) ? usage : {}
  const [input, output] = [inputTokens, outputTokens].map((tokens) =>
    isObject(tokens) ? tokens['total'] : tokens,
  )
  return toTokenUsage(input, output)
}

/** Turns an error of a provider, which says itself whether it is retryable, into a ToolError. */
function toProviderError(thrown: unknown, { provider, modelId }: AiSdkLanguageModel): ToolError {
  if (ToolError.is(thrown)) return thrown
  const { name, message, statusCode, isRetryable, responseHeaders } = (
    isObject(thrown) || thrown instanceof Error ? thrown : { message: String(thrown) }
  ) as { readonly [field: string]: unknown }
  const who = `the model '${provider}:${modelId}'`
  const words = shorten(typeof message === 'string' ? message : 'error', 1000)
  if (/LoadAPIKey|LoadSetting/.test(String(name)))
    return new ToolError('CONFIG', `${who} cannot be used: ${words}`)
  if (typeof statusCode !== 'number') {
    const { code } = toToolError(thrown)
    return new ToolError(code === 'INTERNAL' ? 'DEPENDENCY' : code, `${who} failed: ${words}`, {
      retryable: isRetryable === true || code === 'DEPENDENCY',
      cause: thrown,
    })
  }
  const headers = isObject(responseHeaders) ? responseHeaders : {}
  const wait = parseRetryAfter((header) => headers[header])
  return new ToolError(
    toErrorCode(statusCode),
    `${who} answered ${statusCode}: ${words}`,
    compact({
      retryable: typeof isRetryable === 'boolean' ? isRetryable : undefined,
      details: compact({ status: statusCode, retry_after_s: wait }),
    }),
  )
}
