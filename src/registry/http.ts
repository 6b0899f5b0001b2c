/**
 * Requests to servers that are not ours: bounded responses, redirects only within the configured
 * origin, errors that name the server.
 */

import type { ErrorCode } from '../protocol/errors.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'
import { MEBIBYTE } from '../util/units.ts'
import { asText, compact } from '../util/values.ts'

const MAX_REDIRECTS = 5
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])

type OutgoingRequest = {
  readonly url: URL
  readonly method: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | FormData | URLSearchParams
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly timeout?: number
  /** Who is asked, for messages: `tool server 'x'`. */
  readonly who: string
}

/** A whole answer. `document` is its JSON, when its type says JSON or its text looks like JSON. */
export type HttpResult = {
  readonly status: number
  readonly type: string
  readonly bytes: Buffer
  readonly headers: Headers
  readonly document?: unknown
}

/**
 * Sends a request and reads the whole answer, also one with an error status. Throws ToolError when
 * there is none: DEPENDENCY, TIMEOUT, OUTPUT_LIMIT, or the reason of the signal.
 */
export async function sendRequest(wanted: OutgoingRequest): Promise<HttpResult> {
  const { who, signal, timeout } = wanted
  const limit = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
  const until = limit ? AbortSignal.any([signal, limit]) : signal
  try {
    const answer = await fetchFollowingRedirects(wanted, until)
    const bytes = await readBody(answer)
    const type = (answer.headers.get('content-type') ?? '').toLowerCase()
    return {
      status: answer.status,
      type,
      bytes,
      headers: answer.headers,
      ...parseBody(bytes, type, answer.ok, who),
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (limit?.aborted)
      throw new ToolError('TIMEOUT', `${who} did not answer within ${timeout! / 1000} seconds`, {
        retryable: true,
        cause: error,
      })
    if (ToolError.is(error))
      throw new ToolError(error.code, `${who}: ${error.message}`, {
        ...error.toObject(),
        cause: error,
      })
    throw toUnreachableError(error, wanted)
  }
}

// A redirect to another origin would carry input and credentials to a server that was not configured.
async function fetchFollowingRedirects(
  { url, method, headers, body }: OutgoingRequest,
  signal: AbortSignal,
): Promise<Response> {
  let address = url
  let sent: Pick<OutgoingRequest, 'method' | 'body'> = compact({ method, body })
  for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
    const answer = await fetch(address, {
      ...sent,
      headers: { ...headers },
      signal,
      redirect: 'manual',
    })
    const target = REDIRECT_STATUSES.has(answer.status) ? answer.headers.get('location') : null
    if (target === null) return answer
    await answer.body?.cancel()
    const next = URL.canParse(target, address.href) ? new URL(target, address) : undefined
    if (next?.origin !== url.origin)
      throw new ToolError(
        'DEPENDENCY',
        `it redirects to ${next?.origin ?? 'an address that is none'}, and only ${url.origin} is configured`,
        {
          retryable: false,
          suggestion: 'Configure the address that it redirects to, if you trust it',
        },
      )
    address = next
    if (answer.status < 307 && method !== 'GET' && method !== 'HEAD') sent = { method: 'GET' }
  }
  throw new ToolError('DEPENDENCY', `it redirects more than ${MAX_REDIRECTS} times`, {
    retryable: false,
  })
}

async function readBody(answer: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) throw toResponseTooLargeError()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parseBody(
  bytes: Buffer,
  type: string,
  isOk: boolean,
  who: string,
): { readonly document?: unknown } {
  const saysJson = /[/+]json\b/.test(type)
  const text = bytes.toString('utf8')
  const looksLikeJson = !type.includes('html') && /^\s*[[{]/.test(text)
  if (text.trim() === '' || !(saysJson || looksLikeJson)) return {}
  try {
    return { document: JSON.parse(text) as unknown }
  } catch (error) {
    if (!saysJson || !isOk) return {}
    throw new ToolError(
      'DEPENDENCY',
      `the answer says that it is JSON and is not: ${JSON.stringify(shorten(text, 100))}`,
      {
        retryable: false,
        suggestion: { action: 'use_different_tool', fix: `The author of ${who} should mend it` },
        cause: error,
      },
    )
  }
}

function toUnreachableError(error: unknown, { who, url }: OutgoingRequest): ToolError {
  const { message = error, cause } = error as {
    readonly message?: string
    readonly cause?: unknown
  }
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  const why = asText(code) ?? String(cause instanceof Error ? cause.message : message)
  return new ToolError('DEPENDENCY', `${who} cannot be reached at ${url.origin}: ${why}`, {
    suggestion: `Look whether it is there: curl -i ${url.origin}`,
    cause: error,
  })
}

/** Bytes of one answer, or of one event of a stream. */
export const MAX_RESPONSE_BYTES = 16 * MEBIBYTE

/** The same answer, which fails with OUTPUT_LIMIT when it, or one event of its stream, is too large. */
export function limitResponse(answer: Response): Response {
  if (!answer.body) return answer
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true
  const limited = new Response(answer.body.pipeThrough(createByteLimiter(isStream)), {
    status: answer.status,
    statusText: answer.statusText,
    headers: answer.headers,
  })
  // A constructed response has no address, and code that follows redirects reads it.
  Object.defineProperty(limited, 'url', { value: answer.url })
  return limited
}

/** The error for an answer that is too large. */
export function toResponseTooLargeError(): ToolError {
  return new ToolError(
    'OUTPUT_LIMIT',
    `the answer has more than ${MAX_RESPONSE_BYTES / MEBIBYTE} MiB`,
    { suggestion: 'Ask for less: narrow the input of the call' },
  )
}

function createByteLimiter(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let count = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? findLastEventEnd(chunk) : -1
      count = end === -1 ? count + chunk.length : chunk.length - end
      if (count > MAX_RESPONSE_BYTES) controller.error(toResponseTooLargeError())
      else controller.enqueue(chunk)
    },
  })
}

// An event ends with an empty line; one that lies across two chunks is found in the next one.
function findLastEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'))
}

const CODES_BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'PERMISSION'],
  [403, 'PERMISSION'],
  [404, 'NOT_FOUND'],
  [408, 'DEPENDENCY'],
  [409, 'CONFLICT'],
  [410, 'NOT_FOUND'],
  [412, 'PRECONDITION'],
  [425, 'DEPENDENCY'],
  [428, 'PRECONDITION'],
  [429, 'RATE_LIMIT'],
] as const)

/** The error code for an HTTP status. */
export function toErrorCode(status: number): ErrorCode {
  return (
    CODES_BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'INVALID_INPUT' : 'DEPENDENCY')
  )
}

/** A short name for an address that has none: its host, and its port if there is one. */
export function toHostName(url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : url
  return (
    host
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || 'server'
  )
}

/** Parses an address. Throws CONFIG, naming `what`, for one that is not http or https. */
export function requireHttpUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ToolError('CONFIG', `the ${what} must begin with http:// or https://`)
}

/** An address as messages may show it: without credentials and query. */
export function redactUrl(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//').replace(/[?#].*$/s, '')
}
