import type { IncomingMessage, ServerResponse } from 'node:http'
import { registry } from 'toolable'
import type { Registry } from 'toolable'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { answerJson, bodyOf, listen } from './support/http.ts'
import type { Listening } from './support/http.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const plain =
  (status: number, type: string, body: string | Buffer): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': type }).end(body)
const json =
  (value: unknown, status = 200): Answer =>
  (response) =>
    answerJson(response, value, status)

// Each is a tool: what its server answers, and what of the outcome has to come out.
const ANSWERS: { readonly [tool: string]: readonly [answer: Answer, outcome: object] } = {
  any_json: [json([1, { a: null }]), { ok: true, result: [1, { a: null }] }],
  plain_text: [plain(200, 'text/plain; charset=utf-8', 'grüße'), { ok: true, result: 'grüße' }],
  nothing: [plain(204, 'text/plain', ''), { ok: true, result: null }],
  active: [json({ status: 'active' }), { ok: true, result: { status: 'active' } }],
  envelope: [json({ status: 'success', result: { n: 1 } }), { ok: true, result: { n: 1 } }],
  error_text: [json({ error: 'it broke' }), { ok: false, error: { message: 'it broke' } }],
  error_code: [
    json({ ok: false, error: { code: 'E3101', message: 'none', retryable: true } }, 500),
    { ok: false, error: { code: 'E3101', message: 'none', retryable: true } },
  ],
  mcp_form: [
    json({
      content: [
        { type: 'text', text: '{"n":2}' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    }),
    {
      ok: true,
      result: { n: 2 },
      content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    },
  ],
  mcp_error: [
    json({ content: [{ type: 'text', text: 'cannot' }], isError: true }),
    { ok: false, error: { message: 'cannot' } },
  ],
  missing: [
    json({ detail: 'no such row' }, 404),
    {
      ok: false,
      error: {
        code: 'NOT_FOUND',
        message: "tool server 'little' answered with HTTP status 404: no such row",
      },
    },
  ],
  unknown: [
    json({ message: 'who are you' }, 401),
    { ok: false, error: { code: 'PERMISSION', retryable: false } },
  ],
  busy: [
    (response) => void response.writeHead(429, { 'retry-after': '7' }).end('slow down'),
    {
      ok: false,
      error: {
        code: 'RATE_LIMIT',
        retryable: true,
        suggestion: { fix: 'Wait 7 seconds, then call again' },
      },
    },
  ],
  bad_input: [
    json({ detail: [{ loc: ['a'], msg: 'wrong' }] }, 422),
    { ok: false, error: { code: 'INVALID_INPUT' } },
  ],
  broken: [
    plain(503, 'text/html', '<h1>Sorry</h1>'),
    {
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: true,
        message: "tool server 'little' answered with HTTP status 503",
      },
    },
  ],
  garbage: [
    plain(200, 'application/json', '{"a":'),
    {
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: false,
        message: expect.stringContaining('says that it is JSON and is not'),
      },
    },
  ],
  web_page: [
    plain(200, 'text/html', '<html>'),
    {
      ok: false,
      error: { code: 'DEPENDENCY', message: expect.stringContaining('neither JSON nor text') },
    },
  ],
  bytes: [
    plain(200, 'application/octet-stream', Buffer.from([0xff, 0, 1])),
    { ok: false, error: { code: 'DEPENDENCY' } },
  ],
  cut_off: [
    (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{')
      setImmediate(() => response.destroy())
    },
    { ok: false, error: { code: 'DEPENDENCY', retryable: true } },
  ],
  too_much: [
    pour,
    { ok: false, error: { code: 'OUTPUT_LIMIT', message: expect.stringContaining('16 MiB') } },
  ],
  elsewhere: [
    (response) => void response.writeHead(307, { location: 'http://example.com/call_tool' }).end(),
    {
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: false,
        message: expect.stringContaining('redirects to http://example.com'),
      },
    },
  ],
  next_door: [
    (response) => void response.writeHead(307, { location: '/moved/call_tool' }).end(),
    { ok: true, result: { moved: true, method: 'POST' } },
  ],
  in_circles: [
    (response, { url }) => void response.writeHead(307, { location: url }).end(),
    {
      ok: false,
      error: { code: 'DEPENDENCY', message: expect.stringContaining('more than 5 times') },
    },
  ],
}

