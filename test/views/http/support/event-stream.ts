import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'

/** A message of a stream. */
export type Message = { readonly id: string; readonly event: string; readonly data: any }

/** A reader of the stream of a dashboard. */
export type Reader = {
  readonly messages: Message[]
  /** How it began, as it came. */
  readonly beginning: () => string
  /**
   * Resolves when the messages so far fulfil a condition; rejects when the stream ends without
   * that.
   */
  until(isEnough: (messages: readonly Message[]) => boolean): Promise<void>
  /** Resolves when the server has ended it, with whether it came to its end. */
  readonly ended: Promise<'end' | 'cut'>
  /** Begins to read, where it was opened without. */
  goOn(): void
  leave(): void
}

/**
 * Opens a stream as a browser does. With `idle` nothing is read: what comes stays in the buffers of
 * the system.
 */
export function openStream(
  port: number,
  path: string,
  headers: { readonly [name: string]: string },
  { idle = false } = {},
): Promise<Reader> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) =>
      response.statusCode === 200
        ? resolve(read(response, idle, () => request.destroy()))
        : reject(new Error(`the stream was refused with ${response.statusCode}`)),
    )
    request.on('error', reject)
  })
}

function read(response: IncomingMessage, idle: boolean, leave: () => void): Reader {
  const messages: Message[] = []
  const listeners = new Set<() => void>()
  let [beginning, text] = ['', '']
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    if (beginning.length < 1000) beginning += chunk
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const fields = block
        .split('\n')
        .map(
          (line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const,
        )
      const {
        id = '',
        event,
        data,
      } = Object.fromEntries(fields) as { readonly [name: string]: string | undefined }
      if (event !== undefined) messages.push({ id, event, data: JSON.parse(data!) as unknown })
    }
    for (const listener of listeners) listener()
  })
  if (idle) response.pause()
  const ended = new Promise<'end' | 'cut'>((resolve) =>
    response
      .on('end', () => resolve('end'))
      .on('error', () => resolve('cut'))
      .on('close', () => resolve('cut')),
  )
  return {
    messages,
    beginning: () => beginning,
    until: (isEnough) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!isEnough(messages)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        look()
        void ended.then(() =>
          reject(
            new Error(
              `the stream ended too soon: ${text.slice(-500)}, ${messages.length} messages`,
            ),
          ),
        )
      }),
    ended,
    goOn: () => void response.resume(),
    leave,
  }
}
