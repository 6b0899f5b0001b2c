import { isObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import type { ErrorObject, FailureOutcome } from '../outcome.ts'
import { shorten } from '../shorten.ts'
import { ToolError } from '../tool-error.ts'

/** Whose form a call has, and its answer will have. */
export type CallProvider = 'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'mcp' | 'ai-sdk'

/** One call that a model makes, whichever provider carried it. */
export type ToolCall = {
  readonly provider: CallProvider
  readonly id?: string
  /** The name under which the tool was exported; empty where the model gave none. */
  readonly name: string
} & (
  | { readonly arguments: JsonObject; readonly problem?: undefined }
  /** What keeps the call from being made, in words that help the model to repair it. */
  | { readonly problem: ErrorObject; readonly arguments?: undefined }
)

/** Makes a call of what a provider carried; wrong arguments and missing names become the call's problem. */
export function toolCall(
  provider: CallProvider,
  id: unknown,
  name: unknown,
  given: unknown,
): ToolCall {
  const head = {
    provider,
    ...(typeof id === 'string' && { id }),
    name: typeof name === 'string' ? name : '',
  }
  if (head.name === '')
    return {
      ...head,
      problem: problem(
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

/** The failure that a call's problem is. */
export function failedCall(call: { readonly name: string }, error: ErrorObject): FailureOutcome {
  return { ok: false, status: 'error', error, meta: { tool: call.name, duration_ms: 0 } }
}

function readArguments(given: unknown, name: string): JsonObject {
  if (given === undefined || given === null) return {}
  if (isObject(given)) return given
  if (typeof given !== 'string') throw wrongKind(given, name)
  if (given.trim() === '') return {}
  const read = parse(given, name)
  // Some models encode twice.
  const value =
    typeof read === 'string' && read.trimStart().startsWith('{') ? parse(read, name) : read
  if (value === null) return {}
  if (!isObject(value)) throw wrongKind(value, name)
  return value
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw problem(
      `the arguments of '${shorten(name, 100)}' are not JSON: ${shorten((error as Error).message, 200)}`,
      'Call the tool again with its arguments as one complete JSON object, such as {"field":"value"}: double quotes, no comments, nothing cut off',
    )
  }
}

function wrongKind(value: unknown, name: string): ToolError {
  const kind = Array.isArray(value) ? 'a list' : `a ${typeof value}`
  return problem(
    `the arguments of '${shorten(name, 100)}' are ${kind}, not a JSON object`,
    'Call the tool again with its arguments as one JSON object, such as {"field":"value"}',
  )
}

function problem(message: string, fix: string): ToolError {
  return new ToolError('INVALID_INPUT', message, { suggestion: fix })
}
