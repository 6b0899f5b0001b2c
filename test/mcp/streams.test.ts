import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { askLegacy, askModern, openSession, readEvents, sendRaw } from './support/raw-http.ts'
import type { HttpAnswer, HttpRequest } from './support/raw-http.ts'
import { modern } from './support/raw-stdio.ts'
import { serveHttp } from './support/serve.ts'
import type { HttpServer } from './support/serve.ts'
import { until } from './support/until.ts'

type Open = { readonly answer: Promise<HttpAnswer>; readonly text: () => string; leave(): void }

// A request whose answer is read while it comes.
function open(send: (options: HttpRequest) => Promise<HttpAnswer>): Open {
  const controller = new AbortController()
  let heard = ''
  const answer = send({
    signal: controller.signal,
    onText: (text) => {
      heard = text
    },
  })
  answer.catch(() => undefined)
  return { answer, text: () => heard, leave: () => controller.abort() }
}

const LOG = { 'io.modelcontextprotocol/logLevel': 'info' }
const body = (id: string | number, method: string, params: object) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const cancel = (url: string, session: string, requestId: string) =>
  askLegacy(url, '', {}, session, {
    body: JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    }),
  })
const listenGet = (
  url: string,
  session: string,
  headers: { readonly [name: string]: string } = {},
) =>
  open((options) =>
    sendRaw(url, {
      ...options,
      method: 'GET',
      headers: {
        accept: 'text/event-stream',
        'mcp-session-id': session,
        'mcp-protocol-version': '2025-11-25',
        ...headers,
      },
    }),
  )

async function withServer(
  work: (server: HttpServer, marker: string) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  const marker = join(makeFolder(), 'm')
  const server = await serveHttp('asks-and-leaves.mjs', args, { env: { MARKER: marker } })
  try {
    await work(server, marker)
  } finally {
    await server.stop()
  }
}

describe('a client that leaves its stream [5.mcp-client-gone]', () => {
  test('modern: the handler is aborted at once, although nothing else is said on the stream', () =>
    withServer(async ({ url }, marker) => {
      const call = open((options) =>
        askModern(
          url,
          'tools/call',
          { name: 'wait' },
          {
            ...options,
            body: body(1, 'tools/call', modern({ name: 'wait', arguments: {} }, {}, LOG)),
          },
        ),
      )
      await until(() => readEvents(call.text()).length === 1)
      call.leave()
      await until(() => existsSync(`${marker}.aborted`))
    }))

  test('modern: resources are left like tools', () =>
    withServer(async ({ url }, marker) => {
      const call = open((options) =>
        askModern(url, 'resources/read', { uri: 'slow://it' }, options),
      )
      await until(() => existsSync(`${marker}.started`))
      call.leave()
      await until(() => existsSync(`${marker}.aborted`))
    }))

  test('older without resumable streams: the handler is aborted at once', () =>
    withServer(async ({ url }, marker) => {
      const { headers } = await askLegacy(url, 'initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'raw', version: '1' },
      })
      const call = open((options) =>
        askLegacy(
          url,
          'tools/call',
          { name: 'wait', arguments: {} },
          String(headers['mcp-session-id']),
          options,
        ),
      )
      await until(() => readEvents(call.text()).length === 1)
      expect(call.text()).not.toMatch(/^id:/m)
      call.leave()
      await until(() => existsSync(`${marker}.aborted`))
    }))

  test('older with resumable streams: it may come back twice, and the call goes on', () =>
    withServer(async ({ url }, marker) => {
      const session = await openSession(url)
      const call = open((options) =>
        askLegacy(url, 'tools/call', { name: 'wait', arguments: {} }, session, {
          ...options,
          id: 'w',
        }),
      )
      await until(() => readEvents(call.text()).length === 1)
      call.leave()
      const second = listenGet(url, session, { 'last-event-id': 's1:0' })
      await until(() => readEvents(second.text()).length === 1)
      // Whoever comes back takes over, even while the connection before still stands.
      const third = listenGet(url, session, { 'last-event-id': 's1:0' })
      await until(() => readEvents(third.text()).length === 1)
      expect((await second.answer).messages).toHaveLength(1)
      expect(existsSync(`${marker}.aborted`)).toBe(false)
      await cancel(url, session, 'w')
      await until(() => existsSync(`${marker}.aborted`))
      expect((await third.answer).messages.some(({ id }) => id === 'w')).toBe(false)
    }))
})

