/**
 * Replies of `POST /chat/completions`, streamed or whole, and its errors.
 */

import { createParser } from 'eventsource-parser'
import type { FailOptions } from '../../protocol/tool-error.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { toErrorCode } from '../../registry/http.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import type { ModelCall, ModelReply } from '../types.ts'
import { parseRetryAfter, toTokenUsage } from './shared.ts'

/** Fields of a message that some servers expect again together with its calls. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning_details']

/** Builds a reply from the chunks of a stream or from a whole message. */
type OpenAiReplyBuilder = {
  /** Adds `{ delta }` or `{ message }` and returns its text. */
  addChoice(choice: JsonObject): string
  /** Sets the `usage` of a chunk, if it has one. */
  setUsage(usage: unknown): void
  /** True once the server has sent a finish reason. */
  readonly isFinished: boolean
  /** False while the arguments of a call are incomplete. */
  readonly hasCompleteCalls: boolean
  reply(): ModelReply
}

type PartialToolCall = {
  readonly index: unknown
  id: string | undefined
  name: string
  arguments: unknown
  own: JsonObject
}

function createReplyBuilder(): OpenAiReplyBuilder {
  let text = ''
  let finish: unknown
  let usage: ModelReply['usage']
  const calls: PartialToolCall[] = []
  const thoughts: { [field: string]: unknown } = {}

  const addCall = (delta: JsonObject, isWhole: boolean): void => {
    const { index, id, type: _type, function: called, ...own } = delta
    const { name, arguments: given } = isObject(called) ? called : {}
    const before = isWhole ? undefined : findPartialCall(calls, index, id)
    const call =
      before && !startsNewCall(before, name, given) ? before : addPartialCall(calls, index)
    if (typeof id === 'string' && id !== '') call.id = id
    // Some servers repeat the name in every piece.
    if (typeof name === 'string' && name !== call.name) call.name += name
    if (isObject(given)) call.arguments = given
    else if (typeof given === 'string')
      call.arguments = `${typeof call.arguments === 'string' ? call.arguments : ''}${given}`
    call.own = { ...call.own, ...own }
  }

  return {
    addChoice(choice) {
      const isWhole = !isObject(choice['delta'])
      const said = [choice['delta'], choice['message']].find(isObject) ?? {}
      if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '')
        finish = choice['finish_reason']
      if (Array.isArray(said['tool_calls']))
        for (const call of said['tool_calls'].filter(isObject)) addCall(call, isWhole)
      for (const field of REASONING_FIELDS) appendReasoning(thoughts, field, said[field])
      const delta = getContentText(said['content']) + getContentText(said['refusal'])
      text += delta
      return delta
    },
    setUsage(given) {
      if (!isObject(given)) return
      usage = toTokenUsage(given['prompt_tokens'], given['completion_tokens'])
    },
    get isFinished() {
      return finish !== undefined
    },
    get hasCompleteCalls() {
      return calls.every(({ arguments: given }) => isCompleteObject(given))
    },
    reply: () =>
      compact({
        text,
        calls: calls.map(({ id = '', name, arguments: given, own }): ModelCall => ({
          id,
          name,
          arguments: given,
          ...compact({ own: Object.keys(own).length > 0 ? own : undefined }),
        })),
        finish: finish === 'length' || finish === 'content_filter' ? finish : 'stop',
        usage,
        own: calls.length > 0 && Object.keys(thoughts).length > 0 ? thoughts : undefined,
      }),
  }
}

// A chunk belongs to the call with its index; some servers omit the index or always send 0, and then
// the id decides.
function findPartialCall(
  calls: readonly PartialToolCall[],
  index: unknown,
  id: unknown,
): PartialToolCall | undefined {
  const named = typeof id === 'string' && id !== ''
  const same = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index)
  return same && named && same.id !== undefined && same.id !== id
    ? calls.find((call) => call.id === id)
    : same
}

// After complete arguments, further ones belong to another call, regardless of index and id.
function startsNewCall(call: PartialToolCall, name: unknown, given: unknown): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    (isObject(given) || (typeof given === 'string' && given.trim() !== '')) &&
    isCompleteObject(call.arguments)
  )
}

function isCompleteObject(given: unknown): boolean {
  return (
    isObject(given) ||
    (typeof given === 'string' &&
      given.trimEnd().endsWith('}') &&
      parseJsonObject(given) !== undefined)
  )
}

