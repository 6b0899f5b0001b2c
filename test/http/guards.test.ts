import { describe, expect, test } from 'vitest'
import { createHandler } from 'toolable'
import { createServerGuards, isLoopback, withGuards } from '../../src/http/guards.ts'
import type { HttpApp, HttpRequest } from '../../src/http/exchange.ts'
import { loadSet, post } from './support/doors.ts'

const set = await loadSet()
const fine: HttpApp = async () => ({ status: 200, headers: {}, body: 'fine' })

function ask(headers: { readonly [name: string]: string }, method = 'POST'): HttpRequest {
  return {
    method,
    path: '/',
    search: '',
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    text: async () => '',
    signal: new AbortController().signal,
    onDisconnect: () => undefined,
  }
}

describe('[10.http-guards] a server on loopback', async () => {
  const app = withGuards(fine, await createServerGuards('127.0.0.1', {}))

  test.each([
    'localhost',
    'localhost:8080',
    'LOCALHOST:1',
    'localhost.',
    '127.0.0.1',
    '127.0.0.1:65535',
    '[::1]',
    '[::1]:8080',
  ])('answers to the Host %s', async (host) => {
    expect((await app(ask({ host }))).status).toBe(200)
  })

  test.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    'evil.example#localhost',
    '127.0.0.1:8080:evil',
    '0.0.0.0',
    '[::1].evil.example',
    '',
    ' ',
  ])("refuses the Host '%s'", async (host) => {
    const { status, body } = await app(ask({ host }))
    expect([status, JSON.parse(body as string)]).toEqual([
      403,
      expect.objectContaining({
        ok: false,
        error: expect.objectContaining({ code: 'PERMISSION' }),
      }),
    ])
  })

  test('refuses a request without Host', async () => {
    expect((await app(ask({}))).status).toBe(403)
  })

  test('does not take a bad Host because a good one came before', async () => {
    expect((await app(ask({ host: 'localhost' }))).status).toBe(200)
    expect((await app(ask({ host: 'evil.example' }))).status).toBe(403)
    expect((await app(ask({ host: 'evil.example' }))).status).toBe(403)
  })

  test.each([
    'http://localhost',
    'http://localhost:3000',
    'https://127.0.0.1:8443',
    'http://[::1]:5173',
    'http://LOCALHOST',
  ])('takes the Origin %s', async (origin) => {
    expect((await app(ask({ host: 'localhost', origin }))).status).toBe(200)
  })

  test.each([
    'http://evil.example',
    'null',
    '',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost@evil.example',
    'http://evil.example/localhost',
    'file://',
    'chrome-extension://abc',
    'http://localhost http://evil.example',
  ])("refuses the Origin '%s'", async (origin) => {
    expect((await app(ask({ host: 'localhost', origin }))).status).toBe(403)
  })

  test('answers to more names and origins where they are given', async () => {
    const wider = withGuards(
      fine,
      await createServerGuards('127.0.0.1', {
        allowedHosts: ['Tools.example', 'other.example:444'],
        allowedOrigins: ['https://app.example'],
      }),
    )
    for (const host of ['tools.example', 'tools.example:1', 'other.example:444', 'localhost'])
      expect((await wider(ask({ host }))).status).toBe(200)
    expect((await wider(ask({ host: 'other.example' }))).status).toBe(403)
    expect((await wider(ask({ host: 'localhost', origin: 'https://app.example' }))).status).toBe(
      200,
    )
    expect((await wider(ask({ host: 'localhost', origin: 'http://app.example' }))).status).toBe(403)
  })
})

