import { request as send } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { modern } from './raw-stdio.ts'
import type { Message } from './raw-stdio.ts'

export type HttpAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The answer of the request, from a document or from the end of a stream. */ readonly message: Message
  readonly messages: readonly Message[]
}
export type HttpRequest = {
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string | Uint8Array
  readonly path?: string
  readonly signal?: AbortSignal
  readonly onText?: (text: string) => void
}

/** Sends bytes as they are, with nothing added but what a test gives. */
export function sendRaw(
  url: string,
  { method = 'POST', headers = {}, body = '', path, signal, onText }: HttpRequest,
): Promise<HttpAnswer> {
  const { hostname, port, pathname } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = send(
      {
        hostname,
        port,
        path: path ?? pathname,
        method,
        headers,
        agent: false,
        ...(signal && { signal }),
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
          onText?.(text)
        })
        response
          .on('error', reject)
          .on('end', () => resolve(readAnswer(response.statusCode ?? 0, response.headers, text)))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** A request of a modern client with all the headers it has to send. */
export function askModern(
  url: string,
  method: string,
  params: { readonly [name: string]: unknown } = {},
  options: HttpRequest & { readonly capabilities?: object; readonly id?: string | number } = {},
): Promise<HttpAnswer> {
  const name = params['name'] ?? params['uri'] ?? params['taskId']
  return sendRaw(url, {
    ...options,
    headers: {
      ...JSON_HEADERS,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...options.headers,
    },
    body:
      options.body ??
      JSON.stringify({
        jsonrpc: '2.0',
        id: options.id ?? 1,
        method,
        params: modern(params, options.capabilities),
      }),
  })
}

/** A request of an older client, in a session where one is given. */
export function askLegacy(
  url: string,
  method: string,
  params: object = {},
  session?: string,
  options: HttpRequest & { readonly id?: string | number } = {},
): Promise<HttpAnswer> {
  return sendRaw(url, {
    ...options,
    headers: {
      ...JSON_HEADERS,
      'mcp-protocol-version': '2025-11-25',
      ...(session !== undefined && { 'mcp-session-id': session }),
      ...options.headers,
    },
    body: options.body ?? JSON.stringify({ jsonrpc: '2.0', id: options.id ?? 1, method, params }),
  })
}

/** The handshake of an older client; gives its session. */
export async function openSession(url: string, capabilities: object = {}): Promise<string> {
  const { headers } = await askLegacy(url, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: 'raw', version: '1.0.0' },
  })
  const session = String(headers['mcp-session-id'])
  await askLegacy(url, '', {}, session, {
    body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  })
  return session
}

/** The messages of a stream of events, as far as it came. */
export function readEvents(text: string): Message[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Message)
}

function readAnswer(status: number, headers: IncomingHttpHeaders, text: string): HttpAnswer {
  const isStream = String(headers['content-type']).startsWith('text/event-stream')
  const messages = isStream
    ? readEvents(text)
    : String(headers['content-type']).startsWith('application/json') && text !== ''
      ? [JSON.parse(text) as Message]
      : []
  return { status, headers, text, messages, message: messages.at(-1) ?? { jsonrpc: '2.0' } }
}
