import type { HttpAnswer } from '../../http/exchange.ts'
import type { Answered } from '../wire/answered.ts'
import { errorMessage, RPC } from '../wire/messages.ts'
import type { Id, RpcErrorObject } from '../wire/messages.ts'

const JSON_HEADERS = { 'content-type': 'application/json' } as const

// Faults of the request as such; an answered request is 200 even where its answer is an error.
const STATUS: { readonly [code: number]: number } = {
  [RPC.parse]: 400,
  [RPC.invalidRequest]: 400,
  [RPC.headerMismatch]: 400,
  [RPC.missingCapability]: 400,
  [RPC.unsupportedVersion]: 400,
  [RPC.methodNotFound]: 404,
}

/** The answer to a modern request. */
export function modernAnswer({ text, error }: Answered): HttpAnswer {
  return {
    status: error === undefined ? 200 : (STATUS[error] ?? 200),
    headers: JSON_HEADERS,
    body: text,
  }
}

/** The answer to an older client's request: errors are results like others. */
export function legacyAnswer(
  { text }: Answered,
  headers: { readonly [name: string]: string } = {},
): HttpAnswer {
  return { status: 200, headers: { ...JSON_HEADERS, ...headers }, body: text }
}

/** The refusal of a request that is not even looked at. */
export function refusal(
  status: number,
  error: RpcErrorObject,
  id?: Id,
  headers: { readonly [name: string]: string } = {},
): HttpAnswer {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: errorMessage(id, error) }
}

export const ACCEPTED: HttpAnswer = { status: 202, headers: {} }

/** A stream of events; proxies are asked not to hold it back. */
export function eventAnswer(
  frames: AsyncIterable<string>,
  headers: { readonly [name: string]: string } = {},
): HttpAnswer {
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
    body: frames,
  }
}
