import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ToolError } from '../../../contract/tool-error.ts'
import { splitTarget } from '../base-path.ts'
import { whenGone } from './client-gone.ts'
import { BodyError, bodyTooLong, clientGone } from '../exchange.ts'
import type { HttpRequest } from '../exchange.ts'

/** A request as Express may leave it behind: rewritten below a mount point, its body read already. */
export type NodeMessage = IncomingMessage & {
  readonly originalUrl?: string
  readonly body?: unknown
}

/** A request of node:http, with nothing made before somebody asks for it. */
export class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly search: string
  private readonly authority: string | undefined
  private controller: AbortController | undefined
  private reactions: ((why: ToolError) => void)[] | undefined
  private stopListening: (() => void) | undefined

  constructor(
    private readonly message: NodeMessage,
    private readonly response: ServerResponse,
    target: string,
    private readonly expects: boolean,
  ) {
    this.method = message.method ?? 'GET'
    const { path, search } = splitTarget(target)
    this.path = path
    this.search = search
    // A whole address says the host, whatever the header says.
    this.authority =
      message.url?.startsWith('/') === false ? splitTarget(message.url).authority : undefined
  }

  header(name: string): string | undefined {
    if (name === 'host') return this.authority ?? hostOf(this.message)
    const value = this.message.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }

  text(limit: number): Promise<string> {
    const { message } = this
    if (Number(message.headers['content-length'] ?? 0) > limit)
      return Promise.reject(bodyTooLong(limit))
    if (message.readableEnded || message.readableDidRead) return parsedBody(message, limit)
    if (this.expects) this.response.writeContinue()
    return readBody(message, limit)
  }

  get signal(): AbortSignal {
    if (this.controller) return this.controller.signal
    const controller = (this.controller = new AbortController())
    this.onGone((why) => controller.abort(why))
    return controller.signal
  }

  onGone(react: (why: ToolError) => void): void {
    if (this.message.socket.destroyed) {
      if (!this.response.writableFinished) react(clientGone())
      return
    }
    this.reactions ??= this.watchClient()
    this.reactions.push(react)
  }

  /** The answer is sent: from here on nothing aborts any more. */
  finish(): void {
    this.stopListening?.()
  }

  private watchClient(): ((why: ToolError) => void)[] {
    const reactions: ((why: ToolError) => void)[] = []
    this.stopListening = whenGone(this.message.socket, (why) => {
      if (!this.response.writableFinished) for (const react of reactions) react(why)
    })
    return reactions
  }
}

// Node keeps the first of several; whoever decides by it has to see that there are more.
function hostOf({ headers, rawHeaders }: NodeMessage): string | undefined {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]!.length === 4 && rawHeaders[index]!.toLowerCase() === 'host') hosts += 1
  return hosts < 2
    ? headers.host
    : rawHeaders
        .filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === 'host')
        .join(', ')
}

function readBody(message: NodeMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const stop = (): void => {
      message.off('data', take).off('end', end).off('close', cut).off('error', cut)
    }
    const take = (chunk: Buffer): void => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limit) return
      // It flows on to nowhere; whoever sends the answer decides for how long.
      stop()
      reject(bodyTooLong(limit))
    }
    const end = (): void => {
      stop()
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)
      if (isUtf8(bytes)) resolve(bytes.toString())
      else reject(new BodyError(400, 'the body is not UTF-8'))
    }
    const cut = (): void => {
      stop()
      message.on('error', () => undefined)
      reject(new BodyError(400, 'the body was cut off'))
    }
    if (message.destroyed) return cut()
    message.on('data', take).on('end', end).on('close', cut).on('error', cut)
  })
}

// Something in front, like express.json(), has read the body and left what it found.
async function parsedBody({ body, headers }: NodeMessage, limit: number): Promise<string> {
  if (
    body === undefined &&
    (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
  )
    throw new BodyError(
      400,
      'the body was read by something in front of this handler that did not leave it in req.body',
    )
  const text =
    body === undefined
      ? ''
      : typeof body === 'string'
        ? body
        : body instanceof Uint8Array
          ? Buffer.from(body).toString()
          : JSON.stringify(body)
  if (Buffer.byteLength(text) > limit) throw bodyTooLong(limit)
  return text
}
