import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** What came back over a bare connection. */
export type RawAnswer = {
  readonly text: string
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** How many bytes were handed to the system before the end. */ readonly sent: number
}

/**
 * A client that knows nothing of HTTP: writes what it is given, whole, before it looks at what
 * comes back, and waits for the end of the connection.
 */
export function sendRaw(
  port: number,
  parts: Iterable<string | Uint8Array>,
  then?: (socket: Socket, received: () => string) => void,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    let sent = 0
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve({ ...parse(text), sent }))
    const iterator = parts[Symbol.iterator]()
    const write = (): void => {
      for (;;) {
        const { value, done } = iterator.next()
        if (done) return then?.(socket, () => text)
        sent += value.length
        if (!socket.write(value)) return void socket.once('drain', write)
      }
    }
    socket.once('connect', write)
  })
}

/** Head and body of a request in one text. */
export function requestText(
  method: string,
  path: string,
  headers: { readonly [name: string]: string | number } = {},
  body = '',
  version = '1.1',
): string {
  const all = {
    ...(version === '1.1' && { host: 'localhost' }),
    ...(body !== '' && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }),
    ...headers,
  }
  return `${method} ${path} HTTP/${version}\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`
}

function parse(text: string): Omit<RawAnswer, 'sent'> {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end < 0 ? undefined : end).split('\r\n')
  return {
    text,
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(first)?.[1]),
    headers: Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    ),
    body: end < 0 ? '' : text.slice(end + 4),
  }
}
