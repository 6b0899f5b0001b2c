import { connect } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { startDashboard } from '../../dashboard/support/dashboard.ts'
import type { Dashboard } from '../../dashboard/support/dashboard.ts'
import { sendRaw } from '../../http/support/raw.ts'
import type { RawAnswer } from '../../http/support/raw.ts'
import { SAFE, ask } from './support/ask.ts'
import type { Headers } from './support/ask.ts'
import { makeProject } from './support/project.ts'

const built = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url))
const RUN = 'r-0123456789'
const MEBIBYTE = 1024 * 1024

let dashboard: Dashboard
const folder = makeProject()
beforeAll(async () => {
  dashboard = await startDashboard(folder)
})

async function request(
  method: string,
  path: string,
  headers: Headers = {},
  body = '',
): Promise<RawAnswer> {
  const answer = await ask(
    dashboard.port,
    method,
    path,
    { authorization: `Bearer ${dashboard.token}`, ...headers },
    body,
  )
  expect(answer.headers).toMatchObject(SAFE)
  return answer
}

async function refusal(
  method: string,
  path: string,
  body?: unknown,
  headers: Headers = {},
): Promise<{
  readonly status: number
  readonly code: string
  readonly message: string
  readonly field?: string
  readonly allow?: string
}> {
  const answer = await request(
    method,
    path,
    headers,
    body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
  )
  const { ok, error } = JSON.parse(answer.body) as {
    readonly ok: boolean
    readonly error: { readonly code: string; readonly message: string; readonly field?: string }
  }
  expect([ok, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
    false,
    'application/json',
    'no-store',
  ])
  return {
    status: answer.status,
    code: error.code,
    message: error.message,
    ...(error.field !== undefined && { field: error.field }),
    ...(answer.headers['allow'] !== undefined && { allow: answer.headers['allow'] }),
  }
}

describe('what can be asked for [10.ui-routes] [10.ui-headers]', () => {
  test.each([
    '/api',
    '/api/',
    '/api/nothing',
    '/api/runs/',
    '/api/runs//events',
    `/api/runs/${RUN}/nothing`,
    '/api/tools/a/b',
    '/api/about/',
    '/api/%61bout',
    '/api/../api/about',
    '/api/./about',
  ])('nothing is at %s', async (path) => {
    expect(await refusal('GET', path)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  })

  test.each([
    ['POST', '/api/about', 'GET, HEAD'],
    ['DELETE', `/api/runs/${RUN}`, 'GET, HEAD'],
    ['PUT', '/api/runs', 'GET, HEAD, POST'],
    ['GET', `/api/runs/${RUN}/cancel`, 'POST'],
    ['PATCH', '/api/stream', 'GET, HEAD'],
    ['GET', `/api/runs/${RUN}/artifacts/0/verify`, 'POST'],
    ['OPTIONS', '/api/runs', 'GET, HEAD, POST'],
    ['DELETE', '/', 'GET, HEAD'],
    ['POST', '/assets/icon.svg', 'GET, HEAD'],
  ])('%s %s is refused, and says what is not', async (method, path, allow) => {
    expect(await refusal(method, path, method === 'POST' ? {} : undefined)).toMatchObject({
      status: 405,
      allow,
    })
  })

  test.each([
    'latest',
    'r-1',
    'r-01234567890',
    'R-0123456789',
    'r-0123456789%00',
    '..',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%5c..',
    '%ff',
    '%',
    'r-0123456789%2f..',
  ])("'%s' is no id of a run, wherever one may stand", async (id) => {
    for (const path of [
      `/api/runs/${id}`,
      `/api/runs/${id}/events`,
      `/api/runs/${id}/log`,
      `/api/runs/${id}/artifacts/0`,
    ])
      expect((await refusal('GET', path)).status).toBe(400)
    expect((await refusal('POST', `/api/runs/${id}/cancel`, {})).status).toBe(400)
    expect((await refusal('GET', `/api/stream?run=${id}`)).status).toBe(400)
  })

  test.each(['-1', '1.5', 'x', '0x1', '99999999999', '%00', '1%2f2'])(
    "'%s' is no place of an artifact",
    async (index) => {
      expect(await refusal('GET', `/api/runs/${RUN}/artifacts/${index}`)).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
      })
    },
  )

  test.each(['%2e%2e', 'a%2fb', 'a%5cb', 'a%00b', '%0a', 'x'.repeat(400)])(
    "'%s' is no name of a tool or a workflow",
    async (name) => {
      for (const path of ['/api/tools', '/api/workflows'])
        expect(await refusal('GET', `${path}/${name}`)).toMatchObject({
          status: 400,
          code: 'INVALID_INPUT',
        })
    },
  )

  test('what is well formed and not there is NOT_FOUND', async () => {
    for (const path of [
      `/api/runs/${RUN}`,
      `/api/runs/${RUN}/events`,
      `/api/runs/${RUN}/log`,
      `/api/runs/${RUN}/artifacts/0`,
      '/api/tools/tools.nobody',
      '/api/workflows/nobody',
    ])
      expect([path, await refusal('GET', path)]).toEqual([
        path,
        expect.objectContaining({ status: 404, code: 'NOT_FOUND' }),
      ])
    for (const path of [
      `/api/runs/${RUN}/cancel`,
      `/api/runs/${RUN}/resume`,
      `/api/runs/${RUN}/retry`,
      `/api/runs/${RUN}/artifacts/0/verify`,
    ])
      expect([path, await refusal('POST', path, {})]).toEqual([
        path,
        expect.objectContaining({ status: 404, code: 'NOT_FOUND' }),
      ])
  })

  test.each([
    'about',
    'runs',
    'decisions',
    'plans',
    'tools',
    'workflows',
    'doctor',
    'tools/tools.greets',
  ])('/api/%s is a JSON document that nobody keeps', async (path) => {
    const { status, headers, body } = await request('GET', `/api/${path}`)
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'application/json',
      'no-store',
    ])
    expect(JSON.parse(body)).toBeTypeOf('object')
    expect(await request('HEAD', `/api/${path}`)).toMatchObject({ status: 200, body: '' })
  })
})

