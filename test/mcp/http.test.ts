import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { askLegacy, askModern, openSession, readEvents } from './support/raw-http.ts'
import type { HttpRequest } from './support/raw-http.ts'
import { modern } from './support/raw-stdio.ts'
import { serveHttp } from './support/serve.ts'
import type { HttpServer } from './support/serve.ts'
import { until } from './support/until.ts'

let server: HttpServer
beforeAll(async () => void (server = await serveHttp('workshop.mjs')))
afterAll(() => server?.stop())

const add = { name: 'add', arguments: { a: 1, b: 2 } }

describe('requests that are not even looked at [5.mcp-guards]', () => {
  test.each<[what: string, status: number, request: HttpRequest]>([
    ['a foreign Host', 403, { headers: { host: 'evil.example.com' } }],
    ['a foreign Host with our port', 403, { headers: { host: 'evil.example.com:PORT' } }],
    ['a Host that only begins like ours', 403, { headers: { host: '127.0.0.1.evil.example.com' } }],
    ['a Host with a user', 403, { headers: { host: 'localhost@evil.example.com' } }],
    ['a foreign Origin', 403, { headers: { origin: 'http://evil.example.com' } }],
    ['the Origin of a file', 403, { headers: { origin: 'null' } }],
    ['an Origin that only ends like ours', 403, { headers: { origin: 'http://evil-localhost' } }],
    [
      'an Origin with our name as its user',
      403,
      { headers: { origin: 'http://localhost@evil.example.com' } },
    ],
    ['another method', 405, { method: 'PUT' }],
    ['another path', 404, { path: '/mcp2' }],
    ['the root', 404, { path: '/' }],
    ['another kind of body', 415, { headers: { 'content-type': 'text/plain' } }],
    ['a form', 415, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['no JSON', 400, { body: '{' }],
    ['nothing', 400, { body: '' }],
    ['bytes that are no UTF-8', 400, { body: Buffer.from('7b22a0ff7d', 'hex') }],
    ['a batch', 400, { body: '[]' }],
    ['a nest too deep to read', 400, { body: '['.repeat(300_000) }],
    ['GET without a session', 405, { method: 'GET', body: '' }],
    ['DELETE without a session', 405, { method: 'DELETE', body: '' }],
    [
      'a session that never was',
      404,
      {
        headers: { 'mcp-session-id': 'x', 'mcp-protocol-version': '2025-11-25' },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      },
    ],
  ])('%s: %i', async (_what, status, { headers = {}, ...request }) => {
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        value.replace('PORT', String(server.port)),
      ]),
    )
    const answer = await askModern(server.url, 'tools/list', {}, { ...request, headers: given })
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain('"tools"')
    expect(answer.text).not.toMatch(/ at .*\.js:\d+/)
    expect(
      (await askModern(server.url, 'tools/call', add)).message.result.structuredContent,
    ).toEqual({ sum: 3 })
  })

  test.each(['http://localhost:1234', 'http://127.0.0.1', 'http://[::1]:5'])(
    'pages of this machine may ask: %s',
    async (origin) => {
      expect((await askModern(server.url, 'tools/call', add, { headers: { origin } })).status).toBe(
        200,
      )
    },
  )

  test('a body of 100 MB is refused while it comes, and the server goes on', async () => {
    const { status, sent } = await pour(server.port, 100 * 1024 * 1024)
    expect(status).toBe(413)
    expect(sent).toBeLessThan(100 * 1024 * 1024)
    expect((await askModern(server.url, 'tools/call', add)).status).toBe(200)
  })

  test('with a token nobody comes in without it', async () => {
    const file = join(makeFolder(), 'token')
    writeFileSync(file, 'secret-word\n', { mode: 0o600 })
    const guarded = await serveHttp('workshop.mjs', ['--token-file', file])
    const without = await askModern(guarded.url, 'tools/call', add)
    expect([without.status, without.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('Bearer'),
    ])
    for (const authorization of [
      'Bearer wrong',
      'Bearer secret-wor',
      'Bearer secret-word2',
      'Basic secret-word',
      'secret-word',
    ])
      expect(
        (await askModern(guarded.url, 'tools/call', add, { headers: { authorization } })).status,
      ).toBe(401)
    expect(
      (
        await askModern(guarded.url, 'tools/call', add, {
          headers: { authorization: 'Bearer secret-word' },
        })
      ).status,
    ).toBe(200)
    await guarded.stop()
  })
})

