import { isObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { ToolError } from '../tool-error.ts'
import { toolCall } from './tool-call.ts'
import type { ToolCall } from './tool-call.ts'

/** The calls that a value carries, and whether it is one call itself rather than a reply that holds calls. */
export type ReadCalls = { readonly calls: readonly ToolCall[]; readonly isSingle: boolean }

/** The calls in what a model said: one call in the form of any provider, a list of them, or a whole reply (which may hold none). Throws INVALID_INPUT for a value that is none of these. */
export function readToolCall(value: unknown): readonly ToolCall[] {
  return readToolCalls(value).calls
}

/** Like `readToolCall`, and tells one call from a reply. */
export function readToolCalls(value: unknown): ReadCalls {
  if (Array.isArray(value))
    return {
      calls: value.flatMap((item: unknown) =>
        isObject(item) ? (readSingle(item) ?? readReply(item) ?? []) : [],
      ),
      isSingle: false,
    }
  if (isObject(value)) {
    const single = readSingle(value)
    if (single) return { calls: [single], isSingle: true }
    const calls = readReply(value)
    if (calls) return { calls, isSingle: false }
  }
  throw new ToolError('INVALID_INPUT', 'this is no tool call in a form that is known', {
    suggestion:
      'Give the call as the provider sent it: {id, function: {name, arguments}}, {type: "function_call"}, {type: "tool_use"}, {functionCall}, {method: "tools/call"}, {toolCallId}; or the whole reply',
  })
}

type Read = (value: JsonObject) => ToolCall | undefined

// The order matters: the last forms have the least to be known by.
const SINGLE: readonly Read[] = [
  ({ type, call_id, name, arguments: given }) =>
    type === 'function_call' ? toolCall('openai-responses', call_id, name, given) : undefined,
  ({ type, id, name, input }) =>
    type === 'tool_use' ? toolCall('anthropic', id, name, input) : undefined,
  ({ type, id, function: called }) =>
    isObject(called) && (type === undefined || type === 'function')
      ? toolCall('openai', id, called['name'], called['arguments'])
      : undefined,
  ({ functionCall }) =>
    isObject(functionCall)
      ? toolCall('gemini', functionCall['id'], functionCall['name'], functionCall['args'])
      : undefined,
  ({ toolCallId, toolName, input, args }) =>
    typeof toolCallId === 'string'
      ? toolCall('ai-sdk', toolCallId, toolName, input ?? args)
      : undefined,
  ({ method, params }) =>
    method === 'tools/call' && isObject(params)
      ? toolCall('mcp', undefined, params['name'], params['arguments'])
      : undefined,
  ({ id, name, args }) =>
    typeof name === 'string' && isObject(args) ? toolCall('gemini', id, name, args) : undefined,
  ({ type, role, name, arguments: given }) =>
    typeof name === 'string' && given !== undefined && type === undefined && role === undefined
      ? toolCall('mcp', undefined, name, given)
      : undefined,
]

function readSingle(value: JsonObject): ToolCall | undefined {
  for (const read of SINGLE) {
    const call = read(value)
    if (call) return call
  }
  return undefined
}

type ReadReply = (value: JsonObject) => readonly ToolCall[] | undefined

const REPLIES: readonly ReadReply[] = [
  ({ tool_calls }) => (Array.isArray(tool_calls) ? tool_calls.map(openAiCall) : undefined),
  ({ choices }) =>
    Array.isArray(choices) ? choices.flatMap((choice) => inner(choice, 'message')) : undefined,
  ({ output }) => (Array.isArray(output) ? output.flatMap(ofType('function_call')) : undefined),
  ({ candidates }) =>
    Array.isArray(candidates)
      ? candidates.flatMap((candidate) => inner(candidate, 'content'))
      : undefined,
  ({ parts }) =>
    Array.isArray(parts)
      ? parts.flatMap((part) =>
          isObject(part) && isObject(part['functionCall']) ? (readSingle(part) ?? []) : [],
        )
      : undefined,
  ({ toolCalls }) =>
    Array.isArray(toolCalls)
      ? toolCalls.flatMap((call) => (isObject(call) ? (readSingle(call) ?? []) : []))
      : undefined,
  ({ message }) => (isObject(message) ? readReply(message) : undefined),
  ({ content }) => (Array.isArray(content) ? content.flatMap(ofType('tool_use')) : undefined),
  // Only words: the model is done.
  ({ role }) => (role === 'assistant' || role === 'model' ? [] : undefined),
]

function readReply(value: JsonObject): readonly ToolCall[] | undefined {
  for (const read of REPLIES) {
    const calls = read(value)
    if (calls) return calls
  }
  return undefined
}

// Every member is answered, because a call without an answer makes the next request fail.
function openAiCall(value: unknown): ToolCall {
  const given = isObject(value) ? value : {}
  return readSingle(given) ?? toolCall('openai', given['id'], undefined, undefined)
}

function ofType(type: string): (item: unknown) => readonly ToolCall[] {
  return (item) => {
    const call = isObject(item) && item['type'] === type ? readSingle(item) : undefined
    return call ? [call] : []
  }
}

function inner(value: unknown, key: string): readonly ToolCall[] {
  const held = isObject(value) ? value[key] : undefined
  return isObject(held) ? (readReply(held) ?? []) : []
}
