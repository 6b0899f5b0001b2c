/**
 * HTTP client of the Restate server: ingress and admin interface, retries, and errors of the server
 * as tool errors.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { HttpResult } from '../../registry/http.ts'
import { sendRequest, toErrorCode } from '../../registry/http.ts'
import { delay } from '../../util/async.ts'
import { compact, isObject } from '../../util/values.ts'
import { WORKFLOW_SERVICE } from './wire.ts'

/** How long the server may take to answer a request. */
export const REQUEST_TIMEOUT_MS = 30_000

/** An address of a Restate server. */
export type RestateServer = {
  readonly url: string
  readonly who: string
  /** Its flag on the command line. */
  readonly flag: string
}

export type RestateRequest = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly signal: AbortSignal
  /** Milliseconds. */ readonly timeout: number
}

/**
 * Sends one request, and returns the whole response with any status. Throws DEPENDENCY, TIMEOUT and
 * OUTPUT_LIMIT, and the reason of the signal.
 */
export async function sendRestateRequest(
  { url, who, flag }: RestateServer,
  { method, path, body, headers, signal, timeout }: RestateRequest,
): Promise<HttpResult> {
  const target = new URL(url.replace(/\/+$/, '') + path)
  try {
    return await sendRequest(
      compact({
        url: target,
        method,
        headers: {
          accept: 'application/json',
          ...compact({ 'content-type': body !== undefined ? 'application/json' : undefined }),
          ...headers,
        },
        body: body !== undefined ? JSON.stringify(body) : undefined,
        signal,
        timeout,
        who,
      }),
    )
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'DEPENDENCY' || !error.retryable) throw error
    throw new ToolError('DEPENDENCY', error.message, {
      suggestion: `Start the server (npx @restatedev/restate-server), or name another one with ${flag}`,
      cause: error,
    })
  }
}

/** Retries what may pass, with longer and longer pauses. */
export async function withRetries<Result>(
  work: () => Promise<Result>,
  {
    tries = 4,
    pause = 250,
    longest = 5_000,
    signal,
    onFailure,
  }: {
    readonly tries?: number
    readonly pause?: number
    readonly longest?: number
    readonly signal: AbortSignal
    readonly onFailure?: (error: ToolError) => void
  },
): Promise<Result> {
  for (let count = 1, wait = pause; ; count += 1, wait = Math.min(wait * 2, longest)) {
    try {
      return await work()
    } catch (error) {
      if (!ToolError.is(error) || !error.retryable || count >= tries || signal.aborted) throw error
      onFailure?.(error)
    }
    await delayOrThrow(wait, signal)
  }
}

/** Waits; rejects with the reason of the signal. */
export async function delayOrThrow(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, signal)
  signal.throwIfAborted()
}

/** The admin interface of a Restate server. */
export function createAdminServer(url: string): RestateServer {
  return { url, who: 'the admin interface of Restate', flag: '--admin' }
}

/**
 * Registers a worker at the server, which asks the worker immediately what it serves. Registering
 * twice changes nothing.
 */
export async function registerWorker(
  admin: RestateServer,
  uri: string,
  {
    signal,
    headers,
  }: { readonly signal: AbortSignal; readonly headers?: { readonly [name: string]: string } },
): Promise<void> {
  // Without force the server would refuse a changed service at a known address, and continue with
  // the old one.
  const { status, document, bytes } = await sendRestateRequest(admin, {
    method: 'POST',
    path: '/deployments',
    body: compact({ uri, force: true, additional_headers: headers }),
    signal,
    timeout: REQUEST_TIMEOUT_MS,
  })
  if (status >= 200 && status < 300) return
  const why = readMessage(document, bytes)
  throw new ToolError(
    'DEPENDENCY',
    `the Restate server at ${admin.url} does not take the worker at ${uri}: ${why}`,
    {
      suggestion:
        'Give the address by which the server reaches this worker: --advertise http://this-machine:9080',
    },
  )
}

/**
 * The rows of an SQL query. A server that has just started cannot answer for a while, so it is
 * asked again.
 */
export function queryAdmin(
  admin: RestateServer,
  sql: string,
  signal: AbortSignal,
): Promise<readonly { readonly [column: string]: unknown }[]> {
  return withRetries(() => queryOnce(admin, sql, signal), { tries: 6, signal })
}

async function queryOnce(
  admin: RestateServer,
  sql: string,
  signal: AbortSignal,
): Promise<readonly { readonly [column: string]: unknown }[]> {
  const { status, document, bytes } = await sendRestateRequest(admin, {
    method: 'POST',
    path: '/query',
    body: { query: sql },
    signal,
    timeout: REQUEST_TIMEOUT_MS,
  })
  const rows = isObject(document) ? document['rows'] : undefined
  if (status === 200 && Array.isArray(rows)) return rows as never
  throw new ToolError(
    'DEPENDENCY',
    `${admin.who} at ${admin.url} does not answer questions: HTTP status ${status}: ${bytes.toString('utf8', 0, 300)}`,
    {
      retryable: status >= 500,
      suggestion:
        'Look whether --admin names the admin address of a Restate server (port 9070 by default)',
    },
  )
}

