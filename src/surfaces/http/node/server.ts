import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { giveUp } from './client-gone.ts'
import { ServerStops } from '../exchange.ts'
import type { HttpApp } from '../exchange.ts'
import { explainListenError } from './listen-error.ts'
import { nodeListener } from './adapter.ts'
import type { NodeMessage } from './request.ts'
import { answerClientError } from './client-error.ts'

export type ListenOptions = {
  /** The address to bind: a name or an IP address. */
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly basePath?: string
  /** Milliseconds a client may take to send its whole request; default 60 s, of which 20 s for the headers. */
  readonly requestTimeout?: number
  /** Milliseconds that running requests get to end when the server stops; default 5 s. */
  readonly grace?: number
  /** Stops the server. */
  readonly signal?: AbortSignal
  /** What answers carry that the app does not make: to what is no HTTP, or comes too slowly. */
  readonly headers?: { readonly [name: string]: string }
}

/** A server that listens. */
export type Listening = {
  readonly url: string
  readonly port: number
  /** Stops accepting, lets running requests end, then cuts them; resolves when every connection is closed. */
  close(): Promise<void>
  /** Resolves when the server has closed, whoever closed it. */
  readonly closed: Promise<void>
}

const REQUEST_TIMEOUT_MS = 60_000
const HEADERS_TIMEOUT_MS = 20_000
const GRACE_MS = 5_000
const LAST_WORDS_MS = 1_000

/** Serves an app over node:http; rejects with CONFIG, naming a free port, when the address cannot be had. */
export async function listen(
  app: HttpApp,
  {
    host,
    port,
    basePath,
    requestTimeout = REQUEST_TIMEOUT_MS,
    grace = GRACE_MS,
    signal,
    headers = {},
  }: ListenOptions,
): Promise<Listening> {
  const connections = new Map<Socket, Set<ServerResponse>>()
  const server = createServer({
    requestTimeout,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout),
    connectionsCheckingInterval: Math.min(5000, Math.ceil(requestTimeout / 2)),
  })
  const mount = basePath === undefined ? {} : { basePath }
  let stopping = false

  const track =
    (serve: ReturnType<typeof nodeListener>) =>
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
  server.on('request', track(nodeListener(app, mount)))
  server.on('checkContinue', track(nodeListener(app, { ...mount, expectContinue: true })))
  server.on('clientError', (error, socket) =>
    answerClientError(
      error,
      socket as Socket,
      [...(connections.get(socket as Socket) ?? [])].some((response) => response.headersSent),
      headers,
    ),
  )

  await bind(server, host, port)
  const address = server.address() as AddressInfo
  // The server says so before the last connection does, and somebody may wait for that one.
  const closed = new Promise<void>((resolve) =>
    server.once('close', () => void allGone(connections.keys()).then(resolve)),
  )
  const close = (): Promise<void> => {
    if (stopping) return closed
    stopping = true
    signal?.removeEventListener('abort', stop)
    server.close()
    for (const [socket, running] of connections) if (running.size === 0) socket.destroySoon()
    let cut: NodeJS.Timeout
    const end = setTimeout(() => {
      for (const socket of connections.keys()) giveUp(socket, new ServerStops())
      // Whoever heeds that has something to say about it.
      cut = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy()
      }, LAST_WORDS_MS)
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
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}${basePath ?? ''}`,
    port: address.port,
    close,
    closed,
  }
}

async function allGone(sockets: Iterable<Socket>): Promise<void> {
  await Promise.all(
    [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
  )
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once(
      'error',
      (error: NodeJS.ErrnoException) =>
        void explainListenError(error, host, port).then(reject, reject),
    )
    server.listen({ host, port }, () => {
      // A connection that could not be accepted, for instance for want of descriptors, is no reason to end.
      server.removeAllListeners('error').on('error', () => undefined)
      resolve()
    })
  })
}
