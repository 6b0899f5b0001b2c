import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

/** A request as the server got it. */
export type Asked = {
  readonly headers: IncomingHttpHeaders
  readonly url: string
  readonly body: any
}

/** Answers one request, whatever way it likes. */
export type Answer = (response: ServerResponse, asked: Asked) => void | Promise<void>

export type ScriptedCall = {
  readonly id?: string
  readonly name: string
  readonly arguments: unknown
}
export type Said = {
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  readonly finish?: string
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
}

const opened = new Set<{ close(): Promise<void> }>()
afterAll(() => Promise.all([...opened].map((server) => server.close())))

/**
 * A server on the loopback that speaks OpenAI's chat completions: each request gets the next answer
 * of the script, and 500 when that is over.
 */
export async function startModelServer(
  script: readonly (Answer | Said | string)[],
): Promise<{
  readonly baseUrl: string
  readonly asked: Asked[]
  connections(): Promise<number>
  close(): Promise<void>
}> {
  const asked: Asked[] = []
  const server = createServer(
    (request, response) =>
      void (async () => {
        const one = {
          headers: request.headers,
          url: request.url ?? '',
          body: await readBody(request),
        }
        const next = script[asked.push(one) - 1]
        if (next === undefined)
          return void response
            .writeHead(500, { 'retry-after': '0' })
            .end('{"error":{"message":"the script is over"}}')
        await (
          typeof next === 'function' ? next : say(typeof next === 'string' ? { text: next } : next)
        )(response, one)
      })(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const handle = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    connections: () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count))),
    close: () =>
      new Promise<void>((resolve) => {
        opened.delete(handle)
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  opened.add(handle)
  return handle
}

/** Says something as a stream, or as one document where the request asks for that. */
export function say(said: Said): Answer {
  return (response, { body }) => {
    if (body.stream === true) stream(response, piecesOf(said), true)
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(wholeOf(said)))
  }
}

/** Refuses with a status. */
export function refuse(
  status: number,
  error: object = { message: `refused with ${status}` },
  headers: { readonly [name: string]: string } = { 'retry-after': '0' },
): Answer {
  return (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error }))
}

/** Sends some pieces, then tears the connection. */
export function cut(said: Said, after: number): Answer {
  return async (response) => {
    stream(response, piecesOf(said).slice(0, after), false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    response.destroy()
  }
}

/** Sends lines as they are, as a stream. */
export function raw(text: string): Answer {
  return (response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
}

/** Writes pieces as a stream. */
export function stream(response: ServerResponse, pieces: readonly object[], ends: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const piece of pieces) response.write(`data: ${JSON.stringify(piece)}\n\n`)
  if (ends) response.end('data: [DONE]\n\n')
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5 }

/**
 * What somebody says as the pieces of a stream: words, then calls with their arguments in two
 * halves.
 */
export function piecesOf({
  text = '',
  calls = [],
  finish = calls.length > 0 ? 'tool_calls' : 'stop',
  usage = USAGE,
}: Said): object[] {
  const piece = (delta: object, finish_reason: string | null = null): object => ({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  return [
    piece({ role: 'assistant', content: '' }),
    ...(text.match(/\s*\S+\s*/g) ?? []).map((content) => piece({ content })),
    ...calls.flatMap(({ id, name, arguments: given }, index) => {
      const written = typeof given === 'string' ? given : JSON.stringify(given)
      const half = Math.ceil(written.length / 2)
      return [
        piece({
          tool_calls: [
            {
              index,
              id: id ?? `call_${index}`,
              type: 'function',
              function: { name, arguments: written.slice(0, half) },
            },
          ],
        }),
        piece({ tool_calls: [{ index, function: { arguments: written.slice(half) } }] }),
      ]
    }),
    piece({}, finish),
    ...(usage ? [{ id: 'c', object: 'chat.completion.chunk', choices: [], usage }] : []),
  ]
}

function wholeOf({
  text = '',
  calls = [],
  finish = calls.length > 0 ? 'tool_calls' : 'stop',
  usage = USAGE,
}: Said): object {
  return {
    id: 'c',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text || null,
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ id, name, arguments: given }, index) => ({
              id: id ?? `call_${index}`,
              type: 'function',
              function: {
                name,
                arguments: typeof given === 'string' ? given : JSON.stringify(given),
              },
            })),
          }),
        },
        finish_reason: finish,
      },
    ],
    ...(usage && { usage }),
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}