describe('older clients over HTTP, in detail [5.mcp-both-eras]', () => {
  let server: HttpServer
  beforeAll(async () => {
    server = await serveHttp('asks-and-leaves.mjs')
  })
  afterAll(() => server.stop())

  test('a finished stream can still be fetched, and one that is unknown is refused', async () => {
    const session = await openSession(server.url, { elicitation: {} })
    const asking = open((options) =>
      askLegacy(server.url, 'tools/call', { name: 'talker', arguments: {} }, session, {
        ...options,
        id: 't',
      }),
    )
    await until(() =>
      readEvents(asking.text()).some(({ method }) => method === 'elicitation/create'),
    )
    const asked = readEvents(asking.text()).find(({ method }) => method === 'elicitation/create')!
    expect(
      (
        await askLegacy(server.url, '', {}, session, {
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: asked.id,
            result: { action: 'accept', content: { answer: 'Ann' } },
          }),
        })
      ).status,
    ).toBe(202)
    const whole = await asking.answer
    expect(whole.message).toMatchObject({ id: 't', result: { content: [{ text: 'Hello, Ann' }] } })
    const ids = [...whole.text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(
      (await listenGet(server.url, session, { 'last-event-id': String(ids.at(-2)) }).answer)
        .messages,
    ).toEqual([whole.message])
    for (const last of ['s99:0', 'nonsense', `${ids[0]}.5`, 's1:-1', 's1:99999999999999999999'])
      expect(
        (await listenGet(server.url, session, { 'last-event-id': last }).answer).status,
        last,
      ).toBe(400)
    expect(
      (await listenGet(server.url, session, { 'last-event-id': 's1:999999' }).answer).messages,
    ).toEqual([])
    const other = await openSession(server.url)
    expect(
      (await listenGet(server.url, other, { 'last-event-id': String(ids[0]) }).answer).status,
    ).toBe(400)
  })

  test('a call that was cancelled is not answered, with and without a stream [5.mcp-cancel]', async () => {
    const session = await openSession(server.url)
    for (const silent of [true, false]) {
      const call = open((options) =>
        askLegacy(server.url, 'tools/call', { name: 'wait', arguments: { silent } }, session, {
          ...options,
          id: 'w',
        }),
      )
      if (silent) await askLegacy(server.url, 'ping', {}, session)
      else await until(() => readEvents(call.text()).length === 1)
      await cancel(server.url, session, 'w')
      expect((await call.answer).messages.filter(({ id }) => id !== undefined)).toEqual([])
    }
  })

  test('an id in use is refused, and the first request goes on', async () => {
    const session = await openSession(server.url)
    const first = askLegacy(
      server.url,
      'tools/call',
      { name: 'slow', arguments: { ms: 400 } },
      session,
      { id: 'same' },
    )
    await askLegacy(server.url, 'ping', {}, session)
    expect(
      (
        await askLegacy(server.url, 'tools/call', { name: 'slow', arguments: {} }, session, {
          id: 'same',
        })
      ).message.error,
    ).toMatchObject({ code: -32600 })
    expect((await first).message.result.structuredContent).toEqual({ slept: 400 })
    expect(
      (
        await askLegacy(server.url, 'tools/call', { name: 'slow', arguments: { ms: 1 } }, session, {
          id: 'same',
        })
      ).message.result.structuredContent,
    ).toEqual({ slept: 1 })
  })

  test('a client that takes no stream is not asked in vain', async () => {
    const session = await openSession(server.url, { elicitation: {} })
    const { message } = await askLegacy(
      server.url,
      'tools/call',
      { name: 'talker', arguments: {} },
      session,
      { headers: { accept: 'application/json' } },
    )
    expect(JSON.parse(message.result.content[0].text)).toMatchObject({
      error: { code: 'ANSWER_REQUIRED', message: expect.stringContaining('stream') },
    })
  })

  test('the end of a session ends its calls, questions and streams', () =>
    withServer(async ({ url }, marker) => {
      const session = await openSession(url, { elicitation: {} })
      const asking = open((options) =>
        askLegacy(url, 'tools/call', { name: 'stubborn', arguments: {} }, session, options),
      )
      const standalone = listenGet(url, session)
      await until(() => existsSync(`${marker}.started`) && readEvents(asking.text()).length === 1)
      expect((await askLegacy(url, '', {}, session, { method: 'DELETE', body: '' })).status).toBe(
        204,
      )
      await until(() => existsSync(`${marker}.aborted`))
      await standalone.answer
      expect(
        (await asking.answer).messages.some(
          ({ id, method }) => id !== undefined && method === undefined,
        ),
      ).toBe(false)
    }))

  test('the standalone stream tells of subscribed resources, and a new one takes its place', async () => {
    const session = await openSession(server.url)
    await askLegacy(server.url, 'resources/subscribe', { uri: 'twice://a' }, session)
    const touch = (uri: string) =>
      askLegacy(server.url, 'tools/call', { name: 'touch', arguments: { uri } }, session)
    const first = listenGet(server.url, session)
    const seen = async (stream: Open): Promise<boolean> => {
      await touch('twice://b')
      await touch('twice://a')
      return readEvents(stream.text()).length > 0
    }
    while (!(await seen(first)));
    const second = listenGet(server.url, session)
    await first.answer
    while (!(await seen(second)));
    for (const { method, params } of [...readEvents(first.text()), ...readEvents(second.text())])
      expect([method, params.uri]).toEqual(['notifications/resources/updated', 'twice://a'])
    second.leave()
    await askLegacy(server.url, 'resources/unsubscribe', { uri: 'twice://a' }, session)
    expect((await touch('twice://a')).status).toBe(200)
  })
})

