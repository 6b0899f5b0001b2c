import { isObject, parseObject } from '../../../../contract/json.ts'
import { shorten } from '../../../../contract/shorten.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import type { FailOptions } from '../../../../contract/tool-error.ts'
import { httpCode } from '../../../../registry/http/status.ts'
import { readWait } from '../read-wait.ts'
import type { OpenAiServer } from './server.ts'
import { readText } from './read-text.ts'

const LONGEST = 1000
/** Words by which servers say that waiting will not help. */
const FINAL = [
  'insufficient_quota',
  'billing_hard_limit_reached',
  'context_length_exceeded',
  'invalid_api_key',
  'model_not_found',
]

/** The failure that an answer with a bad status tells. */
export async function failedAnswer(
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
  const text = await readText(bytes).catch(() => '')
  const document = parseObject(text)
  const told = isObject(document?.['error']) ? document['error'] : (document ?? {})
  const message =
    typeof told['message'] === 'string'
      ? told['message']
      : typeof document?.['error'] === 'string'
        ? document['error']
        : /^\s*</.test(text)
          ? ''
          : text.trim()
  const isFinal = FINAL.includes(String(told['code'])) || FINAL.includes(String(told['type']))
  const code = status === 429 && isFinal ? 'PERMISSION' : httpCode(status)
  const wait = readWait((name) => headers.get(name))
  return new ToolError(
    code,
    `the model server ${origin} answered ${status}${message === '' ? '' : `: ${shorten(message, LONGEST)}`}`,
    {
      ...(isFinal && { retryable: false }),
      ...advice(server, status, isFinal),
      details: {
        status,
        ...(typeof told['code'] === 'string' && { code: told['code'] }),
        ...(wait !== undefined && { retry_after_s: wait }),
      },
    },
  )
}

/** The failure that a server tells in the middle of a stream, or in an answer that says it went well. */
export function toldError({ address }: OpenAiServer, given: unknown): ToolError {
  const told: { readonly [field: string]: unknown } = isObject(given) ? given : { message: given }
  const status = Number(told['code'])
  const isFinal =
    FINAL.includes(String(told['code'])) ||
    (status >= 400 && status < 500 && status !== 429 && status !== 408)
  return new ToolError(
    status === 429 ? 'RATE_LIMIT' : 'DEPENDENCY',
    `the model server ${address.origin} failed: ${shorten(typeof told['message'] === 'string' ? told['message'] : JSON.stringify(told), LONGEST)}`,
    { ...(isFinal && { retryable: false }) },
  )
}

/** True for what stands in the place of an error and is one: an object, or words. */
export function isError(told: unknown): boolean {
  return isObject(told) || (typeof told === 'string' && told !== '')
}

/** The failure of a server that could not be asked, or fell silent in the middle. */
export function unreachable({ address }: OpenAiServer, error: unknown): ToolError {
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
export function withoutSecrets(error: ToolError, secrets: readonly string[]): ToolError {
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

function advice(
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
