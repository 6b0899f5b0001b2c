import type { Socket } from 'node:net'
import { ToolError } from '../../../contract/tool-error.ts'
import { refuse } from '../refuse.ts'

const REFUSALS: {
  readonly [code: string]: readonly [status: number, reason: string, message: string]
} = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'the headers of the request are too long',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request did not arrive in time'],
}

/** Answers what cannot be read as HTTP, unless an answer is on its way already, and closes the connection. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  answering: boolean,
  more: { readonly [name: string]: string } = {},
): void {
  if (answering || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const [status, reason, message] = REFUSALS[error.code ?? ''] ?? [
    400,
    'Bad Request',
    'the request is not HTTP/1.1',
  ]
  const { headers, body } = refuse(new ToolError('INVALID_INPUT', message), { status })
  const lines = Object.entries({
    ...headers,
    ...more,
    'content-length': String(Buffer.byteLength(body as string)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`)
  socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${body as string}`)
  socket.destroySoon()
}
