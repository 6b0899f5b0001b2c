/**
 * Reads the tool calls of a model from the reply of any provider. A call that cannot be made
 * carries its problem in words that help the model to repair it.
 */

import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { ErrorObject } from '../outcome.ts'
import { ToolError } from '../tool-error.ts'

/**
 * The calls that a value carries, and whether it is one call itself rather than a reply that holds
 * calls.
 */
export type ReadToolCalls = {
  readonly calls: readonly ProviderToolCall[]
  readonly isSingle: boolean
}

/**
 * The calls in what a model said: one call in the form of any provider, a list of them, or a whole
 * reply (which may hold none). Throws INVALID_INPUT for a value that is none of these.
 */
export function readToolCall(value: unknown): readonly ProviderToolCall[] {
  return readToolCalls(value).calls
}

/** Like `readToolCall`, and tells one call from a reply. */
export function readToolCalls(value: unknown): ReadToolCalls {
  if (Array.isArray(value))
    return {
      calls: value.flatMap((item: unknown) =>
        isObject(item) ? (readSingleCall(item) ?? readReplyCalls(item) ?? []) : [],
      ),
      isSingle: false,
    }
  if (isObject(value)) {
    const single = readSingleCall(value)
    if (single) return { calls: [single], isSingle: true }
    const calls = readReplyCalls(value)
    if (calls) return { calls, isSingle: false }
  }
  throw new ToolError('INVALID_INPUT', 'this is no tool call in a form that is known', {
    suggestion:
      'Give the call as the provider sent it: {id, function: {name, arguments}}, {type: "function_call"}, {type: "tool_use"}, {functionCall}, {method: "tools/call"}, {toolCallId}; or the whole reply',
  })
}

type SingleCallReader = (value: JsonObject) => ProviderToolCall | undefined

// The order matters: the last forms have the least to be known by.
const SINGLE_CALL_READERS: readonly SingleCallReader[] = [
  ({ type, call_id, name, arguments: given }) =>
    type === 'function_call' ? createToolCall('openai-responses', call_id, name, given) : undefined,
  ({ type, id, name, input }) =>
    type === 'tool_use' ? createToolCall('anthropic', id, name, input) : undefined,
  ({ type, id, function: called }) =>
    isObject(called) && (type === undefined || type === 'function')
      ? createToolCall('openai', id, called['name'], called['arguments'])
      : undefined,
  ({ functionCall }) =>
    isObject(functionCall)
      ? createToolCall('gemini', functionCall['id'], functionCall['name'], functionCall['args'])
      : undefined,
  ({ toolCallId, toolName, input, args }) =>
    typeof toolCallId === 'string'
      ? createToolCall('ai-sdk', toolCallId, toolName, input ?? args)
      : undefined,
  ({ method, params }) =>
    method === 'tools/call' && isObject(params)
      ? createToolCall('mcp', undefined, params['name'], params['arguments'])
      : undefined,
  ({ id, name, args }) =>
    typeof name === 'string' && isObject(args)
      ? createToolCall('gemini', id, name, args)
      : undefined,
  ({ type, role, name, arguments: given }) =>
    typeof name === 'string' && given !== undefined && type === undefined && role === undefined
      ? createToolCall('mcp', undefined, name, given)
      : undefined,
]

function readSingleCall(value: JsonObject): ProviderToolCall | undefined {
  for (const read of SINGLE_CALL_READERS) {
    const call = read(value)
    if (call) return call
  }
  return undefined
}

type ReplyReader = (value: JsonObject) => readonly ProviderToolCall[] | undefined

