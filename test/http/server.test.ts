import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import type { HttpApp } from '../../src/http/exchange.ts'
import { listenHttp } from '../../src/http/node-server.ts'
import type { HttpServerHandle, ListenOptions } from '../../src/http/node-server.ts'
import { requestText, sendRaw } from './support/raw.ts'

const LIMIT = 1_000_000
const HUGE = 100 * 1024 * 1024
const servers: HttpServerHandle[] = []
afterAll(() => Promise.all(servers.map((server) => server.close())))

const echo: HttpApp = async (request) => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body:
    request.method === 'POST'
      ? await request.text(LIMIT)
      : `${request.method} ${request.path} ${request.search}`,
})

async function start(
  app: HttpApp = echo,
  options: Partial<ListenOptions> = {},
): Promise<HttpServerHandle> {
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0, grace: 200, ...options })
  servers.push(server)
  return server
}

function* body(bytes: number, head: string, chunked: boolean): Generator<string | Uint8Array> {
  yield head
  const chunk = Buffer.alloc(65_536, 'x')
  for (let sent = 0; sent < bytes; sent += chunk.length) {
    if (chunked) yield '10000\r\n'
    yield chunk
    if (chunked) yield '\r\n'
  }
  if (chunked) yield '0\r\n\r\n'
}

describe('[10.http-body-limit] a body of 100 MB', () => {
  test.each([
    ['with its length declared', false, { 'content-length': HUGE }],
    ['in chunks', true, { 'transfer-encoding': 'chunked' }],
  ] as [string, boolean, { [name: string]: string | number }][])(
    '%s is refused, a client that sends all before it reads sees why',
    async (_how, chunked, headers) => {
      const server = await start()
      const answer = await sendRaw(
        server.port,
        body(HUGE, requestText('POST', '/', headers), chunked),
      )
      expect([answer.status, answer.headers['connection'], JSON.parse(answer.body)]).toMatchObject([
        413,
        'close',
        { ok: false, error: { message: `the body is longer than ${LIMIT} bytes` } },
      ])
      expect(answer.sent).toBeGreaterThan(HUGE)
    },
  )

  test('is not even sent by a client that asks first', async () => {
    const server = await start()
    const answer = await sendRaw(
      server.port,
      [requestText('POST', '/', { expect: '100-continue', 'content-length': HUGE })],
      (socket) => socket.end(),
    )
    expect(answer.status).toBe(413)
    expect(answer.text).not.toContain('100 Continue')
  })

  test('a client that asks first and may, is told to go on', async () => {
    const server = await start()
    const answer = await sendRaw(
      server.port,
      [
        requestText('POST', '/', {
          expect: '100-continue',
          'content-length': 2,
          connection: 'close',
        }),
      ],
      (socket, received) => {
        socket.on('data', () => {
          if (received().endsWith('Continue\r\n\r\n')) socket.write('ok')
        })
      },
    )
    expect(answer.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*ok$/)
  })

  test('that nobody wants to read is refused the same way', async () => {
    const server = await start(async () => ({ status: 401, headers: {}, body: 'no' }))
    const answer = await sendRaw(
      server.port,
      body(HUGE, requestText('POST', '/', { 'content-length': HUGE }), false),
    )
    expect([answer.status, answer.body]).toEqual([401, 'no'])
  })
})