describe('a client that disappears in the middle [5.mcp-client-gone]', () => {
  test.each<[what: string, method: 'modern' | 'legacy' | 'session']>([
    ['a modern client', 'modern'],
    ['an older client without a session', 'legacy'],
    ['an older client in a session', 'session'],
  ])('%s: the handler is aborted', async (_what, kind) => {
    const marker = join(makeFolder(), 'wait')
    const controller = new AbortController()
    const params = { name: 'wait', arguments: { marker } }
    const session = kind === 'session' ? await openSession(server.url) : undefined
    const call =
      kind === 'modern'
        ? askModern(server.url, 'tools/call', params, { signal: controller.signal })
        : askLegacy(server.url, 'tools/call', params, session, { signal: controller.signal })
    call.catch(() => undefined)
    await until(() => existsSync(`${marker}.started`))
    controller.abort()
    await until(() => existsSync(`${marker}.aborted`))
  })

  test('a stream that is left is noticed too', async () => {
    const controller = new AbortController()
    let heard = ''
    const call = askModern(
      server.url,
      'tools/call',
      { name: 'count', arguments: { to: 100_000 } },
      {
        signal: controller.signal,
        onText: (text) => {
          heard = text
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: modern({ name: 'count', arguments: { to: 100_000 } }, {}, { progressToken: 1 }),
        }),
      },
    )
    call.catch(() => undefined)
    await until(() => readEvents(heard).length > 2)
    controller.abort()
    expect((await askModern(server.url, 'tools/call', add)).status).toBe(200)
  })
})

describe('one question in several requests [5.mcp-rounds]', () => {
  const capabilities = { elicitation: {} }
  const order = { name: 'order', arguments: {} }
  const size = { size: { action: 'accept', content: { answer: 'large' } } }

  async function begin(): Promise<string> {
    const { message } = await askModern(server.url, 'tools/call', order, { capabilities })
    expect(message.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { size: { method: 'elicitation/create' } },
      requestState: expect.any(String),
    })
    return message.result.requestState as string
  }
  const go = (params: { readonly [name: string]: unknown }) =>
    askModern(server.url, 'tools/call', { ...order, ...params }, { capabilities })

  test('the call goes on where it was, round by round', async () => {
    const second = await go({ requestState: await begin(), inputResponses: size })
    expect(Object.keys(second.message.result.inputRequests)).toEqual(['address'])
    const third = await go({
      requestState: second.message.result.requestState,
      inputResponses: { address: { action: 'accept', content: { street: 'Elm', floor: 1 } } },
    })
    const end = await go({
      requestState: third.message.result.requestState,
      inputResponses: { sure: { action: 'accept', content: { answer: true } } },
    })
    expect(end.message.result.structuredContent).toEqual({
      size: 'large',
      street: 'Elm',
      floor: 1,
      sure: true,
    })
  })

  test('answers that are missing are asked for again', async () => {
    const again = await go({
      requestState: await begin(),
      inputResponses: { other: { action: 'accept', content: {} } },
    })
    expect(Object.keys(again.message.result.inputRequests)).toEqual(['size'])
  })

  test('an answer that does not fit is asked for again, with the reason', async () => {
    const again = await go({
      requestState: await begin(),
      inputResponses: { size: { action: 'accept', content: { answer: 'huge' } } },
    })
    expect(again.message.result.resultType).toBe('input_required')
    expect(JSON.stringify(again.message.result.inputRequests)).toMatch(/last answer/)
  })

  test.each<[what: string, change: (state: string) => { readonly [name: string]: unknown }]>([
    ['changed at its end', (state) => ({ requestState: `${state}x` })],
    [
      'changed in the middle',
      (state) => ({
        requestState: state.replace(/[a-z]/, (letter) => (letter === 'a' ? 'b' : 'a')),
      }),
    ],
    ['without its signature', (state) => ({ requestState: state.split('.')[0] })],
    ['of another call', (state) => ({ requestState: state, name: 'places' })],
    ['with other arguments', (state) => ({ requestState: state, arguments: { other: 1 } })],
    ['that is no text', () => ({ requestState: { call: 1 } })],
  ])('a state %s is refused', async (_what, change) => {
    const answer = await go({ inputResponses: size, ...change(await begin()) })
    expect(answer.message.error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/requestState/),
    })
  })

  test('a state that was used is good for nothing', async () => {
    const state = await begin()
    await go({ requestState: state, inputResponses: size })
    expect((await go({ requestState: state, inputResponses: size })).message.error).toMatchObject({
      code: -32602,
    })
  })
})