describe('[10.http-token] a token', () => {
  test('is needed beyond loopback', async () => {
    for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.com'])
      await expect(createServerGuards(host, {})).rejects.toMatchObject({
        code: 'CONFIG',
        field: 'token-file',
        suggestion: { fix: expect.stringContaining('--token-file') },
      })
    for (const host of ['127.0.0.1', '127.3.2.1', '::1', 'localhost'])
      expect((await createServerGuards(host, {})).isToken).toBeUndefined()
  })

  test('is asked of every request; with it no name has to be known', async () => {
    const app = withGuards(fine, await createServerGuards('0.0.0.0', { token: 'a-long-secret' }))
    const asked = await app(ask({ host: 'anything.example' }))
    expect([asked.status, asked.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    for (const authorization of [
      'Bearer wrong',
      'Bearer a-long-secre',
      'Bearer a-long-secret2',
      'Basic a-long-secret',
      'a-long-secret',
      'Bearer',
      'Bearer ',
      '',
    ]) {
      const refused = await app(ask({ host: 'anything.example', authorization }))
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([
        401,
        'Bearer error="invalid_token"',
      ])
    }
    for (const authorization of [
      'Bearer a-long-secret',
      'bearer a-long-secret',
      'BEARER  a-long-secret ',
    ])
      expect((await app(ask({ host: 'anything.example', authorization }))).status).toBe(200)
  })

  test('of one letter less or more takes no other way', async () => {
    await expect(createServerGuards('127.0.0.1', { token: '' })).rejects.toMatchObject({
      code: 'CONFIG',
      message: 'the token is empty',
    })
    await expect(createServerGuards('127.0.0.1', { token: 'two words' })).rejects.toMatchObject({
      code: 'CONFIG',
    })
  })

  test('protects every path of a handler', async () => {
    const handler = createHandler(set, { token: 'secret' })
    for (const path of [
      '/',
      '/tools',
      '/tools/say_it',
      '/openapi.json',
      '/.well-known/toolable.json',
      '/mcp',
      '/nothing',
    ]) {
      expect((await handler(new Request(`http://localhost${path}`))).status).toBe(401)
      expect(
        (
          await handler(
            new Request(`http://localhost${path}`, { headers: { authorization: 'Bearer secret' } }),
          )
        ).status,
      ).not.toBe(401)
    }
  })
})

describe('a handler in a server of somebody else', () => {
  test('looks at Host only where names are given, and the page of the server itself may call', async () => {
    const open = createHandler(set)
    const call = { ...post({ text: 'a' }) }
    expect((await open(new Request('http://shop.example/tools/say_it', call))).status).toBe(200)
    expect(
      (
        await open(
          new Request('http://shop.example/tools/say_it', {
            ...call,
            headers: { ...call.headers, origin: 'http://shop.example' },
          }),
        )
      ).status,
    ).toBe(200)
    expect(
      (
        await open(
          new Request('http://shop.example/tools/say_it', {
            ...call,
            headers: { ...call.headers, origin: 'http://evil.example' },
          }),
        )
      ).status,
    ).toBe(403)
    const named = createHandler(set, { allowedHosts: ['shop.example'] })
    expect((await named(new Request('http://shop.example/tools/say_it', call))).status).toBe(200)
    expect(
      (
        await named(
          new Request('http://evil.example/tools/say_it', {
            ...call,
            headers: { ...call.headers, origin: 'http://evil.example' },
          }),
        )
      ).status,
    ).toBe(403)
  })

  test('answers pages of allowed origins with CORS headers, and others without', async () => {
    const handler = createHandler(set, { allowedOrigins: ['https://app.example'], token: 'secret' })
    const preflight = await handler(
      new Request('http://localhost/tools/say_it', {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type, authorization',
        },
      }),
    )
    expect([preflight.status, Object.fromEntries(preflight.headers)]).toEqual([
      204,
      expect.objectContaining({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-headers': 'content-type, authorization',
        'access-control-allow-methods': expect.stringContaining('POST'),
        vary: 'origin',
      }),
    ])
    const answer = await handler(
      new Request('http://localhost/tools', {
        headers: { origin: 'https://app.example', authorization: 'Bearer secret' },
      }),
    )
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://app.example',
    ])
    // A page may read why it was refused, if it may read at all.
    const refused = await handler(
      new Request('http://localhost/tools', { headers: { origin: 'https://app.example' } }),
    )
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'https://app.example',
    ])
    const foreign = await handler(
      new Request('http://localhost/tools', {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      }),
    )
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([
      403,
      null,
    ])
    const local = await createHandler(set)(
      new Request('http://localhost/tools', { headers: { origin: 'http://localhost:3000' } }),
    )
    expect([local.status, local.headers.get('access-control-allow-origin')]).toEqual([200, null])
  })

  test('takes any origin for *', async () => {
    const answer = await createHandler(set, { allowedOrigins: ['*'] })(
      new Request('http://localhost/tools', { headers: { origin: 'https://anything.example' } }),
    )
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://anything.example',
    ])
  })

  test.each([
    [
      'an unknown option',
      { allowedHost: ['a'] },
      "no option 'allowedHost'; did you mean 'allowedHosts'?",
    ],
    ['a base path without slash', { basePath: 'api' }, "'api' is no base path"],
    [
      'a host with a scheme',
      { allowedHosts: ['https://a.example'] },
      'is no name for the Host header',
    ],
    ['an origin with a path', { allowedOrigins: ['https://a.example/'] }, 'is no origin'],
    ['an empty token', { token: '' }, 'the token is empty'],
    ['a wrong timeout', { timeout: 'soon' }, "'soon' is not a duration"],
    ['a wrong limit', { bodyLimit: 0.5 }, 'bodyLimit is a number of bytes above 0'],
  ])('is refused at once with %s', (_what, options, words) => {
    expect(() => createHandler(set, options as object)).toThrow(words)
  })

  test('needs a toolset', () => {
    expect(() => createHandler({} as never)).toThrow(
      'createHandler() takes what toolset() or registry() made',
    )
  })
})

test('addresses that only this machine can reach', () => {
  expect(
    ['localhost', '127.0.0.1', '127.255.255.254', '::1', '[::1]', '0:0:0:0:0:0:0:1'].filter(
      (host) => !isLoopback(host),
    ),
  ).toEqual([])
  expect(
    ['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '127.0.0.1.example', '::1:2', ''].filter(
      isLoopback,
    ),
  ).toEqual([])
})