// The content is a text, or a list of parts.
function getContentText(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content)
    ? content
        .map((part: unknown) =>
          isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string'
            ? part['text']
            : '',
        )
        .join('')
    : ''
}

function addPartialCall(calls: PartialToolCall[], index: unknown): PartialToolCall {
  const call: PartialToolCall = { index, id: undefined, name: '', arguments: undefined, own: {} }
  calls.push(call)
  return call
}

function appendReasoning(
  thoughts: { [field: string]: unknown },
  field: string,
  piece: unknown,
): void {
  const before = thoughts[field]
  if (typeof piece === 'string' && piece !== '')
    thoughts[field] = `${typeof before === 'string' ? before : ''}${piece}`
  else if (Array.isArray(piece) && piece.length > 0)
    thoughts[field] = [
      ...(Array.isArray(before) ? (before as readonly unknown[]) : []),
      ...(piece as readonly unknown[]),
    ]
}

/** Reads a streamed reply. Retries of a broken stream are safe: no call has run yet. */
export async function readStreamedReply(
  server: OpenAiServer,
  bytes: AsyncIterable<Uint8Array>,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const builder = createReplyBuilder()
  let isDone = false
  const parser = createParser({
    onEvent({ data }) {
      if (isDone) return
      if (data.trim() === '[DONE]') return void (isDone = true)
      const chunk = parseJsonObject(data)
      if (!chunk)
        throw createServerError(
          server,
          `sent something in its stream that is no JSON: ${JSON.stringify(shorten(data, 100))}`,
        )
      if (isReportedError(chunk['error'])) throw createReportedError(server, chunk['error'])
      builder.setUsage(chunk['usage'])
      // A reply has one choice; the last chunk, with the usage, has none.
      const choice = getFirstChoice(chunk)
      const delta = choice ? builder.addChoice(choice) : ''
      if (delta !== '') onText?.(delta)
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (isDone) break
  }
  // A server without a finish reason may have stopped in the middle of a call.
  if (!builder.isFinished && !(isDone && builder.hasCompleteCalls))
    throw new ToolError(
      'DEPENDENCY',
      `the stream of the model server ${server.address.origin} broke off before the reply was whole`,
    )
  return builder.reply()
}

/** Reads a reply in one JSON document. */
export async function readJsonReply(
  server: OpenAiServer,
  bytes: AsyncIterable<Uint8Array>,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const text = await readBodyText(bytes)
  const document = parseJsonObject(text)
  if (!document)
    throw createServerError(
      server,
      `did not answer with JSON: ${JSON.stringify(shorten(text, 100))}`,
      { retryable: false, suggestion: 'Look whether the base URL is right: it mostly ends in /v1' },
    )
  if (isReportedError(document['error'])) throw createReportedError(server, document['error'])
  const choice = getFirstChoice(document)
  if (!choice) throw createServerError(server, 'answered without a choice', { retryable: false })
  const builder = createReplyBuilder()
  builder.setUsage(document['usage'])
  const said = builder.addChoice(choice)
  if (said !== '') onText?.(said)
  return builder.reply()
}

function getFirstChoice({ choices }: JsonObject): JsonObject | undefined {
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(first) ? first : undefined
}

function createServerError(
  { address }: OpenAiServer,
  problem: string,
  options?: FailOptions,
): ToolError {
  return new ToolError('DEPENDENCY', `the model server ${address.origin} ${problem}`, options)
}

async function readBodyText(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const MAX_MESSAGE_CHARS = 1000
/** Codes of errors that a retry does not fix. */
const FINAL_ERROR_CODES = [
  'insufficient_quota',
  'billing_hard_limit_reached',
  'context_length_exceeded',
  'invalid_api_key',
  'model_not_found',
]

/** The error of a response with a bad status. */
export async function createResponseError(
  server: OpenAiServer,
  answer: Response,
  bytes: AsyncIterable<Uint8Array>,
): Promise<ToolError> {
  const { status, headers } = answer
  const origin = server.address.origin
  if (status >= 300 && status < 400)
    return createServerError(
      server,
      `redirects to ${shorten(headers.get('location') ?? 'nowhere', 200)}, and only ${origin} is configured`,
      {
        retryable: false,
        suggestion: 'Configure the address that it redirects to, if you trust it',
      },
    )
  const text = await readBodyText(bytes).catch(() => '')
  const document = parseJsonObject(text)
  const reported = isObject(document?.['error']) ? document['error'] : (document ?? {})
  const plain = /^\s*</.test(text) ? '' : text.trim()
  const message =
    [reported['message'], document?.['error']].find((value) => typeof value === 'string') ?? plain
  const isFinal = [reported['code'], reported['type']].some((value) =>
    FINAL_ERROR_CODES.includes(String(value)),
  )
  const code = status === 429 && isFinal ? 'PERMISSION' : toErrorCode(status)
  const wait = parseRetryAfter((name) => headers.get(name))
  return new ToolError(
    code,
    `the model server ${origin} answered ${status}${message === '' ? '' : `: ${shorten(message, MAX_MESSAGE_CHARS)}`}`,
    {
      ...compact({ retryable: isFinal ? false : undefined }),
      ...suggestFix(server, status, isFinal),
      details: compact({
        status,
        code: typeof reported['code'] === 'string' ? reported['code'] : undefined,
        retry_after_s: wait,
      }),
    },
  )
}

/** The error that a server reports in a stream, or in a response with a good status. */
function createReportedError({ address }: OpenAiServer, given: unknown): ToolError {
  const told: { readonly [field: string]: unknown } = isObject(given) ? given : { message: given }
  const status = Number(told['code'])
  const isFinal =
    FINAL_ERROR_CODES.includes(String(told['code'])) ||
    (status >= 400 && status < 500 && status !== 429 && status !== 408)
  return new ToolError(
    status === 429 ? 'RATE_LIMIT' : 'DEPENDENCY',
    `the model server ${address.origin} failed: ${shorten(typeof told['message'] === 'string' ? told['message'] : JSON.stringify(told), MAX_MESSAGE_CHARS)}`,
    compact({ retryable: isFinal ? false : undefined }),
  )
}

/** True for an error object or an error message. */
function isReportedError(told: unknown): boolean {
  return isObject(told) || (typeof told === 'string' && told !== '')
}

/** The error of a server that cannot be reached or broke off. */
export function createUnreachableError({ address }: OpenAiServer, error: unknown): ToolError {
  const { message, cause } = error as {
    readonly message?: string
    readonly cause?: { readonly code?: unknown; readonly message?: unknown }
  }
  const why =
    [cause?.code, cause?.message, message].find((one) => typeof one === 'string' && one !== '') ??
    'error'
  return new ToolError(
    'DEPENDENCY',
    `the model server ${address.origin} cannot be reached, or broke off: ${String(why)}`,
    { suggestion: `Look whether it is there: curl -i ${address.origin}` },
  )
}

/** Removes secrets from an error. */
export function redactError(error: ToolError, secrets: readonly string[]): ToolError {
  const clean = (text: string): string =>
    secrets.reduce(
      (cleaned, secret) => cleaned.replaceAll(JSON.stringify(secret).slice(1, -1), '***'),
      text,
    )
  const text = JSON.stringify(error.toObject())
  if (clean(text) === text) return error
  const { code, message, ...rest } = JSON.parse(clean(text)) as ReturnType<ToolError['toObject']>
  return new ToolError(code, message, rest)
}

function suggestFix(
  { model }: OpenAiServer,
  status: number,
  isFinal: boolean,
): Pick<FailOptions, 'suggestion'> {
  if (status === 401 || status === 403)
    return {
      suggestion: {
        action: 'abort',
        fix: 'Give a key that the server accepts: export OPENAI_API_KEY=..., or --api-key-file',
      },
    }
  if (status === 404)
    return {
      suggestion: `Look whether the server has a model '${model}', and whether the base URL is right: it mostly ends in /v1`,
    }
  if (status === 429 && isFinal)
    return {
      suggestion: {
        action: 'abort',
        fix: 'The account has no more money or tokens: look at its billing page',
      },
    }
  return {}
}

/** Everything that a request needs. */
export type OpenAiServer = {
  readonly model: string
  readonly address: URL
  readonly headers: { readonly [name: string]: string }
  /** Removed from all errors. */
  readonly secrets: readonly string[]
  readonly stream: boolean
  readonly idleTimeoutMs: number
  readonly strict: boolean
  readonly body: JsonObject
}
