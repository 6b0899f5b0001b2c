import type { ContentBlock } from '../content.ts'
import { isObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import type { Outcome } from '../outcome.ts'
import { contentText, outcomeText, wholeText } from './outcome-text.ts'
import type { CallProvider, ToolCall } from './tool-call.ts'

/** What a tool message looks like depends on the provider; each is a JSON object that goes back into the conversation as it is. */
export type ToolMessage = JsonObject

/** The answer to a call in the form of its provider. A hidden result stays hidden: the model sees message and content. */
export function renderToolMessage(
  provider: CallProvider,
  call: Pick<ToolCall, 'id' | 'name'>,
  outcome: Outcome,
): ToolMessage {
  return RENDERERS[provider](call, outcome)
}

type Render = (call: Pick<ToolCall, 'id' | 'name'>, outcome: Outcome) => ToolMessage

const RENDERERS: { readonly [Provider in CallProvider]: Render } = {
  openai: ({ id, name }, outcome) => ({
    role: 'tool',
    ...(id === undefined ? { tool_name: name } : { tool_call_id: id }),
    content: wholeText(outcome),
  }),
  'openai-responses': ({ id }, outcome) => ({
    type: 'function_call_output',
    call_id: id ?? '',
    output: hasPictures(outcome) ? blocks(outcome, responsesBlock) : wholeText(outcome),
  }),
  anthropic: ({ id }, outcome) => ({
    type: 'tool_result',
    tool_use_id: id ?? '',
    content: blocks(outcome, anthropicBlock),
    ...(!outcome.ok && { is_error: true }),
  }),
  gemini: ({ id, name }, outcome) => {
    const parts = contentOf(outcome)
      .filter(isPicture)
      .map(({ data, mimeType }) => ({ inlineData: { mimeType, data } }))
    return {
      functionResponse: {
        ...(id !== undefined && { id }),
        name,
        response: geminiResponse(outcome),
        ...(parts.length > 0 && { parts }),
      },
    }
  },
  mcp: (_call, outcome) => ({
    content: blocks(outcome, (block) => block),
    ...(outcome.ok &&
      !outcome.hidden &&
      isObject(outcome.result) && { structuredContent: outcome.result }),
    ...(!outcome.ok && { isError: true }),
  }),
  'ai-sdk': ({ id, name }, outcome) => ({
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: id ?? '', toolName: name, output: aiSdkOutput(outcome) },
    ],
  }),
}

type Picture = Extract<ContentBlock, { type: 'image' }>
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function contentOf(outcome: Outcome): readonly ContentBlock[] {
  return outcome.ok ? (outcome.content ?? []) : []
}

// Providers look at these kinds; of others they are told.
function isPicture(block: ContentBlock): block is Picture {
  return block.type === 'image' && PICTURES.has(block.mimeType)
}

function hasPictures(outcome: Outcome): boolean {
  return contentOf(outcome).some(isPicture)
}

function blocks(outcome: Outcome, write: (block: ContentBlock) => object): object[] {
  const text = outcomeText(outcome)
  return [
    ...(text === '' ? [] : [write({ type: 'text', text })]),
    ...contentOf(outcome)
      .filter((block) => block.type !== 'text' || block.text !== '')
      .map(write),
  ]
}

function responsesBlock(block: ContentBlock): object {
  return isPicture(block)
    ? { type: 'input_image', image_url: `data:${block.mimeType};base64,${block.data}` }
    : { type: 'input_text', text: contentText(block) }
}

function anthropicBlock(block: ContentBlock): object {
  return isPicture(block)
    ? { type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } }
    : { type: 'text', text: contentText(block) }
}

function geminiResponse(outcome: Outcome): JsonObject {
  if (!outcome.ok)
    return {
      error: outcome.error,
      ...(outcome.errors && { errors: outcome.errors }),
      ...(outcome.summary && { summary: outcome.summary }),
    }
  const { result, message, hidden } = outcome
  const content = contentOf(outcome)
    .filter((block) => !isPicture(block))
    .map(contentText)
  const response = {
    ...(!hidden && result !== undefined && { output: result }),
    ...(message !== undefined && { message }),
    ...(content.length > 0 && { content }),
    ...(outcome.status === 'partial' && { errors: outcome.errors, summary: outcome.summary }),
  }
  return Object.keys(response).length > 0 ? response : { output: 'Done.' }
}

function aiSdkOutput(outcome: Outcome): JsonObject {
  if (!outcome.ok) return { type: 'error-text', value: outcomeText(outcome) }
  if (contentOf(outcome).length === 0) return { type: 'text', value: wholeText(outcome) }
  return {
    type: 'content',
    value: blocks(outcome, (block) =>
      isPicture(block)
        ? { type: 'media', mediaType: block.mimeType, data: block.data }
        : { type: 'text', text: contentText(block) },
    ),
  }
}