/** The connection to a server. */
export type RestateConnection = {
  readonly ingress: RestateServer
  readonly admin: RestateServer | undefined
  readonly ask: (asked: Omit<RestateRequest, 'signal'>) => Promise<HttpResult>
  readonly signal: AbortSignal
}

/** How long a worker may take to reply to a signal; the server has it already. */
const REPLY_TIMEOUT_MS = 5_000

/**
 * Sends a signal to an execution: the server accepts it immediately and keeps it, also while no
 * worker is connected. Throws what a connected worker replies: NOT_FOUND, CONFLICT, INVALID_INPUT.
 */
export async function signalExecution(
  { ingress, ask, signal }: RestateConnection,
  id: string,
  handler: 'answer' | 'cancel',
  body: unknown,
): Promise<void> {
  const what =
    handler === 'answer' ? `the answer to ${id} was not taken` : `${id} was not cancelled`
  await requireRunningExecution(id, ask, ingress)
  // With this key the same signal is not accepted twice when the connection breaks.
  const word = crypto.randomUUID()
  const sent = await ask({
    method: 'POST',
    path: `/${WORKFLOW_SERVICE}/${id}/${handler}/send`,
    body,
    headers: { 'idempotency-key': word },
    timeout: REQUEST_TIMEOUT_MS,
  })
  const invocation = isObject(sent.document) ? sent.document['invocationId'] : undefined
  if (sent.status >= 300 || typeof invocation !== 'string')
    throw toRestateError(sent, ingress, what)
  let heard: HttpResult
  try {
    heard = await sendRestateRequest(ingress, {
      method: 'GET',
      path: `/restate/invocation/${encodeURIComponent(invocation)}/attach`,
      signal,
      timeout: REPLY_TIMEOUT_MS,
    })
  } catch (error) {
    if (ToolError.is(error) && error.retryable) return
    throw error
  }
  if (heard.status >= 400) throw toRestateError(heard, ingress, what)
}

/** The result of an execution: HTTP status 200 when it is over, 470 before, 404 for none. */
export function askOutput(
  { ask }: Pick<RestateConnection, 'ask'>,
  id: string,
): Promise<HttpResult> {
  return ask({
    method: 'GET',
    path: `/restate/workflow/${WORKFLOW_SERVICE}/${id}/output`,
    timeout: REQUEST_TIMEOUT_MS,
  })
}

// A signal to an execution that never existed would wait for it.
async function requireRunningExecution(
  id: string,
  ask: RestateConnection['ask'],
  ingress: RestateServer,
): Promise<void> {
  const { status } = await askOutput({ ask }, id)
  if (status === 404)
    throw new ToolError(
      'NOT_FOUND',
      `the Restate server at ${ingress.url} knows no workflow ${id}`,
      {
        suggestion:
          'Check the id, and whether this is the server that it was started on: toolable workflow list',
      },
    )
  if (status === 200)
    throw new ToolError('CONFLICT', `${id} is over`, { suggestion: `toolable runs show ${id}` })
}

/**
 * How long one request waits for the end; then the next begins, so that a dead connection is
 * noticed.
 */
const ATTACH_TIMEOUT_MS = 60_000
const MAX_PAUSE_MS = 5_000

/**
 * Waits for the end of an execution, also while the server restarts; rejects with DEPENDENCY after
 * `patience` seconds without a server.
 */
export async function waitForRemoteEnd(
  id: string,
  {
    ingress,
    signal,
    patience,
    now,
  }: RestateConnection & { readonly patience: number; readonly now: () => number },
): Promise<HttpResult> {
  let lastSeen = now()
  for (let pause = 200; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      const answer = await sendRestateRequest(ingress, {
        method: 'GET',
        path: `/restate/workflow/${WORKFLOW_SERVICE}/${id}/attach`,
        signal,
        timeout: ATTACH_TIMEOUT_MS,
      })
      // A server that stops or starts responds like this for a while.
      if (answer.status < 500 || answer.headers.has('x-restate-id')) return answer
      throw new ToolError(
        'DEPENDENCY',
        `the Restate server at ${ingress.url} answered with HTTP status ${answer.status}`,
      )
    } catch (error) {
      if (!ToolError.is(error) || !error.retryable || signal.aborted) throw error
      if (error.code === 'TIMEOUT') {
        lastSeen = now()
        pause = 100
      } else if (now() - lastSeen > patience * 1000) throw error
    }
    await delayOrThrow(pause, signal)
  }
}

/** The error in a response of the server. */
export function toRestateError(
  { status, document, bytes }: HttpResult,
  { url }: RestateServer,
  what: string,
): ToolError {
  const why = readMessage(document, bytes)
  const isUnknownService = status === 404 && /\bservice\b/i.test(why)
  if (isUnknownService)
    return new ToolError(
      'DEPENDENCY',
      `${what}: no worker has registered at the Restate server ${url}`,
      {
        suggestion:
          'Start one: toolable worker --listen 127.0.0.1:9080 --admin http://127.0.0.1:9070',
      },
    )
  const shown = why || `the Restate server at ${url} answered with HTTP status ${status}`
  return new ToolError(toErrorCode(status), `${what}: ${shown}`)
}

function readMessage(document: unknown, bytes: Buffer): string {
  const message = isObject(document) ? document['message'] : undefined
  return typeof message === 'string' ? message : bytes.toString('utf8', 0, 500)
}
