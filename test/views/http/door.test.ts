import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { startDashboard } from '../../dashboard/support/dashboard.ts'
import type { Dashboard } from '../../dashboard/support/dashboard.ts'
import { sendRaw } from '../../http/support/raw.ts'
import { SAFE, ask, cookieFor } from './support/ask.ts'
import { makeProject } from './support/project.ts'

let dashboard: Dashboard
let cookie: string
let other: Dashboard
let otherCookie: string
const folder = makeProject()
beforeAll(async () => {
  ;[dashboard, other] = await Promise.all([startDashboard(folder), startDashboard(makeProject())])
  ;[cookie, otherCookie] = await Promise.all([
    cookieFor(dashboard.port, dashboard.token),
    cookieFor(other.port, other.token),
  ])
})

const GREET = JSON.stringify({ tool: 'greets', input: {} })

// In texts PORT, TOKEN and COOKIE stand for those of the server, OTHER for those of a dashboard of
// another project.
type Row = {
  readonly what: string
  readonly method?: string
  readonly path?: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string
  readonly status: number
}

const PAGES: readonly Row[] = [
  { what: 'the page with the cookie', headers: { cookie: 'COOKIE' }, status: 200 },
  {
    what: 'the page under the name localhost',
    headers: { host: 'localhost:PORT', cookie: 'COOKIE' },
    status: 200,
  },
  {
    what: 'the page under the name in capitals',
    headers: { host: 'LOCALHOST:PORT', cookie: 'COOKIE' },
    status: 200,
  },
  {
    what: 'the page with the cookie among others',
    headers: { cookie: 'a=b; COOKIE; c=d' },
    status: 200,
  },
  { what: 'the page of a program', headers: { authorization: 'Bearer TOKEN' }, status: 200 },
  {
    what: 'a screen of the page',
    path: '/tools/tools.greets',
    headers: { cookie: 'COOKIE' },
    status: 200,
  },
  {
    what: 'a page that was typed',
    headers: { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', cookie: 'COOKIE' },
    status: 200,
  },
  {
    what: 'a link from a page on another port',
    headers: { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', cookie: 'COOKIE' },
    status: 200,
  },
  { what: 'the printed address', path: '/?token=TOKEN', status: 303 },
  {
    what: 'the printed address with a screen',
    path: '/runs?state=failed&token=TOKEN',
    status: 303,
  },
  {
    what: 'an old address in a browser that is known',
    path: '/?token=old',
    headers: { cookie: 'COOKIE' },
    status: 303,
  },
  { what: 'no cookie', status: 401 },
  { what: 'a wrong cookie', headers: { cookie: 'toolable_PORT=wrong' }, status: 401 },
  { what: 'the token as cookie', headers: { cookie: 'toolable_PORT=TOKEN' }, status: 401 },
  { what: 'the cookie under another name', headers: { cookie: 'X-COOKIE' }, status: 401 },
  { what: 'the cookie of another dashboard', headers: { cookie: 'OTHER' }, status: 401 },
  { what: 'a wrong token', path: '/?token=wrong', status: 401 },
  { what: 'an empty token', path: '/?token=', status: 401 },
  { what: 'a wrong token and its right beginning', path: '/?token=TOKEN0', status: 401 },
  { what: 'the token by another method', method: 'HEAD', path: '/?token=TOKEN', status: 401 },
  { what: 'the token of a form', method: 'POST', path: '/?token=TOKEN', status: 401 },
  { what: 'an asset without cookie', path: '/assets/icon.svg', status: 401 },
  {
    what: 'a wrong bearer with the cookie',
    headers: { authorization: 'Bearer wrong', cookie: 'COOKIE' },
    status: 401,
  },
  { what: 'another scheme', headers: { authorization: 'Basic TOKEN' }, status: 401 },
  {
    what: 'a foreign name',
    headers: { host: 'rebound.example:PORT', cookie: 'COOKIE' },
    status: 403,
  },
  {
    what: 'a foreign name with the token',
    path: '/?token=TOKEN',
    headers: { host: 'rebound.example:PORT' },
    status: 403,
  },
  {
    what: 'a name without its port',
    headers: { host: '127.0.0.1', cookie: 'COOKIE' },
    status: 403,
  },
  { what: 'another port', headers: { host: '127.0.0.1:1', cookie: 'COOKIE' }, status: 403 },
  {
    what: 'another address of this machine',
    headers: { host: '127.0.0.2:PORT', cookie: 'COOKIE' },
    status: 403,
  },
  {
    what: 'the address of version 6',
    headers: { host: '[::1]:PORT', cookie: 'COOKIE' },
    status: 403,
  },
  {
    what: 'the name with a dot',
    headers: { host: 'localhost.:PORT', cookie: 'COOKIE' },
    status: 403,
  },
  {
    what: 'a name that only begins like ours',
    headers: { host: '127.0.0.1.rebound.example:PORT', cookie: 'COOKIE' },
    status: 403,
  },
  {
    what: 'a name that only ends like ours',
    headers: { host: 'evil@127.0.0.1:PORT', cookie: 'COOKIE' },
    status: 403,
  },
  { what: 'an empty name', headers: { host: '', cookie: 'COOKIE' }, status: 403 },
  {
    what: 'a link from another site',
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', cookie: 'COOKIE' },
    status: 403,
  },
  {
    what: 'a frame on another port',
    headers: { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', cookie: 'COOKIE' },
    status: 403,
  },
]

const READING: readonly Row[] = [
  {
    what: 'the page itself',
    headers: { cookie: 'COOKIE', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    status: 200,
  },
  {
    what: 'with the Origin of the page',
    headers: { cookie: 'COOKIE', origin: 'http://127.0.0.1:PORT' },
    status: 200,
  },
  {
    what: 'with the other name and its Origin',
    headers: { cookie: 'COOKIE', host: 'localhost:PORT', origin: 'http://localhost:PORT' },
    status: 200,
  },
  { what: 'a program', headers: { authorization: 'bearer TOKEN' }, status: 200 },
  { what: 'only the head', method: 'HEAD', headers: { cookie: 'COOKIE' }, status: 200 },
  { what: 'nobody', status: 401 },
  { what: 'the token in the address', path: '/api/about?token=TOKEN', status: 401 },
  { what: 'a wrong bearer', headers: { authorization: 'Bearer TOKENx' }, status: 401 },
  { what: 'the token without a scheme', headers: { authorization: 'TOKEN' }, status: 401 },
  {
    what: 'a page elsewhere',
    headers: { cookie: 'COOKIE', origin: 'https://elsewhere.example' },
    status: 403,
  },
  {
    what: 'a page on another port',
    headers: { cookie: 'COOKIE', origin: 'http://127.0.0.1:1' },
    status: 403,
  },
  {
    what: 'a page on another port that says no Origin',
    headers: { cookie: 'COOKIE', 'sec-fetch-site': 'same-site' },
    status: 403,
  },
  {
    what: 'a page on another port that pretends to navigate',
    headers: { cookie: 'COOKIE', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' },
    status: 403,
  },
  {
    what: 'our page over TLS',
    headers: { cookie: 'COOKIE', origin: 'https://127.0.0.1:PORT' },
    status: 403,
  },
  {
    what: 'our page under the other name',
    headers: { cookie: 'COOKIE', origin: 'http://localhost:PORT' },
    status: 403,
  },
  { what: 'a page of no origin', headers: { cookie: 'COOKIE', origin: 'null' }, status: 403 },
  {
    what: 'another site',
    headers: { cookie: 'COOKIE', 'sec-fetch-site': 'cross-site' },
    status: 403,
  },
  {
    what: 'a site that nobody knows',
    headers: { cookie: 'COOKIE', 'sec-fetch-site': 'nowhere' },
    status: 403,
  },
  {
    what: 'a bearer of another site',
    headers: { authorization: 'Bearer TOKEN', origin: 'https://elsewhere.example' },
    status: 403,
  },
  {
    what: 'a rebound name',
    headers: {
      cookie: 'COOKIE',
      host: 'rebound.example:PORT',
      origin: 'http://rebound.example:PORT',
      'sec-fetch-site': 'same-origin',
    },
    status: 403,
  },
  {
    what: 'a question before a request from elsewhere',
    method: 'OPTIONS',
    headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
    status: 403,
  },
]

const ACTING: readonly Row[] = [
  {
    what: 'the page itself',
    headers: { cookie: 'COOKIE', origin: 'http://127.0.0.1:PORT', 'sec-fetch-site': 'same-origin' },
    status: 200,
  },
  {
    what: 'a browser that says no site',
    headers: { cookie: 'COOKIE', origin: 'http://127.0.0.1:PORT' },
    status: 200,
  },
  {
    what: 'the page under the other name',
    headers: { cookie: 'COOKIE', host: 'localhost:PORT', origin: 'http://localhost:PORT' },
    status: 200,
  },
  { what: 'a program', headers: { authorization: 'Bearer TOKEN' }, status: 200 },
  {
    what: 'a program that says the charset',
    headers: { authorization: 'Bearer TOKEN', 'content-type': 'application/json; charset=utf-8' },
    status: 200,
  },
  { what: 'the cookie without an Origin', headers: { cookie: 'COOKIE' }, status: 403 },
  {
    what: 'the cookie without an Origin from the same site',
    headers: { cookie: 'COOKIE', 'sec-fetch-site': 'same-origin' },
    status: 403,
  },
  {
    what: 'a form elsewhere',
    headers: {
      cookie: 'COOKIE',
      origin: 'https://elsewhere.example',
      'content-type': 'text/plain',
    },
    status: 403,
  },
  {
    what: 'a page on another port',
    headers: { cookie: 'COOKIE', origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
    status: 403,
  },
  { what: 'a page of no origin', headers: { cookie: 'COOKIE', origin: 'null' }, status: 403 },
  {
    what: 'another site with a stolen Origin',
    headers: { cookie: 'COOKIE', origin: 'http://127.0.0.1:PORT', 'sec-fetch-site': 'cross-site' },
    status: 403,
  },
  {
    what: 'a rebound name',
    headers: {
      cookie: 'COOKIE',
      host: 'rebound.example:PORT',
      origin: 'http://rebound.example:PORT',
    },
    status: 403,
  },
  { what: 'nobody', headers: { origin: 'http://127.0.0.1:PORT' }, status: 401 },
  {
    what: 'the cookie of another dashboard',
    headers: { cookie: 'OTHER', origin: 'http://127.0.0.1:PORT' },
    status: 401,
  },
  {
    what: 'the token in the address',
    path: '/api/runs?token=TOKEN',
    headers: { origin: 'http://127.0.0.1:PORT' },
    status: 401,
  },
  {
    what: 'a form of ours',
    headers: { cookie: 'COOKIE', origin: 'http://127.0.0.1:PORT', 'content-type': 'text/plain' },
    status: 415,
  },
  {
    what: 'a form of ours by fields',
    headers: {
      cookie: 'COOKIE',
      origin: 'http://127.0.0.1:PORT',
      'content-type': 'application/x-www-form-urlencoded',
    },
    status: 415,
  },
  {
    what: 'the same by PUT',
    method: 'PUT',
    headers: { authorization: 'Bearer TOKEN' },
    status: 405,
  },
  {
    what: 'the same by DELETE',
    method: 'DELETE',
    headers: { authorization: 'Bearer TOKEN' },
    status: 405,
  },
]

function fill(text: string): string {
  return text
    .replaceAll('PORT', String(dashboard.port))
    .replaceAll('TOKEN', dashboard.token)
    .replaceAll('COOKIE', cookie)
    .replaceAll('OTHER', otherCookie)
}

async function statusOf({ method = 'GET', path = '/', headers = {}, body }: Row) {
  const answer = await ask(
    dashboard.port,
    method,
    fill(path),
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    body,
  )
  expect(answer.headers).toMatchObject(SAFE)
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual(
    [],
  )
  // Whoever is refused learns nothing of what is inside.
  if (answer.status >= 400)
    expect([
      answer.body.includes(folder),
      answer.body.includes(dashboard.token),
      answer.headers['set-cookie'],
    ]).toEqual([false, false, undefined])
  return answer.status
}

function listRuns(): number {
  return readdirSync(join(folder, '.runs')).filter((name) => name.startsWith('r-')).length
}

describe('the door of the dashboard [10.ui-door] [10.ui-headers]', () => {
  test.each(PAGES)('a page: $what gives $status', async (row) => {
    expect(await statusOf(row)).toBe(row.status)
  })

  test.each(READING)('reading: $what gives $status', async (row) => {
    expect(await statusOf({ path: '/api/about', ...row })).toBe(row.status)
  })

  test.each(ACTING)('starting a tool: $what gives $status, and starts it or not', async (row) => {
    const before = listRuns()
    expect(await statusOf({ method: 'POST', path: '/api/runs', body: GREET, ...row })).toBe(
      row.status,
    )
    expect(listRuns() - before).toBe(row.status === 200 ? 1 : 0)
  })

  test.each([
    [
      'two Hosts, ours first',
      'GET /api/about HTTP/1.1',
      ['Host: 127.0.0.1:PORT', 'Host: rebound.example'],
      403,
    ],
    [
      'two Hosts, ours last',
      'GET /api/about HTTP/1.1',
      ['Host: rebound.example', 'Host: 127.0.0.1:PORT'],
      403,
    ],
    [
      'a whole address of another server',
      'GET http://rebound.example/api/about HTTP/1.1',
      ['Host: 127.0.0.1:PORT'],
      403,
    ],
    [
      'a whole address of ours',
      'GET http://127.0.0.1:PORT/api/about HTTP/1.1',
      ['Host: 127.0.0.1:PORT'],
      200,
    ],
    [
      'two Origins, ours first',
      'GET /api/about HTTP/1.1',
      [
        'Host: 127.0.0.1:PORT',
        'Origin: http://127.0.0.1:PORT',
        'Origin: https://elsewhere.example',
      ],
      403,
    ],
    [
      'two lengths',
      'POST /api/runs HTTP/1.1',
      [
        'Host: 127.0.0.1:PORT',
        'Content-Type: application/json',
        'Content-Length: 2',
        'Content-Length: 3',
      ],
      400,
    ],
    [
      'a length and chunks',
      'POST /api/runs HTTP/1.1',
      [
        'Host: 127.0.0.1:PORT',
        'Content-Type: application/json',
        'Content-Length: 4',
        'Transfer-Encoding: chunked',
      ],
      400,
    ],
    [
      'a folded header',
      'GET /api/about HTTP/1.1',
      ['Host: 127.0.0.1:PORT', 'X-Folded: a', ' b'],
      400,
    ],
  ] as const)(
    'what says one thing to one reader and another to the next: %s',
    async (_what, line, headers, status) => {
      const answer = await sendRaw(dashboard.port, [
        fill(
          `${[line, ...headers, 'Authorization: Bearer TOKEN', 'Connection: close'].join('\r\n')}\r\n\r\n`,
        ),
      ])
      expect([answer.status, answer.headers]).toEqual([status, expect.objectContaining(SAFE)])
    },
  )

  test('what was started comes to its end', async () => {
    await expect
      .poll(async () => (await dashboard.get('/api/runs?state=completed')).matching as number)
      .toBe(ACTING.filter(({ status }) => status === 200).length)
  })
})

describe('the token [10.ui-token]', () => {
  test('becomes a cookie that no script reads and no other site sends, and leaves the address', async () => {
    const { status, headers, body } = await ask(
      dashboard.port,
      'GET',
      `/runs?state=failed&token=${dashboard.token}&text=a%20b`,
    )
    expect([status, headers['location'], body]).toEqual([
      303,
      `http://127.0.0.1:${dashboard.port}/runs?state=failed&text=a+b`,
      '',
    ])
    expect(headers['set-cookie']).toMatch(
      new RegExp(`^toolable_${dashboard.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`),
    )
    expect(headers['set-cookie']).not.toContain(dashboard.token)
    expect(headers['cache-control']).toBe('no-store')
  })

  test.each([
    '//elsewhere.example/',
    '/\\elsewhere.example/',
    '//elsewhere.example/%2f..',
    '/%0d%0aset-cookie:%20a=b',
  ])('leads nowhere else from %s', async (path) => {
    const { status, headers, text } = await ask(
      dashboard.port,
      'GET',
      `${path}?token=${dashboard.token}`,
    )
    expect(status).toBe(303)
    expect(new URL(headers['location']!).origin).toBe(dashboard.origin)
    expect(text.match(/set-cookie/gi)?.length).toBe(path.includes('set-cookie') ? 2 : 1)
  })

  test('tells people without it where it is, without a script, a style or a word about the project', async () => {
    const { status, headers, body } = await ask(dashboard.port, 'GET', '/runs', {
      accept: 'text/html',
    })
    expect([status, headers['content-type'], headers['www-authenticate']]).toEqual([
      401,
      'text/html; charset=utf-8',
      'Bearer',
    ])
    expect(body).toContain('toolable ui')
    expect(body).not.toMatch(/<script|<style|style=|src=|href=/)
  })

  test('tells programs without it in the form of every failure', async () => {
    const { status, body } = await ask(dashboard.port, 'GET', '/api/runs')
    expect([status, JSON.parse(body)]).toEqual([
      401,
      {
        ok: false,
        status: 'error',
        error: expect.objectContaining({
          code: 'PERMISSION',
          suggestion: expect.objectContaining({ example: 'Authorization: Bearer <token>' }),
        }),
        meta: { tool: 'dashboard', duration_ms: 0 },
      },
    ])
  })
})