describe('older clients over HTTP [5.mcp-both-eras]', () => {
  test('a session begins, is used and ends', async () => {
    const session = await openSession(server.url)
    expect(session).toMatch(/^[\x21-\x7e]+$/)
    expect(
      (await askLegacy(server.url, 'tools/call', add, session)).message.result.structuredContent,
    ).toEqual({ sum: 3 })
    expect(
      (await askLegacy(server.url, '', {}, session, { method: 'DELETE', body: '' })).status,
    ).toBeLessThan(300)
    expect((await askLegacy(server.url, 'tools/call', add, session)).status).toBe(404)
  })

  test('a call is served without a session as far as that goes', async () => {
    expect(
      (await askLegacy(server.url, 'tools/call', add)).message.result.structuredContent,
    ).toEqual({ sum: 3 })
    const asked = await askLegacy(server.url, 'tools/call', { name: 'order', arguments: {} })
    expect(asked.message.result.isError).toBe(true)
  })

  test('a stream that was lost goes on with the id of its last event', async () => {
    const session = await openSession(server.url)
    const controller = new AbortController()
    let heard = ''
    const call = askLegacy(
      server.url,
      'tools/call',
      { name: 'count', arguments: { to: 20 }, _meta: { progressToken: 1 } },
      session,
      {
        id: 'long',
        signal: controller.signal,
        onText: (text) => {
          heard = text
        },
      },
    )
    call.catch(() => undefined)
    await until(() => readEvents(heard).length >= 3)
    controller.abort()
    expect(heard).toMatch(/^id: \S+\nretry: \d+\ndata:/)
    const lastId = [...heard.matchAll(/^id: (\S+)\n(?=event|retry)/gm)].at(-1)?.[1] ?? ''
    const before = readEvents(heard)
    const rest = await askLegacy(server.url, '', {}, session, {
      method: 'GET',
      headers: { accept: 'text/event-stream', 'last-event-id': lastId },
      body: '',
    })
    expect(rest.message).toMatchObject({
      id: 'long',
      result: { structuredContent: { counted: 20 } },
    })
    const told = [...before, ...rest.messages]
      .filter(({ method }) => method === 'notifications/message')
      .map(({ params }) => params.data)
    expect(new Set(told).size).toBe(20)
  })

  test('a call is cancelled by another request', async () => {
    const marker = join(makeFolder(), 'wait')
    const session = await openSession(server.url)
    const call = askLegacy(
      server.url,
      'tools/call',
      { name: 'wait', arguments: { marker } },
      session,
      { id: 'w' },
    )
    call.catch(() => undefined)
    await until(() => existsSync(`${marker}.started`))
    expect(
      (
        await askLegacy(server.url, '', {}, session, {
          body: '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}',
        })
      ).status,
    ).toBe(202)
    await until(() => existsSync(`${marker}.aborted`))
  })

  test('sessions do not hear each other: ids, log levels and questions are their own', async () => {
    const [one, two] = await Promise.all([openSession(server.url), openSession(server.url)])
    await askLegacy(server.url, 'logging/setLevel', { level: 'emergency' }, one)
    const [quiet, loud] = await Promise.all(
      [one, two].map((session) =>
        askLegacy(server.url, 'tools/call', { name: 'count', arguments: { to: 2 } }, session, {
          id: 'same',
        }),
      ),
    )
    expect(quiet?.messages.some(({ method }) => method === 'notifications/message')).toBe(false)
    expect(loud?.messages.filter(({ method }) => method === 'notifications/message')).toHaveLength(
      2,
    )
    expect([quiet, loud].map((answer) => answer?.message.result.structuredContent)).toEqual([
      { counted: 2 },
      { counted: 2 },
    ])
  })
})

test('a server that is told to stop answers what it has begun, refuses new clients and exits 0 [5.mcp-drain]', async () => {
  const own = await serveHttp('workshop.mjs')
  const counting = askModern(own.url, 'tools/call', { name: 'count', arguments: { to: 10 } })
  await askModern(own.url, 'tools/call', add)
  own.program.kill('SIGTERM')
  expect(
    (await counting).message.result?.structuredContent ?? (await counting).message.result,
  ).toBeDefined()
  expect((await own.program.ended).status).toBe(0)
  await expect(askModern(own.url, 'tools/call', add)).rejects.toThrow()
})

// Writes a request with a huge body straight to a socket; gives the status and how much was taken
// before it came.
function pour(
  port: number,
  bytes: number,
): Promise<{ readonly status: number; readonly sent: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const chunk = Buffer.alloc(256 * 1024, 'x')
    let sent = 0
    let answer = ''
    const more = (): void => {
      while (sent < bytes && !socket.destroyed) {
        sent += chunk.length
        if (!socket.write(chunk)) return void socket.once('drain', more)
      }
    }
    socket.on('connect', () => {
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nTransfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n`,
      )
      more()
    })
    socket.on('data', (data) => {
      answer += data.toString('latin1')
      const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]
      if (status === undefined) return
      resolve({ status: Number(status), sent })
      socket.destroy()
    })
    socket.on('error', reject)
  })
}
