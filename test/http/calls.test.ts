import { describe, expect, test } from 'vitest'
import { ERROR_TABLE } from 'toolable'
import { DOORS, loadSet, post, readEvents } from './support/doors.ts'

const set = await loadSet()
const parity = await loadSet('parity.mjs')

describe.each(Object.entries(DOORS))('[10.http-handler] by %s', async (_door, open) => {
  const send = await open(set)
  const sendParity = await open(parity)

  test('a call answers with the envelope', async () => {
    const answer = await send('/tools/say_it', post({ text: 'größer 🙂' }))
    expect([
      answer.status,
      answer.headers.get('content-type'),
      answer.headers.get('cache-control'),
    ]).toEqual([200, 'application/json', 'no-store'])
    expect(await answer.json()).toEqual({
      ok: true,
      status: 'success',
      result: { said: 'größer 🙂' },
      meta: { tool: 'over-http.say_it', version: '2.0.0', duration_ms: expect.any(Number) },
    })
  })

  test('names with - and _ are equal, and a slash at the end changes nothing', async () => {
    expect((await send('/tools/say-it', post({ text: 'a' }))).status).toBe(200)
    expect((await send('/tools/say_it/', post({ text: 'a' }))).status).toBe(200)
  })

  test('a partial result is a success', async () => {
    const answer = await sendParity('/tools/some', post({ done: ['a'] }))
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({
        ok: true,
        status: 'partial',
        summary: expect.objectContaining({ failed: 2 }),
      }),
    ])
  })

  test.each(Object.entries(ERROR_TABLE))(
    '[10.http-status] the error %s has the status of the table',
    async (code, { http }) => {
      const answer = await sendParity('/tools/fails', post({ code, message: 'x' }))
      expect([answer.status, await answer.json()]).toEqual([
        http,
        expect.objectContaining({
          ok: false,
          status: 'error',
          error: expect.objectContaining({ code, message: 'x' }),
        }),
      ])
    },
  )

  test.each([
    [
      'an unknown tool',
      '/tools/say_ot',
      post({ text: 'a' }),
      404,
      'NOT_FOUND',
      "did you mean 'say_it'?",
    ],
    ['a missing field', '/tools/say_it', post({}), 400, 'MISSING_PARAM', 'text'],
    ['a wrong type', '/tools/say_it', post({ text: 5 }), 400, 'INVALID_INPUT', 'text'],
    [
      'an unknown key',
      '/tools/say_it',
      post({ text: 'a', tekst: 'b' }),
      400,
      'INVALID_INPUT',
      'tekst',
    ],
    [
      'broken JSON',
      '/tools/say_it',
      post('{"text":\n  oops}'),
      400,
      'INVALID_INPUT',
      'line 2, column 3',
    ],
    ['an empty body', '/tools/say_it', post(''), 400, 'INVALID_INPUT', 'the body is empty'],
    [
      'an array',
      '/tools/say_it',
      post([1]),
      400,
      'INVALID_INPUT',
      'must be a JSON object, got an array',
    ],
    [
      'a body that is not UTF-8',
      '/tools/say_it',
      { ...post(''), body: new Uint8Array([0x7b, 0xff, 0x7d]) },
      400,
      'INVALID_INPUT',
      'not UTF-8',
    ],
    [
      'another media type',
      '/tools/say_it',
      {
        method: 'POST',
        body: 'text=a',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      415,
      'INVALID_INPUT',
      'application/json is expected',
    ],
    [
      'no media type',
      '/tools/say_it',
      { method: 'POST', body: new TextEncoder().encode('{}') },
      415,
      'INVALID_INPUT',
      'of no type',
    ],
    ['a wrong method', '/tools/say_it', { method: 'PUT', body: '{}' }, 405, 'USAGE', 'PUT'],
    ['an unknown path', '/nothing', {}, 404, 'NOT_FOUND', 'nothing is at /nothing'],
    ['a path below a tool', '/tools/say_it/more', post({}), 404, 'NOT_FOUND', 'nothing is at'],
    [
      'a name that climbs',
      '/tools/..%2f..%2fetc%2fpasswd',
      post({}),
      404,
      'NOT_FOUND',
      "no tool '../../etc/passwd'",
    ],
    [
      'a name of the prototype',
      '/tools/__proto__',
      post({}),
      404,
      'NOT_FOUND',
      "no tool '__proto__'",
    ],
    ['a method of the prototype', '/constructor', {}, 404, 'NOT_FOUND', 'nothing is at'],
    ['a broken percent sign', '/tools/%ff', post({}), 400, 'INVALID_INPUT', 'percent-encoded'],
    ['a null byte', '/tools/say_it%00', post({ text: 'a' }), 404, 'NOT_FOUND', 'no tool'],
    [
      'a wrong confirmation',
      '/tools/deletes',
      post({}, { 'toolable-confirm': 'perhaps' }),
      400,
      'INVALID_INPUT',
      'Toolable-Confirm is yes or no',
    ],
    [
      'a wrong timeout',
      '/tools/who',
      post({}, { 'toolable-timeout': 'soon' }),
      400,
      'INVALID_INPUT',
      "'soon' is not a duration",
    ],
    [
      'a long idempotency key',
      '/tools/who',
      post({}, { 'idempotency-key': 'k'.repeat(256) }),
      400,
      'INVALID_INPUT',
      'Idempotency-Key is longer than 255',
    ],
    [
      'a wrong wish for a stream',
      '/tools/who?stream=maybe',
      post({}),
      400,
      'INVALID_INPUT',
      'stream is yes or no',
    ],
  ] as [string, string, RequestInit, number, string, string][])(
    '[10.http-refusals] %s is an envelope with its status',
    async (_what, path, init, status, code, words) => {
      const answer = await send(path, init)
      const envelope = (await answer.json()) as { error: { message: string } }
      expect([answer.status, envelope]).toEqual([
        status,
        {
          ok: false,
          status: 'error',
          error: expect.objectContaining({ code }),
          meta: expect.objectContaining({
            tool: expect.stringMatching(/^over-http/),
            duration_ms: expect.any(Number),
          }),
        },
      ])
      expect(envelope.error.message).toContain(words)
    },
  )

  test('a body above the limit is refused, a little one passes', async () => {
    const limited = await open(set, { bodyLimit: 100 })
    expect((await limited('/tools/say_it', post({ text: 'a' }))).status).toBe(200)
    const answer = await limited('/tools/say_it', post({ text: 'a'.repeat(200) }))
    expect([answer.status, await answer.json()]).toEqual([
      413,
      expect.objectContaining({
        error: expect.objectContaining({
          code: 'INVALID_INPUT',
          message: 'the body is longer than 100 bytes',
        }),
      }),
    ])
  })

  test('Allow names the methods, and OPTIONS is answered with them', async () => {
    const refused = await send('/tools/say_it', { method: 'DELETE' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([
      405,
      'GET, HEAD, POST, OPTIONS',
    ])
    const asked = await send('/tools/say_it', { method: 'OPTIONS' })
    expect([asked.status, asked.headers.get('allow'), await asked.text()]).toEqual([
      204,
      'GET, HEAD, POST, OPTIONS',
      '',
    ])
  })

  test('HEAD has the headers of GET and no body', async () => {
    const answer = await send('/tools', { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'application/json',
      '',
    ])
  })

  test('[4.confirm-http] a destructive tool runs only with Toolable-Confirm: yes', async () => {
    const refused = await send('/tools/deletes', post({ text: 'x' }))
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({
        error: expect.objectContaining({
          code: 'CONFIRMATION_REQUIRED',
          suggestion: expect.objectContaining({ example: 'Toolable-Confirm: yes' }),
        }),
      }),
    ])
    expect(
      (await send('/tools/deletes', post({ text: 'x' }, { 'toolable-confirm': 'no' }))).status,
    ).toBe(403)
    expect(
      await (
        await send('/tools/deletes', post({ text: 'x' }, { 'toolable-confirm': 'yes' }))
      ).json(),
    ).toMatchObject({ ok: true, result: 'deleted x' })
  })

  test('the server may consent itself, or ask somebody', async () => {
    const trusting = await open(set, { confirm: true })
    expect((await trusting('/tools/deletes', post({ text: 'x' }))).status).toBe(200)
    const asking = await open(set, { confirm: ({ prompt }) => prompt.includes('good') })
    expect((await asking('/tools/deletes', post({ text: 'good' }))).status).toBe(200)
    const declined = await asking('/tools/deletes', post({ text: 'bad' }))
    expect([declined.status, await declined.json()]).toEqual([
      403,
      expect.objectContaining({ error: expect.objectContaining({ code: 'PERMISSION' }) }),
    ])
  })

  test('Toolable-Dry-Run plans, Toolable-Caller names the caller, Toolable-Timeout limits', async () => {
    expect(
      await (await send('/tools/plans', post({}, { 'toolable-dry-run': 'yes' }))).json(),
    ).toMatchObject({
      result: { plan: [{ action: 'delete', target: 'everything' }] },
      meta: { dry_run: true },
    })
    expect(
      await (await send('/tools/who', post({}, { 'toolable-caller': 'a-friend' }))).json(),
    ).toMatchObject({ result: { caller: 'a-friend', dryRun: false }, meta: { caller: 'a-friend' } })
    const late = await send('/tools/waits', post({}, { 'toolable-timeout': '50ms' }))
    expect([late.status, await late.json()]).toEqual([
      504,
      expect.objectContaining({ error: expect.objectContaining({ code: 'TIMEOUT' }) }),
    ])
  })

  test('of two limits the shorter one counts, and a caller is given where none is said', async () => {
    const limited = await open(set, { timeout: 1000, caller: 'the-site' })
    const seconds = async (headers: { [name: string]: string }) =>
      (
        (await (await limited('/tools/who', post({}, headers))).json()) as {
          result: { seconds: number; caller: string }
        }
      ).result
    expect((await seconds({})).caller).toBe('the-site')
    expect((await seconds({})).seconds).toBeGreaterThan(900)
    expect((await seconds({ 'toolable-timeout': '10s' })).seconds).toBeLessThanOrEqual(10)
    expect((await seconds({ 'toolable-timeout': '10h' })).seconds).toBeLessThanOrEqual(1000)
  })

  test('Idempotency-Key gives the first answer again, and another input is a conflict', async () => {
    const key = { 'idempotency-key': `key-${Math.random()}` }
    const first = await (await send('/tools/say_it', post({ text: 'once' }, key))).json()
    expect(await (await send('/tools/say_it', post({ text: 'once' }, key))).json()).toMatchObject({
      result: (first as { result: unknown }).result,
    })
    expect((await send('/tools/say_it', post({ text: 'twice' }, key))).status).toBe(409)
  })

  test('[5.answer-required] a question that nobody can answer names the command that goes on', async () => {
    const asked = await send('/tools/asks', post({}))
    expect([asked.status, await asked.json()]).toEqual([
      409,
      expect.objectContaining({
        error: expect.objectContaining({
          code: 'ANSWER_REQUIRED',
          suggestion: expect.objectContaining({
            fix: expect.stringContaining('over plain HTTP'),
            example: "over-http asks '{}' --session",
          }),
        }),
      }),
    ])
    expect(await (await send('/tools/talks', post({}))).json()).toMatchObject({
      error: { code: 'ANSWER_REQUIRED', suggestion: { example: "over-http talks '{}' --session" } },
    })
    expect(await (await send('/tools/samples', post({}))).json()).toMatchObject({
      error: {
        code: 'ANSWER_REQUIRED',
        suggestion: { example: "over-http samples '{}' --sample-via stdin" },
      },
    })
  })

  test.each([
    ['Accept: text/event-stream', '/tools/ticks', { accept: 'text/event-stream' }],
    ['?stream=true', '/tools/ticks?stream=true', {}],
  ] as [string, string, { [name: string]: string }][])(
    '[10.http-events] %s answers with server-sent events that end in the result',
    async (_how, path, headers) => {
      const answer = await send(path, post({ times: 2 }, headers))
      expect([
        answer.status,
        answer.headers.get('content-type'),
        answer.headers.get('x-accel-buffering'),
      ]).toEqual([200, 'text/event-stream', 'no'])
      expect(await readEvents(answer)).toEqual([
        { event: 'progress', data: { type: 'progress', message: 'tick 1' } },
        { event: 'progress', data: { type: 'progress', message: 'tick 2' } },
        {
          event: 'result',
          data: {
            type: 'result',
            ok: true,
            status: 'success',
            result: { times: 2 },
            meta: { tool: 'over-http.ticks', version: '2.0.0', duration_ms: expect.any(Number) },
          },
        },
      ])
    },
  )

  test('[10.http-events] a stream carries failures as its result, and what comes before the call as a status', async () => {
    expect(
      await readEvents(await send('/tools/deletes?stream=true', post({ text: 'x' }))),
    ).toMatchObject([
      {
        event: 'result',
        data: {
          ok: false,
          error: {
            code: 'CONFIRMATION_REQUIRED',
            suggestion: { example: 'Toolable-Confirm: yes' },
          },
        },
      },
    ])
    expect((await send('/tools/nope?stream=true', post({}))).status).toBe(404)
    expect((await send('/tools/ticks?stream=true', post('{'))).status).toBe(400)
  })

  test('a client of both forms gets JSON', async () => {
    const answer = await send(
      '/tools/ticks',
      post({ times: 1 }, { accept: 'application/json, text/event-stream' }),
    )
    expect([answer.headers.get('content-type'), await answer.json()]).toEqual([
      'application/json',
      expect.objectContaining({ result: { times: 1 } }),
    ])
  })

  test('resources are listed and read, prompts are listed and rendered', async () => {
    expect(await (await send('/resources')).json()).toMatchObject({
      resources: [{ uri_pattern: 'notes://{id}' }],
    })
    expect(await (await send('/resources?uri=notes%3A%2F%2F7')).json()).toMatchObject({
      ok: true,
      result: 'note 7',
    })
    expect(await (await send('/resources?uri=notes%3A%2F%2Fraw')).json()).toMatchObject({
      result: { mimeType: 'application/octet-stream', blob: 'AP8=' },
    })
    expect((await send('/resources?uri=nowhere')).status).toBe(404)
    expect(await (await send('/prompts')).json()).toMatchObject({ prompts: [{ name: 'greet' }] })
    expect(await (await send('/prompts/greet', post({ name: 'Ann' }))).json()).toMatchObject({
      ok: true,
      result: 'Greet Ann',
    })
    expect((await send('/prompts/greet', post({}))).status).toBe(400)
    expect((await send('/prompts/nope', post({}))).status).toBe(404)
  })

  test('GET /tools lists, GET /tools/<name> describes', async () => {
    const { tools } = (await (await send('/tools')).json()) as { tools: unknown[] }
    expect(tools).toContainEqual({
      name: 'ticks',
      summary: 'Tick on',
      streaming: true,
      session_mode: false,
    })
    expect(await (await send('/tools/say-it')).json()).toMatchObject({
      name: 'say_it',
      schema: { properties: { text: { type: 'string' } } },
      output_schema: { properties: { said: { type: 'string' } } },
    })
    expect((await send('/tools/nope')).status).toBe(404)
  })

  test('[10.http-discovery] the well-known document links to everything', async () => {
    const answer = await send('/.well-known/toolable.json')
    const document = (await answer.json()) as { links: { [name: string]: string } }
    expect(document).toMatchObject({
      name: 'over-http',
      version: '2.0.0',
      description: 'Tools over HTTP',
      links: {
        tools: '../tools',
        openapi: '../openapi.json',
        mcp: '../mcp',
        resources: '../resources',
        prompts: '../prompts',
      },
    })
    for (const name of ['tools', 'openapi', 'resources', 'prompts']) {
      const { pathname } = new URL(
        document.links[name]!,
        'http://localhost/.well-known/toolable.json',
      )
      expect((await send(pathname)).status).toBe(200)
    }
    expect(await (await send('/')).json()).toMatchObject({ links: { tools: 'tools', mcp: 'mcp' } })
    const catalogue = await send('/.well-known/api-catalog')
    expect([catalogue.headers.get('content-type'), await catalogue.json()]).toEqual([
      'application/linkset+json',
      expect.objectContaining({
        linkset: [
          expect.objectContaining({
            'service-desc': [expect.objectContaining({ href: '../openapi.json' })],
          }),
        ],
      }),
    ])
    expect((await send('/.well-known/other')).status).toBe(404)
  })

  test('/mcp speaks MCP', async () => {
    const answer = await send(
      '/mcp',
      post(
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 'test', version: '1' },
          },
        },
        { accept: 'application/json, text/event-stream' },
      ),
    )
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining('"serverInfo"'),
    ])
  })

  test('a base path is cut off, and nothing is served outside', async () => {
    const based = await open(set, { basePath: '/api/' })
    expect((await based('/api/tools/say_it', post({ text: 'a' }))).status).toBe(200)
    expect((await based('/api')).status).toBe(200)
    for (const path of ['/tools/say_it', '/apix/tools', '/'])
      expect((await based(path)).status).toBe(404)
    expect(await (await based('/api/openapi.json')).json()).toMatchObject({
      servers: [{ url: '/api' }],
    })
  })

  test('many calls at once each get their own answer', async () => {
    const answers = await Promise.all(
      Array.from(
        { length: 50 },
        async (_, index) =>
          (await (await send('/tools/say_it', post({ text: `call ${index}` }))).json()) as {
            result: { said: string }
          },
      ),
    )
    expect(answers.map(({ result }) => result.said)).toEqual(
      Array.from({ length: 50 }, (_, index) => `call ${index}`),
    )
  })

  test('a big result arrives whole', async () => {
    expect(
      ((await (await send('/tools/big', post({ size: 3_000_000 }))).json()) as { result: string })
        .result.length,
    ).toBe(3_000_000)
  })
})
