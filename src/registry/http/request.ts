import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { LARGEST_ANSWER, tooLarge } from './limit-answer.ts'

const MOST_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export type HttpRequest = {
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

/** A whole answer. `document` is its JSON, where it says that it is JSON, or plainly is. */
export type HttpAnswer = {
  readonly status: number
  readonly type: string
  readonly bytes: Buffer
  readonly headers: Headers
  readonly document?: unknown
}

/** Sends a request and reads the whole answer, whatever its status. Throws ToolError where there is none: DEPENDENCY, TIMEOUT, OUTPUT_LIMIT, or the reason of the signal. */
export async function request(wanted: HttpRequest): Promise<HttpAnswer> {
  const { who, signal, timeout } = wanted
  const limit = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
  const until = limit ? AbortSignal.any([signal, limit]) : signal
  try {
    const answer = await follow(wanted, until)
    const bytes = await readBounded(answer)
    const type = (answer.headers.get('content-type') ?? '').toLowerCase()
    return {
      status: answer.status,
      type,
      bytes,
      headers: answer.headers,
      ...parse(bytes, type, answer.ok, who),
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
    throw unreachable(error, wanted)
  }
}

// A redirect to another origin would carry input and credentials to somebody who was not configured.
async function follow(
  { url, method, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<Response> {
  let address = url
  let sent: { readonly method: string; readonly body?: NonNullable<HttpRequest['body']> } = {
    method,
    ...(body !== undefined && { body }),
  }
  for (let count = 0; count <= MOST_REDIRECTS; count += 1) {
    const answer = await fetch(address, {
      ...sent,
      headers: { ...headers },
      signal,
      redirect: 'manual',
    })
    const target = REDIRECTS.has(answer.status) ? answer.headers.get('location') : null
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
  throw new ToolError('DEPENDENCY', `it redirects more than ${MOST_REDIRECTS} times`, {
    retryable: false,
  })
}

async function readBounded(answer: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > LARGEST_ANSWER) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parse(
  bytes: Buffer,
  type: string,
  isOk: boolean,
  who: string,
): { readonly document?: unknown } {
  const saysJson = /[/+]json\b/.test(type)
  const text = bytes.toString('utf8')
  if (text.trim() === '' || (!saysJson && (type.includes('html') || !/^\s*[[{]/.test(text))))
    return {}
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

function unreachable(error: unknown, { who, url }: HttpRequest): ToolError {
  const { message, cause } = error as { readonly message?: string; readonly cause?: unknown }
  const code =
    isObject(cause) || cause instanceof Error
      ? (cause as { readonly code?: unknown }).code
      : undefined
  const why =
    typeof code === 'string'
      ? code
      : cause instanceof Error
        ? cause.message
        : String(message ?? error)
  return new ToolError('DEPENDENCY', `${who} cannot be reached at ${url.origin}: ${why}`, {
    suggestion: `Look whether it is there: curl -i ${url.origin}`,
    cause: error,
  })
}