describe('requests that are no good', () => {
  test.each([
    ['garbage', 'hello there\r\n\r\n', 400],
    [
      'bytes of another protocol',
      Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
      400,
    ],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      400,
    ],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n', 400],
    ['endless headers', `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'y'.repeat(100_000)}\r\n\r\n`, 431],
  ])('%s', async (_what, text, status) => {
    const server = await start()
    const answer = await sendRaw(server.port, [text])
    expect([answer.status, answer.headers['connection']]).toEqual([status, 'close'])
    expect(await (await fetch(server.url)).text()).toBe('GET / ')
  })

  test('a body that is cut off ends nothing but itself', async () => {
    let problem = ''
    const server = await start(async (request) => {
      try {
        return { status: 200, headers: {}, body: await request.text(LIMIT) }
      } catch (error) {
        problem = (error as Error).message
        throw error
      }
    })
    await sendRaw(
      server.port,
      [requestText('POST', '/', { 'content-length': 10 }), 'abc'],
      (socket) => setTimeout(() => socket.destroy(), 20),
    )
    await expect.poll(() => problem).toBe('the body was cut off')
    expect((await fetch(server.url, { method: 'POST', body: 'fine' })).status).toBe(200)
  })

  test('HTTP/1.0 is answered, without chunks', async () => {
    const server = await start(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield 'a'
        yield 'b'
      })(),
    }))
    const answer = await sendRaw(server.port, [requestText('GET', '/', {}, '', '1.0')])
    expect([answer.status, answer.body, answer.headers['transfer-encoding']]).toEqual([
      200,
      'ab',
      undefined,
    ])
  })

  test('requests on top of each other are answered in order', async () => {
    const server = await start(async (request) => {
      // The later ones are ready first.
      if (request.path === '/1') await delay(50)
      return {
        status: 200,
        headers: {},
        body: request.method === 'POST' ? `<${await request.text(LIMIT)}>` : `<${request.path}>`,
      }
    })
    const texts = [
      requestText('GET', '/1'),
      requestText('POST', '/', {}, '"two"'),
      ...Array.from({ length: 20 }, (_, index) => requestText('GET', `/${index + 3}`)),
      requestText('GET', '/last', { connection: 'close' }),
    ]
    const answer = await sendRaw(server.port, [texts.join('')])
    expect([...answer.text.matchAll(/<(.*?)>/g)].map(([, path]) => path)).toEqual([
      '/1',
      '"two"',
      ...Array.from({ length: 20 }, (_, index) => `/${index + 3}`),
      '/last',
    ])
  })

  test('a target that is a whole address has its path', async () => {
    const server = await start()
    for (const [target, path] of [
      ['http://localhost/a?b=c', 'GET /a b=c'],
      ['http://localhost', 'GET / '],
    ] as const) {
      expect(
        (await sendRaw(server.port, [requestText('GET', target, { connection: 'close' })])).body,
      ).toBe(path)
    }
    expect(
      (await sendRaw(server.port, [requestText('OPTIONS', '*', { connection: 'close' })])).body,
    ).toBe('OPTIONS / ')
  })
})

describe('[10.http-slow-sender] a slow sender', () => {
  test.each([
    ['that never ends its headers', ['GET / HTTP/1.1\r\nhost: x\r\n']],
    ['that never ends its body', [requestText('POST', '/', { 'content-length': 100 }), 'a']],
  ])('%s is cut off', async (_what, parts) => {
    const server = await start(echo, { requestTimeout: 300 })
    const drips: NodeJS.Timeout[] = []
    const answer = await sendRaw(server.port, parts, (socket) => {
      const drip = setInterval(() => socket.write('a'), 50)
      drips.push(drip)
      socket.on('close', () => clearInterval(drip)).on('error', () => clearInterval(drip))
    }).catch((error: NodeJS.ErrnoException) => error)
    for (const drip of drips) clearInterval(drip)
    // A reset may overtake the answer when bytes cross it.
    if (!(answer instanceof Error)) expect(answer.status).toBe(408)
    expect(await (await fetch(server.url)).text()).toBe('GET / ')
  })
})

describe('[10.http-client-gone] a client that goes away', () => {
  test('aborts the signal of its request, also behind another one on the same connection', async () => {
    const aborted: string[] = []
    const arrived: string[] = []
    const server = await start(
      (request) =>
        new Promise(() => {
          arrived.push(request.path)
          request.signal.addEventListener('abort', () => aborted.push(request.path))
        }),
    )
    const socket = connect(server.port, '127.0.0.1')
    socket.write(requestText('GET', '/first') + requestText('GET', '/second'))
    await expect.poll(() => arrived).toEqual(['/first', '/second'])
    expect(aborted).toEqual([])
    socket.destroy()
    await expect.poll(() => aborted).toEqual(['/first', '/second'])
  })

  test('ends the stream that was sent to it, also one that nobody reads', async () => {
    let left = 0
    let made = 0
    const server = await start(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        try {
          for (;;) {
            made++
            yield 'x'.repeat(100_000)
          }
        } finally {
          left++
        }
      })(),
    }))
    const socket = connect(server.port, '127.0.0.1')
    socket.write(requestText('GET', '/'))
    socket.once('data', () => socket.pause())
    // What fits into the buffers between the two is made, and not more.
    await expect
      .poll(async () => {
        const waiting = made
        await delay(100)
        return waiting > 0 && made === waiting
      })
      .toBe(true)
    socket.destroy()
    await expect.poll(() => left).toBe(1)
  })
})

