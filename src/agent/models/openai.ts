/**
 * Models behind an OpenAI-compatible server: `openaiModel()`. Requests and replies are in
 * openai-request.ts and openai-reply.ts, loaded by the first request.
 */

import { host } from '../../core/host.ts'
import { checkOptions } from '../../define/checks.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import type { Duration } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import { rememberModelSecrets } from '../types.ts'
import type { Model } from '../types.ts'
import type { OpenAiServer } from './openai-reply.ts'

/**
 * A model behind an address that speaks OpenAI's chat completions: OpenAI itself, and most others.
 */
export type OpenAiModelOptions = {
  /** What the server calls the model. */
  readonly model: string
  /** Default `OPENAI_BASE_URL`, else that of OpenAI. */
  readonly baseUrl?: string
  /** Default `OPENAI_API_KEY`, which is sent nowhere but to OpenAI and to `OPENAI_BASE_URL`. */
  readonly apiKey?: string
  readonly headers?: { readonly [name: string]: string }
  /** Take the answer in pieces as it is written; default true. */
  readonly stream?: boolean
  /** Longest silence of the server; default 5 minutes. */
  readonly timeout?: Duration
  /** Hold the model to the schemas of the tools, where they allow it; default false. */
  readonly strict?: boolean
  /** Goes into each request as it is: `{ reasoning_effort: 'low' }`. */
  readonly body?: JsonObject
  /** Where the defaults come from; default: the environment of the process. */
  readonly env?: { readonly [name: string]: string | undefined }
}

const OPENAI_OPTION_NAMES = [
  'model',
  'baseUrl',
  'apiKey',
  'headers',
  'stream',
  'timeout',
  'strict',
  'body',
  'env',
] as const satisfies readonly (keyof OpenAiModelOptions)[]
const DEFAULT_BASE_URL = 'https://api.openai.com/v1'
const DEFAULT_IDLE_TIMEOUT = '5m'

/**
 * Makes a model of a server that speaks `POST <baseUrl>/chat/completions`. Throws CONFIG, saying
 * what to set, where address or key are missing or cannot be right.
 */
export function openaiModel(options: OpenAiModelOptions): Model {
  checkOptions('openaiModel()', options, OPENAI_OPTION_NAMES)
  const server = resolveServer(options)
  return rememberModelSecrets(
    {
      name: `openai:${server.model}`,
      generate: async (request, how) =>
        (await import('./openai-request.ts')).generateReply(server, request, how),
    },
    findCredentials(server.headers),
  )
}

function resolveServer({
  model,
  baseUrl,
  apiKey,
  headers = {},
  stream = true,
  timeout = DEFAULT_IDLE_TIMEOUT,
  strict = false,
  body = {},
  env = host.env(),
}: OpenAiModelOptions): OpenAiServer {
  if (typeof model !== 'string' || model.trim() === '')
    throw new ToolError(
      'CONFIG',
      "'model' of openaiModel() must say what the server calls the model",
      { suggestion: "openaiModel({ model: 'gpt-5' })" },
    )
  const configured = env['OPENAI_BASE_URL'] || DEFAULT_BASE_URL
  const base = baseUrl ?? configured
  const address = toCompletionsUrl(base)
  if (!address || !['http:', 'https:'].includes(address.protocol))
    throw new ToolError(
      'CONFIG',
      `the base URL of a model must begin with http:// or https://; it is '${base.slice(0, 100)}'`,
      { suggestion: `openaiModel({ model, baseUrl: '${DEFAULT_BASE_URL}' })` },
    )
  if (address.username !== '' || address.password !== '')
    throw new ToolError(
      'CONFIG',
      `the base URL of a model may hold no name and password: ${address.host}`,
      {
        suggestion:
          'Give them as a header: openaiModel({ model, baseUrl, headers: { authorization } })',
      },
    )
  // A key that was meant for one server is not shown to another.
  const key = (
    apiKey ?? (address.origin === new URL(configured).origin ? env['OPENAI_API_KEY'] : undefined)
  )?.trim()
  if (!key && address.origin === new URL(DEFAULT_BASE_URL).origin)
    throw new ToolError('CONFIG', 'there is no key for OpenAI', {
      suggestion: 'export OPENAI_API_KEY=...',
    })
  if (key && !/^[\x21-\x7e]+$/.test(key))
    throw new ToolError(
      'CONFIG',
      'the key of the model holds characters that no key has: a line break, a blank, or letters with accents',
      { suggestion: 'Look at the file or variable that it comes from' },
    )
  return {
    model,
    address,
    headers: { ...compact({ authorization: key ? `Bearer ${key}` : undefined }), ...headers },
    secrets: [...(key ? [key] : []), ...Object.values(headers)].filter(
      (secret) => secret.length >= 8,
    ),
    stream,
    idleTimeoutMs: toMilliseconds(timeout, 'timeout'),
    strict,
    body,
  }
}

// What stands behind a question mark stays there: there are servers that want a version in it.
function toCompletionsUrl(base: string): URL | undefined {
  if (!URL.canParse(base)) return undefined
  const address = new URL(base)
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/chat/completions`
  return address
}

// Other headers hold words that may stand in any conversation.
function findCredentials(headers: { readonly [name: string]: string }): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|key|token|secret|cookie/i.test(name))
    .map(([, value]) => value.split(' ').at(-1)!)
}