function pour(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 * 1024, 0x20)
  response.writeHead(200, { 'content-type': 'application/json' })
  const next = (): void =>
    void (response.destroyed || response.write(piece, () => setImmediate(next)))
  next()
}

describe('[6.tool-servers] servers with /list_tools and /call_tool', () => {
  let server: Listening
  let reg: Registry
  const seen: { url: string | undefined; token: string | undefined }[] = []
  beforeAll(async () => {
    server = await listen(async (request, response) => {
      seen.push({ url: request.url, token: request.headers.authorization })
      if (request.url === '/base/list_tools?v=1')
        return answerJson(response, {
          first: { tools: Object.keys(ANSWERS).map((name) => ({ name, description: 'Answer' })) },
          second: {
            tools: [{ description: 'has no name' }, 'text', { name: 'odd', parameters: 3 }],
          },
          third: { error: 'down' },
        })
      if (request.url?.startsWith('/moved'))
        return answerJson(response, { moved: true, method: request.method })
      const { name } = JSON.parse(await bodyOf(request)) as { readonly name: string }
      ANSWERS[name]![0](response, request)
    })
    reg = await registry({
      cwd: makeFolder(),
      env: { PLACE: server.url, KEY: 'k1' },
      cache: false,
      toolServers: [
        { url: '${PLACE}/base/?v=1', name: 'little', headers: { Authorization: 'Bearer ${KEY}' } },
      ],
    })
  })
  afterAll(async () => {
    await reg.close()
    await server.stop()
  })

  test('are listed in any form, and what is no tool is told', () => {
    expect(reg.list().map(({ name }) => name)).toEqual(Object.keys(ANSWERS))
    expect(reg.list()[0]).toMatchObject({
      id: 'little.any_json',
      kind: 'tool server',
      tier: 'server',
    })
    expect(reg.problems().map(({ message }) => message)).toEqual([
      expect.stringContaining("has no 'name'"),
      expect.stringContaining('is no object'),
      expect.stringContaining('are no JSON Schema'),
    ])
  })

  test.each(Object.keys(ANSWERS))('answer: %s', async (name) => {
    expect(await reg.call(name, {})).toMatchObject(ANSWERS[name]![1])
    expect(seen.at(-1)).toMatchObject({ token: 'Bearer k1' })
  })

  test('that are not there, do not answer or answer nonsense are dead, and delay nobody', async () => {
    const odd = await listen((request, response) =>
      request.url === '/text/list_tools'
        ? response.end('hello')
        : answerJson(response, { nothing: 1 }, request.url === '/gone/list_tools' ? 404 : 200),
    )
    const closed = await listen(() => {})
    await closed.stop()
    const dead = await registry({
      cwd: makeFolder(),
      env: {},
      cache: false,
      toolServers: [
        closed.url,
        `${odd.url}/text`,
        `${odd.url}/gone`,
        `${odd.url}/odd`,
        { url: '${NOT_SET}/x', name: 'unset' },
        'file:///etc',
      ],
    })
    expect(dead.list()).toEqual([])
    expect(dead.problems().map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
      expect.stringMatching(/^dead: .*ECONNREFUSED/),
      expect.stringMatching(/^dead: .*no list of tools: "hello"/),
      expect.stringMatching(/^dead: .*HTTP status 404/),
      expect.stringMatching(/^dead: .*no list of tools/),
      expect.stringMatching(/^config: .*NOT_SET/),
      expect.stringMatching(/^config: .*http:\/\//),
    ])
    await odd.stop()
  })
})
