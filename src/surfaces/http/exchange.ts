import { ToolError } from '../../contract/tool-error.ts'

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
  /** The body as UTF-8 text; rejects with `BodyError` when it is longer than the limit, cut off, or not UTF-8. Asked for once. */
  text(limit: number): Promise<string>
  /** Aborted when the client goes away before it has the whole answer. Made when first asked for. */
  readonly signal: AbortSignal
  /** Calls `react` then, or when the server stops and waits no longer, with the reason; costs less than a signal. */
  onGone(react: (why: ToolError) => void): void
}

/** The answer: whole, or a stream whose chunks are sent as they come. Names of headers in lower case; the length is counted by whoever sends it. */
export type HttpAnswer = {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
}

/** Answers requests; never rejects for what a client did. */
export type HttpApp = (request: HttpRequest) => Promise<HttpAnswer>

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
export function bodyTooLong(limit: number): BodyError {
  return new BodyError(413, `the body is longer than ${limit} bytes`)
}

/** True for a body that is sent chunk by chunk. */
export function isStream(body: HttpAnswer['body']): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && !(body instanceof Uint8Array)
}

/** Why a call ends whose client went away. */
export function clientGone(): ToolError {
  return new ToolError('CANCELLED', 'the client closed the connection before it had the answer')
}

/** Why a request ends that the server would wait for no longer. Its client is still there, and gets an answer. */
export class ServerStops extends ToolError {
  constructor() {
    super('CANCELLED', 'the server stops')
  }
}
