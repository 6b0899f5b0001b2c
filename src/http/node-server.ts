/**
 * A node:http server with graceful shutdown.
 */

import type { Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ToolError } from '../protocol/tool-error.ts'
import type { HttpApp } from './exchange.ts'
import { formatHost, ServerStoppedError, toRefusalResponse } from './exchange.ts'
import { explainListenError } from './listen-error.ts'
import type { NodeMessage } from './node-adapter.ts'
import { abandonSocket, createNodeListener } from './node-adapter.ts'

export type ListenOptions = {
  /** The address to bind: a name or an IP address. */
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly basePath?: string
  /**
   * Milliseconds a client may take to send its whole request; default 60 s, of which 20 s for the
   * headers.
   */
  readonly requestTimeout?: number
  /** Milliseconds that running requests get to end when the server stops; default 5 s. */
  readonly grace?: number
  /** Stops the server. */
  readonly signal?: AbortSignal
  /** What answers carry that the app does not make: to what is no HTTP, or comes too slowly. */
  readonly headers?: { readonly [name: string]: string }
}

/** A server that listens. */
export type HttpServerHandle = {
  readonly url: string
  readonly port: number
  /**
   * Stops accepting, lets running requests end, then cuts them; resolves when every connection is
   * closed.
   */
  close(): Promise<void>
  /** Resolves when the server has closed, whoever closed it. */
  readonly closed: Promise<void>
}

const DEFAULT_REQUEST_TIMEOUT_MS = 60_000
const MAX_HEADERS_TIMEOUT_MS = 20_000
const DEFAULT_GRACE_MS = 5_000
const FINAL_RESPONSE_TIMEOUT_MS = 1_000

/**
 * Serves an app over node:http; rejects with CONFIG, naming a free port, when the address cannot be
 * had.
 */
export async function listenHttp(
  app: HttpApp,
  {
    host,
    port,
    basePath,
    requestTimeout = DEFAULT_REQUEST_TIMEOUT_MS,
    grace = DEFAULT_GRACE_MS,
    signal,
    headers = {},
  }: ListenOptions,
): Promise<HttpServerHandle> {
  const connections = new Map<Socket, Set<ServerResponse>>()
  const server = createServer({
    requestTimeout,
    headersTimeout: Math.min(MAX_HEADERS_TIMEOUT_MS, requestTimeout),
    connectionsCheckingInterval: Math.min(5000, Math.ceil(requestTimeout / 2)),
  })
  const mount = basePath === undefined ? {} : { basePath }
  let stopping = false

  const track =
    (serve: ReturnType<typeof createNodeListener>) =>
    (request: NodeMessage, response: ServerResponse): void => {
      const running = connections.get(request.socket)
      running?.add(response)
      response.once('close', () => {
        running?.delete(response)
        if (stopping && running?.size === 0) request.socket.destroySoon()
      })
      serve(request, response)
    }
  server.on('connection', (socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', track(createNodeListener(app, mount)))
  server.on('checkContinue', track(createNodeListener(app, { ...mount, expectContinue: true })))
  server.on('clientError', (error, socket) =>
    respondToClientError(
      error,
      socket as Socket,
      [...(connections.get(socket as Socket) ?? [])].some((response) => response.headersSent),
      headers,
    ),
  )

  await bindServer(server, host, port)
  const address = server.address() as AddressInfo
  // The server says so before the last connection does, and somebody may wait for that one.
  const closed = new Promise<void>((resolve) =>
    server.once('close', () => void waitForClose(connections.keys()).then(resolve)),
  )
  const close = (): Promise<void> => {
    if (stopping) return closed
    stopping = true
    signal?.removeEventListener('abort', stop)
    server.close()
    for (const [socket, running] of connections) if (running.size === 0) socket.destroySoon()
    let cut: NodeJS.Timeout
    const end = setTimeout(() => {
      for (const socket of connections.keys()) abandonSocket(socket, new ServerStoppedError())
      // Whoever heeds that has something to say about it.
      cut = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy()
      }, FINAL_RESPONSE_TIMEOUT_MS)
    }, grace)
    void closed.then(() => {
      clearTimeout(end)
      clearTimeout(cut)
    })
    return closed
  }
  const stop = (): void => void close()
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  return {
    url: `http://${formatHost(host)}:${address.port}${basePath ?? ''}`,
    port: address.port,
    close,
    closed,
  }
}

async function waitForClose(sockets: Iterable<Socket>): Promise<void> {
  await Promise.all(
    [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
  )
}

function bindServer(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once(
      'error',
      (error: NodeJS.ErrnoException) =>
        void explainListenError(error, host, port).then(reject, reject),
    )
    server.listen({ host, port }, () => {
      // A connection that could not be accepted, for instance for want of descriptors, is no reason
      // to end.
      server.removeAllListeners('error').on('error', () => undefined)
      resolve()
    })
  })
}

const CLIENT_ERRORS: {
  readonly [code: string]: readonly [status: number, reason: string, message: string]
} = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'the headers of the request are too long',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request did not arrive in time'],
}

/**
 * Answers what cannot be read as HTTP, unless an answer is on its way already, and closes the
 * connection.
 */
function respondToClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  answering: boolean,
  more: { readonly [name: string]: string } = {},
): void {
  if (answering || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const [status, reason, message] = CLIENT_ERRORS[error.code ?? ''] ?? [
    400,
    'Bad Request',
    'the request is not HTTP/1.1',
  ]
  const { headers, body } = toRefusalResponse(new ToolError('INVALID_INPUT', message), { status })
  const lines = Object.entries({
    ...headers,
    ...more,
    'content-length': String(Buffer.byteLength(body as string)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`)
  socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${body as string}`)
  socket.destroySoon()
}
