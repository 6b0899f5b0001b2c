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
import { parseRetryAfter } from './retry-after.ts'

/** Fields of a message that some servers want to see again with the calls that came with them. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning_details']

/** Puts a reply together from its pieces, whole messages included. */
type OpenAiReplyBuilder = {
  /** A choice as the server sent it: `{ delta }` or `{ message }`. Gives the text in it. */
  addChoice(choice: JsonObject): string
  /** Takes `usage` of a chunk, where it has one. */
  setUsage(usage: unknown): void
  /** True once the server has said why it stopped. */
  readonly isFinished: boolean
  /** False while a call has no arguments, or only the beginning of them. */
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

/** Starts with nothing. */
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
      const { prompt_tokens: input, completion_tokens: output } = given
      usage = compact({
        input: typeof input === 'number' ? input : undefined,
        output: typeof output === 'number' ? output : undefined,
      })
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

// A piece belongs to the call of its index; where servers leave that out, or count every call as
// the first, the id tells.
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

// A call whose arguments are whole is over: more of them are of another call, whatever index or id
// they come with.
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

// A text, or a list of parts of which some are text.
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

/**
 * Reads a reply that comes in pieces. One that breaks off, or holds something else, may be asked
 * for again: nothing has been done yet.
 */
export async function readStreamedReply(
  server: OpenAiServer,
  bytes: AsyncIterable<Uint8Array>,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const assembly = createReplyBuilder()
  let isDone = false
  const parser = createParser({
    onEvent({ data }) {
      if (isDone) return
      if (data.trim() === '[DONE]') return void (isDone = true)
      const chunk = parseJsonObject(data)
      if (!chunk)
        throw new ToolError(
          'DEPENDENCY',
          `the model server ${server.address.origin} sent something in its stream that is no JSON: ${JSON.stringify(shorten(data, 100))}`,
        )
      if (isReportedError(chunk['error'])) throw createReportedError(server, chunk['error'])
      assembly.setUsage(chunk['usage'])
      // A reply has one choice; the last chunk, with the usage, has none.
      const choice = Array.isArray(chunk['choices']) ? (chunk['choices'][0] as unknown) : undefined
      const delta = isObject(choice) ? assembly.addChoice(choice) : ''
      if (delta !== '') onText?.(delta)
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (isDone) break
  }
  // A server that gives no reason may have stopped in the middle of a call.
  if (!assembly.isFinished && !(isDone && assembly.hasCompleteCalls))
    throw new ToolError(
      'DEPENDENCY',
      `the stream of the model server ${server.address.origin} broke off before the reply was whole`,
    )
  return assembly.reply()
}

/** Reads a reply that comes as one JSON document. */
export async function readJsonReply(
  server: OpenAiServer,
  bytes: AsyncIterable<Uint8Array>,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const text = await readBodyText(bytes)
  const document = parseJsonObject(text)
  if (!document)
    throw new ToolError(
      'DEPENDENCY',
      `the model server ${server.address.origin} did not answer with JSON: ${JSON.stringify(shorten(text, 100))}`,
      { retryable: false, suggestion: 'Look whether the base URL is right: it mostly ends in /v1' },
    )
  if (isReportedError(document['error'])) throw createReportedError(server, document['error'])
  const choice = Array.isArray(document['choices'])
    ? (document['choices'][0] as unknown)
    : undefined
  if (!isObject(choice))
    throw new ToolError(
      'DEPENDENCY',
      `the model server ${server.address.origin} answered without a choice`,
      { retryable: false },
    )
  const assembly = createReplyBuilder()
  assembly.setUsage(document['usage'])
  const said = assembly.addChoice(choice)
  if (said !== '') onText?.(said)
  return assembly.reply()
}

/** All bytes as text. */
async function readBodyText(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const MAX_MESSAGE_CHARS = 1000
/** Words by which servers say that waiting will not help. */
const FINAL_ERROR_CODES = [
  'insufficient_quota',
  'billing_hard_limit_reached',
  'context_length_exceeded',
  'invalid_api_key',
  'model_not_found',
]

/** The failure that an answer with a bad status tells. */
export async function createResponseError(
  server: OpenAiServer,
  answer: Response,
  bytes: AsyncIterable<Uint8Array>,
): Promise<ToolError> {
  const { status, headers } = answer
  const origin = server.address.origin
  if (status >= 300 && status < 400)
    return new ToolError(
      'DEPENDENCY',
      `the model server ${origin} redirects to ${shorten(headers.get('location') ?? 'nowhere', 200)}, and only ${origin} is configured`,
      {
        retryable: false,
        suggestion: 'Configure the address that it redirects to, if you trust it',
      },
    )
  const text = await readBodyText(bytes).catch(() => '')
  const document = parseJsonObject(text)
  const told = isObject(document?.['error']) ? document['error'] : (document ?? {})
  const plain = /^\s*</.test(text) ? '' : text.trim()
  const message =
    [told['message'], document?.['error']].find((words) => typeof words === 'string') ?? plain
  const isFinal =
    FINAL_ERROR_CODES.includes(String(told['code'])) ||
    FINAL_ERROR_CODES.includes(String(told['type']))
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
        code: typeof told['code'] === 'string' ? told['code'] : undefined,
        retry_after_s: wait,
      }),
    },
  )
}

/**
 * The failure that a server tells in the middle of a stream, or in an answer that says it went
 * well.
 */
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

/** True for what stands in the place of an error and is one: an object, or words. */
function isReportedError(told: unknown): boolean {
  return isObject(told) || (typeof told === 'string' && told !== '')
}

/** The failure of a server that could not be asked, or fell silent in the middle. */
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

/** The same error with every secret taken out of what it says. */
export function redactError(error: ToolError, secrets: readonly string[]): ToolError {
  const clean = (text: string): string =>
    secrets.reduce(
      (cleaned, secret) => cleaned.replaceAll(JSON.stringify(secret).slice(1, -1), '***'),
      text,
    )
  const told = JSON.stringify(error.toObject())
  if (clean(told) === told) return error
  const { code, message, ...rest } = JSON.parse(clean(told)) as ReturnType<ToolError['toObject']>
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
  /** Never told to anybody else. */ readonly secrets: readonly string[]
  readonly stream: boolean
  readonly idleTimeoutMs: number
  readonly strict: boolean
  readonly body: JsonObject
}