const REPLY_READERS: readonly ReplyReader[] = [
  ({ tool_calls }) => (Array.isArray(tool_calls) ? tool_calls.map(readOpenAiCall) : undefined),
  ({ choices }) =>
    Array.isArray(choices)
      ? choices.flatMap((choice) => readNestedReply(choice, 'message'))
      : undefined,
  ({ output }) =>
    Array.isArray(output) ? output.flatMap(readCallsOfType('function_call')) : undefined,
  ({ candidates }) =>
    Array.isArray(candidates)
      ? candidates.flatMap((candidate) => readNestedReply(candidate, 'content'))
      : undefined,
  ({ parts }) =>
    Array.isArray(parts)
      ? parts.flatMap((part) =>
          isObject(part) && isObject(part['functionCall']) ? (readSingleCall(part) ?? []) : [],
        )
      : undefined,
  ({ toolCalls }) =>
    Array.isArray(toolCalls)
      ? toolCalls.flatMap((call) => (isObject(call) ? (readSingleCall(call) ?? []) : []))
      : undefined,
  ({ message }) => (isObject(message) ? readReplyCalls(message) : undefined),
  ({ content }) =>
    Array.isArray(content) ? content.flatMap(readCallsOfType('tool_use')) : undefined,
  // Only words: the model is done.
  ({ role }) => (role === 'assistant' || role === 'model' ? [] : undefined),
]

function readReplyCalls(value: JsonObject): readonly ProviderToolCall[] | undefined {
  for (const read of REPLY_READERS) {
    const calls = read(value)
    if (calls) return calls
  }
  return undefined
}

// Every member is answered, because a call without an answer makes the next request fail.
function readOpenAiCall(value: unknown): ProviderToolCall {
  const given = isObject(value) ? value : {}
  return readSingleCall(given) ?? createToolCall('openai', given['id'], undefined, undefined)
}

function readCallsOfType(type: string): (item: unknown) => readonly ProviderToolCall[] {
  return (item) => {
    const call = isObject(item) && item['type'] === type ? readSingleCall(item) : undefined
    return call ? [call] : []
  }
}

function readNestedReply(value: unknown, key: string): readonly ProviderToolCall[] {
  const held = isObject(value) ? value[key] : undefined
  return isObject(held) ? (readReplyCalls(held) ?? []) : []
}

/** Whose form a call has, and its answer will have. */
export type CallProvider = 'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'mcp' | 'ai-sdk'

/** One call that a model makes, whichever provider carried it. */
export type ProviderToolCall = {
  readonly provider: CallProvider
  readonly id?: string
  /** The name under which the tool was exported; empty where the model gave none. */
  readonly name: string
} & (
  | { readonly arguments: JsonObject; readonly problem?: undefined }
  /** What keeps the call from being made, in words that help the model to repair it. */
  | { readonly problem: ErrorObject; readonly arguments?: undefined }
)

/**
 * Makes a call of what a provider carried; wrong arguments and missing names become the call's
 * problem.
 */
export function createToolCall(
  provider: CallProvider,
  id: unknown,
  name: unknown,
  given: unknown,
): ProviderToolCall {
  const head = compact({
    provider,
    id: typeof id === 'string' ? id : undefined,
    name: typeof name === 'string' ? name : '',
  })
  if (head.name === '')
    return {
      ...head,
      problem: createCallError(
        'the call names no tool',
        'Call again with the name of one of the tools that you were given',
      ).toObject(),
    }
  try {
    return { ...head, arguments: readArguments(given, head.name) }
  } catch (error) {
    return { ...head, problem: (error as ToolError).toObject() }
  }
}

function readArguments(given: unknown, name: string): JsonObject {
  if (given === undefined || given === null) return {}
  if (isObject(given)) return given
  if (typeof given !== 'string') throw createWrongKindError(given, name)
  if (given.trim() === '') return {}
  const read = parseArguments(given, name)
  // Some models encode twice.
  const value =
    typeof read === 'string' && read.trimStart().startsWith('{') ? parseArguments(read, name) : read
  if (value === null) return {}
  if (!isObject(value)) throw createWrongKindError(value, name)
  return value
}

function parseArguments(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw createCallError(
      `the arguments of '${shorten(name, 100)}' are not JSON: ${shorten((error as Error).message, 200)}`,
      'Call the tool again with its arguments as one complete JSON object, such as {"field":"value"}: double quotes, no comments, nothing cut off',
    )
  }
}

function createWrongKindError(value: unknown, name: string): ToolError {
  const kind = Array.isArray(value) ? 'a list' : `a ${typeof value}`
  return createCallError(
    `the arguments of '${shorten(name, 100)}' are ${kind}, not a JSON object`,
    'Call the tool again with its arguments as one JSON object, such as {"field":"value"}',
  )
}

function createCallError(message: string, fix: string): ToolError {
  return new ToolError('INVALID_INPUT', message, { suggestion: fix })
}