describe('a server over HTTP that is told to stop [5.mcp-drain]', () => {
  test('lets running calls end, closes subscriptions with a result, and exits 0', () =>
    withServer(async ({ url, program }, marker) => {
      const session = await openSession(url)
      const standalone = listenGet(url, session)
      const watching = open((options) =>
        askModern(
          url,
          'subscriptions/listen',
          { notifications: { toolsListChanged: true } },
          { ...options, id: 'watch' },
        ),
      )
      await until(() => readEvents(watching.text()).length === 1)
      const slow = askModern(url, 'tools/call', { name: 'slow', arguments: { ms: 800 } })
      await until(() => existsSync(`${marker}.started`))
      program.kill('SIGTERM')
      expect((await slow).message.result.structuredContent).toEqual({ slept: 800 })
      expect((await watching.answer).message).toMatchObject({
        id: 'watch',
        result: {
          resultType: 'complete',
          _meta: { 'io.modelcontextprotocol/subscriptionId': 'watch' },
        },
      })
      await standalone.answer
      expect((await program.ended).status).toBe(0)
    }))

  test('aborts what does not end, resumable or not', () =>
    withServer(async ({ url, program }, marker) => {
      const session = await openSession(url)
      const call = open((options) =>
        askLegacy(url, 'tools/call', { name: 'wait', arguments: {} }, session, options),
      )
      await until(() => readEvents(call.text()).length === 1)
      program.kill('SIGTERM')
      expect((await program.ended).status).toBe(0)
      expect(existsSync(`${marker}.aborted`)).toBe(true)
    }))
})

test('what a client does not read does not pile up: 200 MB of log lines [5.mcp-slow-reader]', () =>
  withServer(async ({ url, port, program }) => {
    const socket = connect(port, '127.0.0.1')
    const text = body(
      1,
      'tools/call',
      modern({ name: 'shout', arguments: { lines: 20_000 } }, {}, LOG),
    )
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: shout\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    )
    socket.pause()
    // Another call sees the server at ease once the first is through; then the late reader gets its
    // result all the same.
    await askModern(url, 'tools/call', { name: 'slow', arguments: { ms: 3000 } })
    let heard = ''
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        heard = (heard + chunk).slice(-20_000)
      })
      .resume()
    await until(() => heard.includes('"rss"'))
    expect(Number(/"rss":(\d+)/.exec(heard)?.[1])).toBeLessThan(220 * 1024 * 1024)
    socket.destroy()
    expect(program.child.exitCode).toBe(null)
  }))