describe('bodies [10.ui-routes]', () => {
  test.each([
    ['no JSON', '{', 'the body is not JSON'],
    ['nothing', ' ', 'the body is empty'],
    ['a list', [], 'the body must be a JSON object'],
    ['null', 'null', 'the body must be a JSON object'],
    ['no tool', { input: {} }, "'body' needs 'tool'"],
    ['no input', { tool: 'greets' }, "'body' needs 'input'"],
    ['a number for a tool', { tool: 1, input: {} }, "'body.tool' must be a text"],
    ['an input that is no object', { tool: 'greets', input: [] }, "'body.input' must be an object"],
    [
      'a field that is misspelt',
      { tool: 'greets', input: {}, dryrun: true },
      "did you mean 'dry_run'?",
    ],
    [
      'a field of nobody',
      { tool: 'greets', input: {}, environment: {} },
      "unknown key 'environment'",
    ],
    [
      'a text for a switch',
      { tool: 'greets', input: {}, confirm: 'yes' },
      "'body.confirm' must be true or false",
    ],
    [
      'a prototype',
      '{"tool":"greets","input":{},"__proto__":{"confirm":true}}',
      "unknown key '__proto__'",
    ],
  ])('%s is refused in words', async (_what, body, message) => {
    const refused = await refusal('POST', '/api/runs', body)
    expect(refused).toMatchObject({ status: 400, code: 'INVALID_INPUT' })
    expect(refused.message).toContain(message)
  })

  test.each([
    ['cancel', { reason: 1 }],
    ['cancel', { why: 'x' }],
    ['resume', { now: true }],
    ['retry', { input: 'x' }],
    ['answer', { question: 'q' }],
    ['answer', { value: 1 }],
    ['artifacts/0/verify', { deep: true }],
  ])('%s checks its fields before it acts', async (action, body) => {
    expect(await refusal('POST', `/api/runs/${RUN}/${action}`, body)).toMatchObject({
      status: 400,
      code: 'INVALID_INPUT',
    })
  })

  test.each([{}, { days: 0 }, { days: '7' }, { days: 7, all: true }])(
    'doctor/clean refuses %j',
    async (body) => {
      expect(await refusal('POST', '/api/doctor/clean', body)).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
      })
    },
  )

  test('a body of more than a mebibyte is refused, announced or not', async () => {
    const huge = JSON.stringify({ tool: 'greets', input: { name: 'x'.repeat(MEBIBYTE) } })
    expect(await refusal('POST', '/api/runs', huge)).toMatchObject({ status: 413 })
    const head = `POST /api/runs HTTP/1.1\r\nhost: 127.0.0.1:${dashboard.port}\r\nauthorization: Bearer ${dashboard.token}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`
    const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`
    const { status, headers } = await sendRaw(dashboard.port, [
      head,
      ...Array.from({ length: 20 }, () => chunk),
      '0\r\n\r\n',
    ])
    expect([status, headers]).toEqual([413, expect.objectContaining(SAFE)])
  })

  test('bytes that are no UTF-8 are refused', async () => {
    const head = `POST /api/runs HTTP/1.1\r\nhost: 127.0.0.1:${dashboard.port}\r\nauthorization: Bearer ${dashboard.token}\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n`
    expect((await sendRaw(dashboard.port, [head, Uint8Array.from([0xff, 0xfe])])).status).toBe(400)
  })
})

describe('files of the page [10.ui-files]', () => {
  test('the page is never kept, its files are kept for ever by their names, and both come small', async () => {
    const page = await request('GET', '/runs')
    expect([page.status, page.headers['cache-control'], page.headers['content-type']]).toEqual([
      200,
      'no-store',
      'text/html; charset=utf-8',
    ])
    expect(page.body).toBe(readFileSync(`${built}index.html`, 'latin1'))
    for (const name of readdirSync(`${built}assets`)) {
      const path = `/assets/${name}`
      const plain = await request('GET', path)
      expect([plain.status, plain.headers['cache-control']]).toEqual([
        200,
        /-[\w-]{8}\./.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
      ])
      expect(plain.body).toBe(readFileSync(`${built}assets/${name}`, 'latin1'))
      const small = await request('GET', path, { 'accept-encoding': 'br;q=1, gzip;q=0.5' })
      const shrinks =
        gzipSync(Buffer.from(plain.body, 'latin1'), { level: 9 }).length < plain.body.length
      expect([small.headers['content-encoding'], small.headers['vary']]).toEqual([
        shrinks ? 'gzip' : undefined,
        'accept-encoding',
      ])
      expect(
        shrinks ? gunzipSync(Buffer.from(small.body, 'latin1')).toString('latin1') : small.body,
      ).toBe(plain.body)
      expect(
        (await request('GET', path, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'],
      ).toBeUndefined()
      for (const {
        headers: { etag },
      } of [plain, small]) {
        const again = await request('GET', path, {
          'if-none-match': `"x", W/${etag}`,
          ...(etag!.includes('gzip') && { 'accept-encoding': 'gzip' }),
        })
        expect([again.status, again.body]).toEqual([304, ''])
      }
    }
  })

  test.each([
    '/assets/',
    '/assets/../index.html',
    '/assets/../../bin.js',
    '/assets/%2e%2e/%2e%2e/bin.js',
    '/assets/..%2f..%2fbin.js',
    '/assets/..%5c..%5cbin.js',
    '/assets/icon.svg%00.js',
    '/assets/nothing.js',
    '/assets//etc/passwd',
    '/favicon.ico',
    '/bin.js',
    '/package.json',
    '/.ui-token',
  ])('%s is nothing', async (path) => {
    expect(await refusal('GET', path)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  })

  test.each([
    '/../../../../etc/passwd',
    '/runs/../../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/.runs/.ui-token',
    '//etc/passwd',
    '/runs/..%2f..%2f.runs%2f.ui-token',
    '/index.html',
    '/API/about',
  ])('%s is at most the page', async (path) => {
    const { status, body } = await request('GET', path)
    expect([status, body]).toEqual([200, readFileSync(`${built}index.html`, 'latin1')])
  })
})

describe('what is hardly HTTP [10.ui-headers]', () => {
  test.each([
    ['garbage', 'hello\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, 431],
    [
      'two lengths',
      'POST /api/runs HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
      400,
    ],
    [
      'length and chunks',
      'POST /api/runs HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ])('%s is refused', async (_what, text, status) => {
    const answer = await sendRaw(dashboard.port, [text])
    expect([answer.status, answer.headers]).toEqual([status, expect.objectContaining(SAFE)])
  })

  test('a request without a Host is refused', async () => {
    expect((await sendRaw(dashboard.port, ['GET / HTTP/1.1\r\n\r\n'])).status).toBe(400)
  })

  test('whoever sends too slowly is cut off, and others are answered meanwhile', async () => {
    const slow = [
      'GET /api/about HTTP/1.1\r\nhost:',
      `POST /api/runs HTTP/1.1\r\nhost: 127.0.0.1:${dashboard.port}\r\nauthorization: Bearer ${dashboard.token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
    ]
    const cut = slow.map(
      (text) =>
        new Promise<string>((resolve) => {
          let received = ''
          const socket = connect(dashboard.port, '127.0.0.1', () => {
            socket.write(text)
            const drip = setInterval(() => socket.write('x'), 500)
            socket.on('close', () => {
              clearInterval(drip)
              resolve(received)
            })
          })
          socket.on('data', (chunk) => (received += chunk.toString()))
          socket.on('error', () => undefined)
        }),
    )
    expect((await request('GET', '/api/about')).status).toBe(200)
    for (const received of await Promise.all(cut)) expect(received).toMatch(/^HTTP\/1\.1 408 /)
  })
})