describe('an app that fails', () => {
  test.each([
    ['rejects', () => Promise.reject(new Error('secret'))],
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
  ] as [string, HttpApp][])('and %s is an INTERNAL without its reason', async (_how, app) => {
    const answer = await fetch((await start(app)).url)
    const text = await answer.text()
    expect([answer.status, JSON.parse(text)]).toEqual([
      500,
      expect.objectContaining({ error: expect.objectContaining({ code: 'INTERNAL' }) }),
    ])
    expect(text).not.toContain('secret')
  })

  test('in the middle of a stream breaks it off', async () => {
    const server = await start(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield 'a'
        throw new Error('secret')
      })(),
    }))
    await expect(fetch(server.url).then((answer) => answer.text())).rejects.toThrow()
  })

  test('by an answer that cannot be sent closes the connection', async () => {
    const server = await start(async () => ({
      status: 200,
      headers: { bad: 'a\r\nb: c' },
      body: '',
    }))
    await expect(fetch(server.url)).rejects.toThrow()
  })
})

describe('[10.http-graceful-stop] a server that stops', () => {
  test('closes idle and silent connections at once, lets a request end, and takes no new ones', async () => {
    let release: (() => void) | undefined
    const server = await start(
      (request) =>
        request.path === '/wait'
          ? new Promise((resolve) => {
              release = () => resolve({ status: 200, headers: {}, body: 'done' })
            })
          : echo(request),
      { grace: 20_000 },
    )
    const silent = connect(server.port, '127.0.0.1').on('error', () => undefined)
    const closed = new Promise((resolve) => silent.once('close', resolve))
    await (await fetch(server.url)).text()
    const running = fetch(`${server.url}/wait`)
    await expect.poll(() => release).toBeDefined()
    const stopped = server.close()
    await closed
    await expect(fetch(server.url)).rejects.toThrow()
    release!()
    expect(await (await running).text()).toBe('done')
    await stopped
    expect(await server.close()).toBeUndefined()
  })

  test('cuts requests that do not end, and aborts their signals', async () => {
    let aborted: boolean | undefined
    const server = await start(
      (request) =>
        new Promise(() => {
          aborted = false
          request.signal.addEventListener('abort', () => {
            aborted = true
          })
        }),
      { grace: 50 },
    )
    const running = fetch(server.url).catch(() => 'cut')
    await expect.poll(() => aborted).toBe(false)
    await server.close()
    expect([await running, aborted]).toEqual(['cut', true])
  })

  test('by its signal, before and after it listens', async () => {
    const controller = new AbortController()
    const server = await start(echo, { signal: controller.signal })
    controller.abort()
    await server.closed
    await (
      await start(echo, { signal: controller.signal })
    ).closed
  })
})

describe('[10.http-port-taken] an address that cannot be had', () => {
  test('is CONFIG with a free port to paste', async () => {
    const { port } = await start()
    const error = (await listenHttp(echo, { host: '127.0.0.1', port }).catch(
      (thrown: unknown) =>
        thrown as { code: string; message: string; suggestion: { example: string } },
    )) as { code: string; message: string; suggestion: { example: string } }
    expect(error).toMatchObject({
      code: 'CONFIG',
      message: `cannot listen on 127.0.0.1:${port}: the port is taken by another program`,
    })
    const free = Number(/^--port (\d+)$/.exec(error.suggestion.example)?.[1])
    servers.push(await listenHttp(echo, { host: '127.0.0.1', port: free }))
  })

  test('is CONFIG that names the address', async () => {
    await expect(listenHttp(echo, { host: '203.0.113.7', port: 0 })).rejects.toMatchObject({
      code: 'CONFIG',
      field: 'host',
      message: expect.stringContaining('203.0.113.7 is not an address of this machine'),
    })
    await expect(listenHttp(echo, { host: 'no-such-host.invalid', port: 0 })).rejects.toMatchObject(
      { code: 'CONFIG', field: 'host' },
    )
  })
})
