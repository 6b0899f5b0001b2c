import { createServer } from 'node:http2'
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { RestateSdk } from '../sdk-type.ts'

export type EndpointOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly services: readonly unknown[]
  /** Whether a request may come in, by its `authorization`; absent: every one may. */
  readonly isAllowed?: (authorization: string | undefined) => boolean
  /** What the SDK has to say to the operator. */
  readonly onWarning: (text: string) => void
}

/** A worker that listens. */
export type Endpoint = {
  readonly port: number
  /** Takes nothing new, and goes on with what runs until `idle`, or until so many milliseconds have passed. */
  drain(idle: Promise<void>, grace: number): Promise<void>
  /** Lets go of what runs: the server gives it to somebody else. */
  close(): Promise<void>
}

/** Serves over HTTP/2, which the Restate server speaks to its workers. Rejects as `listen` of node does. */
export async function openEndpoint(
  sdk: RestateSdk,
  { host, port, services, isAllowed, onWarning }: EndpointOptions,
): Promise<Endpoint> {
  const handle = sdk.createEndpointHandler({
    services,
    logger: ({ level, replaying }, ...words) => {
      // That requests carry no signature is said at every start, and who may ask is decided here. What a handler refuses, whoever asked is told.
      const isUsual =
        String(words[0]).startsWith('Accepting requests without') ||
        words.some((word) => word instanceof sdk.TerminalError)
      if ((level === 'warn' || level === 'error') && !replaying && !isUsual)
        onWarning(words.map(shown).join(' '))
    },
  })
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer((request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (isAllowed?.(request.headers.authorization) ?? true) return handle(request, response)
    response.writeHead(401, { 'www-authenticate': 'Bearer' })
    response.end()
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    // A server that is killed is no event for a worker: it comes back.
    session.on('error', () => undefined)
  })
  server.on('stream', (stream) => stream.on('error', () => undefined))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.removeListener('error', reject)
      server.on('error', () => undefined)
      resolve()
    })
  })
  let closed: Promise<void> | undefined
  const stopListening = (): Promise<void> =>
    (closed ??= new Promise((resolve) => server.close(() => resolve())))
  return {
    port: (server.address() as AddressInfo).port,
    async drain(idle, grace) {
      void stopListening()
      for (const session of sessions) session.close()
      let timer: NodeJS.Timeout | undefined
      await Promise.race([idle, new Promise((resolve) => (timer = setTimeout(resolve, grace)))])
      clearTimeout(timer)
    },
    async close() {
      void stopListening()
      for (const session of sessions) session.destroy()
      await closed
    },
  }
}

function shown(word: unknown): string {
  return word instanceof Error
    ? word.message
    : typeof word === 'string'
      ? word.trim()
      : JSON.stringify(word)
}
