/**
 * The answer to a tool call in the message form of its provider, and the way back from the
 * arguments of the model to the input of the tool.
 */

import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { ContentBlock, Outcome } from '../outcome.ts'
import { renderContentText, renderFullText, renderOutcomeText } from '../output.ts'
import type { ShapeVariant } from './object-input.ts'
import {
  FIELD_NAME_RULES,
  listVariants,
  toObjectShape,
  toProviderFieldNames,
} from './object-input.ts'
import type { SchemaShape } from './schema-shape.ts'
import { readShape } from './schema-shape.ts'
import type { CallProvider, ProviderToolCall } from './tool-calls.ts'

/**
 * What a tool message looks like depends on the provider; each is a JSON object that goes back into
 * the conversation as it is.
 */
export type ToolMessage = JsonObject

/**
 * The answer to a call in the form of its provider. A hidden result stays hidden: the model sees
 * message and content.
 */
export function renderToolMessage(
  provider: CallProvider,
  call: Pick<ProviderToolCall, 'id' | 'name'>,
  outcome: Outcome,
): ToolMessage {
  return MESSAGE_RENDERERS[provider](call, outcome)
}

type MessageRenderer = (
  call: Pick<ProviderToolCall, 'id' | 'name'>,
  outcome: Outcome,
) => ToolMessage

const MESSAGE_RENDERERS: { readonly [Provider in CallProvider]: MessageRenderer } = {
  openai: ({ id, name }, outcome) => ({
    role: 'tool',
    ...(id === undefined ? { tool_name: name } : { tool_call_id: id }),
    content: renderFullText(outcome),
  }),
  'openai-responses': ({ id }, outcome) => ({
    type: 'function_call_output',
    call_id: id ?? '',
    output: hasProviderImage(outcome)
      ? renderBlocks(outcome, toResponsesBlock)
      : renderFullText(outcome),
  }),
  anthropic: ({ id }, outcome) =>
    compact({
      type: 'tool_result',
      tool_use_id: id ?? '',
      content: renderBlocks(outcome, toAnthropicBlock),
      is_error: !outcome.ok || undefined,
    }),
  gemini: ({ id, name }, outcome) => {
    const parts = getContent(outcome)
      .filter(isProviderImage)
      .map(({ data, mimeType }) => ({ inlineData: { mimeType, data } }))
    return {
      functionResponse: compact({
        id,
        name,
        response: toGeminiResponse(outcome),
        parts: parts.length > 0 ? parts : undefined,
      }),
    }
  },
  mcp: (_call, outcome) =>
    compact({
      content: renderBlocks(outcome, (block) => block),
      structuredContent:
        outcome.ok && !outcome.hidden && isObject(outcome.result) ? outcome.result : undefined,
      isError: !outcome.ok || undefined,
    }),
  'ai-sdk': ({ id, name }, outcome) => ({
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: id ?? '', toolName: name, output: toAiSdkOutput(outcome) },
    ],
  }),
}

type ProviderImage = Extract<ContentBlock, { type: 'image' }>
const PROVIDER_IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function getContent(outcome: Outcome): readonly ContentBlock[] {
  return outcome.ok ? (outcome.content ?? []) : []
}

// Providers look at these kinds; of others they are told.
function isProviderImage(block: ContentBlock): block is ProviderImage {
  return block.type === 'image' && PROVIDER_IMAGE_TYPES.has(block.mimeType)
}

function hasProviderImage(outcome: Outcome): boolean {
  return getContent(outcome).some(isProviderImage)
}

function renderBlocks(outcome: Outcome, write: (block: ContentBlock) => object): object[] {
  const text = renderOutcomeText(outcome)
  return [
    ...(text === '' ? [] : [write({ type: 'text', text })]),
    ...getContent(outcome)
      .filter((block) => block.type !== 'text' || block.text !== '')
      .map(write),
  ]
}

function toResponsesBlock(block: ContentBlock): object {
  return isProviderImage(block)
    ? { type: 'input_image', image_url: `data:${block.mimeType};base64,${block.data}` }
    : { type: 'input_text', text: renderContentText(block) }
}

function toAnthropicBlock(block: ContentBlock): object {
  return isProviderImage(block)
    ? { type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } }
    : { type: 'text', text: renderContentText(block) }
}

