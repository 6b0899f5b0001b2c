import type { IncomingMessage, ServerResponse } from 'node:http'
import { isStream } from '../exchange.ts'
import type { HttpAnswer } from '../exchange.ts'

const LONGEST_DRAIN_MS = 30_000
const LONGEST_SILENCE_MS = 5_000

/** Sends an answer; a stream is sent when the promise resolves. */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpAnswer,
): void | Promise<void> {
  const { status, headers, body } = answer
  if (response.destroyed || response.headersSent) return leaveStream(body)
  if (isStream(body)) return sendStream(request, response, answer, body)
  const length =
    body === undefined ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const empty = status === 204 || status === 304
  const complete = empty ? { ...headers } : { ...headers, 'content-length': String(length) }
  if (!request.complete) return refuseRest(request, response, status, complete, body)
  response.writeHead(status, complete)
  if (empty || request.method === 'HEAD' || body === undefined) response.end()
  else response.end(body)
}

// The client is still sending. Closing on unread bytes would reset the connection, and it might never see the answer: so the answer goes first, what still comes is thrown away for a while, then the connection ends.
function refuseRest(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: { readonly [name: string]: string },
  body: HttpAnswer['body'],
): void {
  response.writeHead(status, { ...headers, connection: 'close' })
  if (body !== undefined && request.method !== 'HEAD' && !isStream(body)) response.write(body)
  else response.flushHeaders()
  let silence: NodeJS.Timeout | undefined
  const end = (): void => {
    clearTimeout(longest)
    clearTimeout(silence)
    request.off('data', listen).off('end', end).off('close', end)
    response.end()
  }
  const listen = (): void => {
    clearTimeout(silence)
    silence = setTimeout(end, LONGEST_SILENCE_MS)
  }
  const longest = setTimeout(end, LONGEST_DRAIN_MS)
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  if (request.destroyed) return end()
  listen()
  request.on('data', listen).once('end', end).once('close', end).resume()
}

async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: HttpAnswer,
  body: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  response.on('error', () => undefined)
  response.writeHead(status, request.complete ? headers : { ...headers, connection: 'close' })
  response.flushHeaders()
  try {
    if (request.method === 'HEAD') leaveStream(body)
    else await writeChunks(response, body)
    response.end()
  } catch {
    // Too late for a status: an end without the last chunk tells the client that something is missing.
    response.destroy()
  }
}

async function writeChunks(
  response: ServerResponse & { flush?(): void },
  body: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const chunks = body[Symbol.asyncIterator]()
  const orGone = unlessGone(response)
  for (;;) {
    const next = await orGone(chunks.next())
    // Not waited for: a generator in the middle of something ends when that does.
    if (next === GONE) return void Promise.resolve(chunks.return?.()).catch(() => undefined)
    if (next.done) return
    const full = !response.write(next.value)
    // Put there by middleware that compresses.
    response.flush?.()
    if (full) await orGone(new Promise<void>((resolve) => response.once('drain', resolve)))
  }
}

const GONE = Symbol('gone')

// Waits for one thing after the other, or for the end of the connection. A race with one promise for that end would keep everything that was ever waited for.
function unlessGone(
  response: ServerResponse,
): <Value>(work: Promise<Value>) => Promise<Value | typeof GONE> {
  let isGone = response.destroyed
  let leave: () => void = () => undefined
  response.once('close', () => {
    isGone = true
    leave()
  })
  return (work) =>
    new Promise((resolve, reject) => {
      leave = () => resolve(GONE)
      work.then(resolve, reject)
      if (isGone) leave()
    })
}

function leaveStream(body: HttpAnswer['body']): void {
  if (isStream(body))
    void Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => undefined)
}
