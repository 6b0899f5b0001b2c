/**
 * Requests and responses, whatever server carries them, and refusals as envelopes.
 */

import { toHttpStatus } from '../protocol/errors.ts'
import type { OutcomeMeta } from '../protocol/outcome.ts'
import { createFailureOutcome, ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'

/** One HTTP request, whatever carried it: node:http, a fetch handler, a test. */
export type HttpRequest = {
  /** Upper case. */
  readonly method: string
  /** The path below the mount point, still percent-encoded, beginning with `/`. */
  readonly path: string
  /** What follows `?`, without it. */
  readonly search: string
  /** A header by its name in lower case; several values joined by `, `. */
  header(name: string): string | undefined
  /**
   * The body as UTF-8 text; rejects with `BodyError` when it is longer than the limit, cut off, or
   * not UTF-8. Asked for once.
   */
  text(limit: number): Promise<string>
  /**
   * Aborted when the client goes away before it has the whole answer. Made when first asked for.
   */
  readonly signal: AbortSignal
  /**
   * Calls `react` then, or when the server stops and waits no longer, with the reason; costs less
   * than a signal.
   */
  onDisconnect(react: (why: ToolError) => void): void
}

/**
 * The answer: whole, or a stream whose chunks are sent as they come. Names of headers in lower
 * case; the length is counted by whoever sends it.
 */
export type HttpResponse = {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
}

/** Answers requests; never rejects for what a client did. */
export type HttpApp = (request: HttpRequest) => Promise<HttpResponse>

/** Why a body could not be read; `status` is 413 or 400. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  constructor(
    readonly status: 400 | 413,
    message: string,
  ) {
    super(message)
  }
}

/** The error of a body that is longer than allowed. */
export function bodyTooLongError(limit: number): BodyError {
  return new BodyError(413, `the body is longer than ${limit} bytes`)
}

/** True for a body that is sent chunk by chunk. */
export function isStreamBody(
  body: HttpResponse['body'],
): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && !(body instanceof Uint8Array)
}

/** Why a call ends whose client went away. */
export function clientGoneError(): ToolError {
  return new ToolError('CANCELLED', 'the client closed the connection before it had the answer')
}

/**
 * Why a request ends that the server would wait for no longer. Its client is still there, and gets
 * an answer.
 */
export class ServerStoppedError extends ToolError {
  constructor() {
    super('CANCELLED', 'the server stops')
  }
}

type ResponseHeaders = { readonly [name: string]: string }

/** The headers of a JSON document that must not be taken for anything else. */
export function createJsonHeaders(cacheControl: 'no-store' | 'no-cache'): ResponseHeaders {
  return {
    'content-type': 'application/json',
    'cache-control': cacheControl,
    'x-content-type-options': 'nosniff',
  }
}

/** A host as an address has it: IPv6 in brackets. */
export function formatHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** A body that something in front has read already, as text. */
export function toBodyText(body: unknown): string {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body)
}

/** Where a refusal belongs to more than the error says. */
export type RefusalOptions = {
  /** Default: the status of the error's code. */
  readonly status?: number
  readonly headers?: ResponseHeaders
  /** What was asked, as far as it is known. */
  readonly meta?: Pick<OutcomeMeta, 'tool' | 'version'>
}

/** The answer to a request that goes no further: an envelope like every other failure. */
export function toRefusalResponse(
  error: ToolError,
  { status = toHttpStatus(error), headers, meta }: RefusalOptions = {},
): HttpResponse {
  return {
    status,
    headers: { ...createJsonHeaders('no-store'), ...headers },
    body: JSON.stringify(createFailureOutcome(error.toObject(), meta?.tool ?? '', meta?.version)),
  }
}

/** The answer where reading the body failed, or the app itself did. */
export function toFailureResponse(thrown: unknown, options: RefusalOptions = {}): HttpResponse {
  if (thrown instanceof BodyError)
    return toRefusalResponse(new ToolError('INVALID_INPUT', thrown.message), {
      ...options,
      status: thrown.status,
    })
  if (ToolError.is(thrown)) return toRefusalResponse(thrown, options)
  // What went wrong inside is nothing for a stranger to read.
  return toRefusalResponse(
    new ToolError('INTERNAL', 'the server failed to answer this request', { cause: thrown }),
    options,
  )
}

/** The refusal of a path that is not below the base path. */
export function outsideBasePathError(basePath: string): ToolError {
  return new ToolError('NOT_FOUND', `nothing is served outside ${basePath}`, {
    suggestion: `Ask below ${basePath}`,
  })
}

/** The path part and the query of a request target, and its host where it is a whole address. */
export function splitTarget(target: string): {
  readonly path: string
  readonly search: string
  readonly authority?: string
} {
  const mark = target.indexOf('?')
  const address = mark < 0 ? target : target.slice(0, mark)
  const search = mark < 0 ? '' : target.slice(mark + 1)
  return address.startsWith('/')
    ? { path: address, search }
    : { ...parseAbsoluteTarget(address), search }
}

/** What is left of a path below a base path; undefined where the path is not below it. */
export function stripBasePath(path: string, base: string): string | undefined {
  if (base === '') return path
  if (!path.startsWith(base)) return undefined
  const rest = path.slice(base.length)
  if (rest === '') return '/'
  return rest.startsWith('/') ? rest : undefined
}

// A proxy may send `http://host/path`, and OPTIONS may ask about `*`.
function parseAbsoluteTarget(address: string): {
  readonly path: string
  readonly authority?: string
} {
  const [, authority, path] = /^[a-z][a-z\d+.-]*:\/\/([^/]*)(\/.*)?$/i.exec(address) ?? []
  return compact({ path: path ?? '/', authority })
}