function toGeminiResponse(outcome: Outcome): JsonObject {
  if (!outcome.ok)
    return compact({ error: outcome.error, errors: outcome.errors, summary: outcome.summary })
  const { result, message, hidden } = outcome
  const { errors, summary } = outcome.status === 'partial' ? outcome : {}
  const content = getContent(outcome)
    .filter((block) => !isProviderImage(block))
    .map(renderContentText)
  const response = compact({
    output: hidden ? undefined : result,
    message,
    content: content.length > 0 ? content : undefined,
    errors,
    summary,
  })
  return Object.keys(response).length > 0 ? response : { output: 'Done.' }
}

function toAiSdkOutput(outcome: Outcome): JsonObject {
  if (!outcome.ok) return { type: 'error-text', value: renderOutcomeText(outcome) }
  if (getContent(outcome).length === 0) return { type: 'text', value: renderFullText(outcome) }
  return {
    type: 'content',
    value: renderBlocks(outcome, (block) =>
      isProviderImage(block)
        ? { type: 'media', mediaType: block.mimeType, data: block.data }
        : { type: 'text', text: renderContentText(block) },
    ),
  }
}

/**
 * The arguments as the tool takes them: `null` for a field that was left out under strict mode is
 * taken out again, and fields have the names that their provider could not carry. Nothing else
 * changes.
 */
export function restoreArguments(inputSchema: JsonSchema, given: JsonObject): JsonObject {
  return restoreObject([toObjectShape(readShape(inputSchema))], given)
}

function restoreValue(shape: SchemaShape, value: unknown): unknown {
  const kinds = listVariants(shape)
  if (Array.isArray(value)) {
    const [list] = kinds.filter(({ types }) => types?.[0] === 'array')
    return list
      ? value.map((item: unknown, index) =>
          restoreOptional(list.prefix?.[index] ?? list.items, item),
        )
      : value
  }
  if (!isObject(value)) return value
  const objects = kinds.filter(({ types }) => types?.[0] === 'object')
  return objects.length > 0 ? restoreObject(objects, value) : value
}

function restoreOptional(shape: SchemaShape | undefined, value: unknown): unknown {
  return shape ? restoreValue(shape, value) : value
}

function restoreObject(forms: readonly ShapeVariant[], given: JsonObject): JsonObject {
  const form = findBestForm(forms, given)
  const owners = mapToOwnFields(form, given)
  const restored = Object.entries(given).flatMap(([key, value]): [string, unknown][] => {
    const field = form.properties.has(key) ? key : (owners.get(key) ?? key)
    const inner = form.properties.get(field)
    if (inner === undefined)
      return [
        [field, typeof form.additional === 'object' ? restoreValue(form.additional, value) : value],
      ]
    if (value === null && !inner.nullable && !form.required.has(field)) return []
    return [[field, restoreValue(inner, value)]]
  })
  return Object.fromEntries(restored)
}

// Providers rename in different ways, and one name may mean two fields; the way that knows most of
// what was given is the one by which it was asked for.
function mapToOwnFields({ properties }: ShapeVariant, given: JsonObject): Map<string, string> {
  const ways = Object.values(FIELD_NAME_RULES).map(
    (rule) =>
      new Map(
        [...toProviderFieldNames(properties.keys(), rule)].map(([field, name]) => [name, field]),
      ),
  )
  const known = (way: ReadonlyMap<string, string>): number =>
    Object.keys(given).filter((key) => way.has(key)).length
  return ways.reduce((best, way) => (known(way) > known(best) ? way : best))
}

// The form whose fixed values and fields agree best with what was given.
function findBestForm(forms: readonly ShapeVariant[], given: JsonObject): ShapeVariant {
  const score = (form: ShapeVariant): number =>
    Object.entries(given).reduce(
      (sum, [key, value]) => sum + scoreField(form.properties.get(key), value),
      0,
    )
  return forms.reduce((best, form) => (score(form) > score(best) ? form : best))
}

function scoreField(field: SchemaShape | undefined, value: unknown): number {
  if (!field) return value === null ? 0 : -1
  if (!field.values || value === null) return 1
  return field.values.includes(value) ? 10 : -10
}
