import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, runProgram } from '../support/run-program.ts'
import { post } from './support/doors.ts'
import { requestText, sendRaw } from './support/raw.ts'
import { serveProgram } from './support/serve.ts'

const HUGE = 100 * 1024 * 1024

function marksFile(): { readonly env: { readonly MARKS: string }; marks(): string[] } {
  const file = join(makeFolder(), 'marks')
  return {
    env: { MARKS: file },
    marks: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
  }
}

async function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}

describe('serve http', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '[10.http-graceful-stop] says where it listens, answers, and ends with 0 by %s',
    async (signal) => {
      const served = await serveProgram()
      expect(
        await (await fetch(`${served.url}/tools/say-it`, post({ text: 'hi' }))).json(),
      ).toMatchObject({ ok: true, result: { said: 'hi' } })
      const { status, stdout, stderr } = await served.stop(signal)
      expect([status, stdout, stderr]).toEqual([
        0,
        '',
        `{"type":"notification","kind":"listening","url":"${served.url}"}\n`,
      ])
      expect(await refuses(served.port)).toBe(true)
    },
  )

  test('tells a person in words', async () => {
    const served = await serveProgram(['--output', 'text'])
    const { stderr } = await served.stop()
    expect(stderr).toBe(`over-http listens on ${served.url}\n`)
  })

  test('what handlers print disturbs nobody', async () => {
    const served = await serveProgram()
    expect(
      await (await fetch(`${served.url}/tools/prints`, post({ text: 'noise' }))).json(),
    ).toMatchObject({ ok: true, result: 'quiet' })
    const { status, stdout, stderr } = await served.stop()
    expect([status, stdout, stderr.match(/noise/g)?.length]).toEqual([0, '', 3])
  })

  test('[10.http-crash] crashing handlers fail their own calls, and the server lives on', async () => {
    const served = await serveProgram()
    const crash = async (how: string): Promise<[number, any]> => {
      const answer = await fetch(`${served.url}/tools/crashes`, post({ how }))
      return [answer.status, await answer.json()]
    }
    const [waiting, ...crashed] = await Promise.all([
      fetch(`${served.url}/tools/waits_a_little`, post({})).then((answer) => answer.json()),
      crash('throw'),
      crash('timer'),
      crash('rejection'),
      crash('exit'),
      crash('late'),
    ])
    expect(waiting).toMatchObject({ ok: true, result: 'done' })
    expect(crashed).toMatchObject([
      [500, { error: { code: 'INTERNAL', message: 'thrown at once' } }],
      [
        500,
        {
          error: {
            code: 'INTERNAL',
            message: 'the tool left an error unhandled: thrown in a timer',
          },
        },
      ],
      [
        500,
        {
          error: {
            code: 'INTERNAL',
            message: 'the tool left an error unhandled: rejected in a timer',
          },
        },
      ],
      [500, { error: { code: 'INTERNAL', message: 'the tool called process.exit(3)' } }],
      [200, { ok: true, result: 'done' }],
    ])
    await served.program.said('thrown after the end', 'stderr')
    expect((await fetch(`${served.url}/tools/say_it`, post({ text: 'alive' }))).status).toBe(200)
    const { status, stderr } = await served.stop()
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining(
        '{"type":"notification","kind":"log","level":"error","message":"the tool left an error unhandled: thrown in a timer"}',
      ),
    ])
  })

  test('[10.http-client-gone] a client that disappears in the middle of a call aborts its handler', async () => {
    const { env, marks } = marksFile()
    const served = await serveProgram([], { env })
    const gone = new AbortController()
    const call = fetch(`${served.url}/tools/waits`, { ...post({}), signal: gone.signal }).catch(
      (error: Error) => error.name,
    )
    await expect.poll(marks).toEqual(['waiting'])
    gone.abort()
    expect(await call).toBe('AbortError')
    await expect.poll(marks).toEqual(['waiting', 'aborted'])
    await served.stop()
  })

  test('[10.http-client-gone] [10.http-events] a client that leaves a stream aborts its handler', async () => {
    const { env, marks } = marksFile()
    const served = await serveProgram([], { env })
    const gone = new AbortController()
    const answer = await fetch(`${served.url}/tools/ticks?stream=yes`, {
      ...post({ times: 1_000_000 }),
      signal: gone.signal,
    })
    await answer.body!.getReader().read()
    gone.abort()
    await expect.poll(marks).toEqual(['ticking', 'tick aborted'])
    await served.stop()
  })

  test('[10.http-events] a reader that does not read holds the tool back', async () => {
    const { env, marks } = marksFile()
    const served = await serveProgram([], { env })
    const gone = new AbortController()
    await fetch(`${served.url}/tools/ticks?stream=yes`, {
      ...post({ times: 5000, size: 100_000 }),
      signal: gone.signal,
    })
    // Whatever is made for nobody shows in the memory by the time that others are answered.
    for (let index = 0; index < 200; index++)
      await (await fetch(`${served.url}/tools/say_it`, post({ text: 'x' }))).text()
    expect(peakMemory(served.program.pid)).toBeLessThan(250)
    gone.abort()
    await expect.poll(marks).toEqual(['ticking', 'tick aborted'])
    await served.stop()
  })

  test('[10.http-events] what was sent is forgotten while the stream goes on', async () => {
    const served = await serveProgram()
    const answer = await fetch(
      `${served.url}/tools/ticks?stream=yes`,
      post({ times: 3000, size: 100_000 }),
    )
    let received = 0
    for await (const chunk of answer.body!) received += (chunk as Uint8Array).length
    expect(received).toBeGreaterThan(3000 * 100_000)
    expect(peakMemory(served.program.pid)).toBeLessThan(250)
    await served.stop()
  })

  test('[10.http-graceful-stop] a call that runs may end before the server does', async () => {
    const { env, marks } = marksFile()
    const served = await serveProgram([], { env })
    const call = fetch(`${served.url}/tools/waits_a_little`, post({}))
    await expect.poll(marks).toEqual(['started'])
    const stopped = served.stop()
    expect(await (await call).json()).toMatchObject({ ok: true, result: 'done' })
    expect((await stopped).status).toBe(0)
  })

  test('[10.http-graceful-stop] calls that do not end are aborted and say so, those that ignore it are left, and nothing stays', async () => {
    const { env, marks } = marksFile()
    const served = await serveProgram([], { env })
    const legacy = post({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'ignores' },
    })
    const calls = [
      ['tools/waits', post({})],
      ['tools/ignores', post({})],
      ['tools/ignores?stream=true', post({})],
      ['mcp', legacy],
    ] as const
    const answers = calls.map(async ([path, request]) =>
      (await fetch(`${served.url}/${path}`, request)).text(),
    )
    await expect.poll(() => marks().length).toBe(4)
    const { status } = await served.stop()
    expect([status, marks()]).toEqual([0, ['waiting', 'waiting', 'waiting', 'waiting', 'aborted']])
    for (const answer of await Promise.all(answers))
      expect(answer).toMatch(/CANCELLED.*the server stops/)
    expect(await refuses(served.port)).toBe(true)
  })

  test('a second signal ends it at once', async () => {
    const { env, marks } = marksFile()
    const served = await serveProgram([], { env })
    const call = fetch(`${served.url}/tools/ignores`, post({})).catch(() => 'cut')
    await expect.poll(marks).toEqual(['waiting'])
    served.program.kill('SIGTERM')
    await expect.poll(() => refuses(served.port)).toBe(true)
    const { signal } = await served.stop('SIGTERM')
    expect([signal, await call]).toEqual(['SIGTERM', 'cut'])
  })

  test('[10.http-body-limit] a body of 100 MB is 413, and the memory of the server stays bounded', async () => {
    const served = await serveProgram()
    await (await fetch(`${served.url}/tools/say_it`, post({ text: 'warm' }))).text()
    const before = peakMemory(served.program.pid)
    function* parts(head: string, chunked: boolean): Generator<string | Uint8Array> {
      yield head
      const chunk = Buffer.alloc(65_536, 'x')
      for (let sent = 0; sent < HUGE; sent += chunk.length)
        yield chunked
          ? Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')])
          : chunk
      if (chunked) yield '0\r\n\r\n'
    }
    const head = (headers: { [name: string]: string | number }): string =>
      requestText('POST', '/tools/say_it', { 'content-type': 'application/json', ...headers })
    for (const answer of [
      await sendRaw(served.port, parts(head({ 'content-length': HUGE }), false)),
      await sendRaw(served.port, parts(head({ 'transfer-encoding': 'chunked' }), true)),
    ]) {
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        413,
        expect.objectContaining({
          ok: false,
          error: expect.objectContaining({
            code: 'INVALID_INPUT',
            message: 'the body is longer than 4194304 bytes',
          }),
        }),
      ])
    }
    expect(peakMemory(served.program.pid) - before).toBeLessThan(60)
    expect((await served.stop()).status).toBe(0)
  })

  test('[10.http-guards] foreign pages and names are refused', async () => {
    const served = await serveProgram()
    const status = async (headers: { [name: string]: string }): Promise<number> =>
      (
        await sendRaw(served.port, [
          requestText('GET', '/tools', { connection: 'close', ...headers }),
        ])
      ).status
    expect(
      await Promise.all([
        status({}),
        status({ host: `127.0.0.1:${served.port}` }),
        status({ host: 'rebound.example' }),
        status({ origin: 'https://evil.example' }),
        status({ origin: 'http://localhost:1' }),
      ]),
    ).toEqual([200, 200, 403, 403, 200])
    await served.stop()
  })

  test('[10.http-token] a token from a file is asked for', async () => {
    const file = join(makeFolder(), 'token')
    writeFileSync(file, 'a-secret\n', { mode: 0o600 })
    const served = await serveProgram(['--token-file', file])
    expect((await fetch(`${served.url}/tools`)).status).toBe(401)
    expect(
      (await fetch(`${served.url}/tools`, { headers: { authorization: 'Bearer a-secret' } }))
        .status,
    ).toBe(200)
    expect(
      await (
        await fetch(`${served.url}/openapi.json`, { headers: { authorization: 'Bearer a-secret' } })
      ).json(),
    ).toMatchObject({ security: [{ token: [] }] })
    expect((await served.stop()).stderr).not.toContain('a-secret')
  })

  test('flags reach the server: base path, limits, consent, timeout', async () => {
    const { env } = marksFile()
    const served = await serveProgram(
      [
        '--base-path',
        '/api',
        '--body-limit',
        '50',
        '--confirm',
        'never',
        '--timeout',
        '1s',
        '--allowed-host',
        'tools.example',
        '--allowed-origin',
        'https://app.example',
      ],
      { env },
    )
    expect(served.url).toMatch(/\/api$/)
    expect((await fetch(new URL('/tools', served.url))).status).toBe(404)
    expect((await fetch(`${served.url}/tools/say_it`, post({ text: 'a'.repeat(60) }))).status).toBe(
      413,
    )
    expect((await fetch(`${served.url}/tools/deletes`, post({}))).status).toBe(200)
    expect((await fetch(`${served.url}/tools/waits`, post({}))).status).toBe(504)
    expect(
      (
        await sendRaw(served.port, [
          requestText('GET', '/api/tools', {
            host: 'tools.example',
            origin: 'https://app.example',
            connection: 'close',
          }),
        ])
      ).headers['access-control-allow-origin'],
    ).toBe('https://app.example')
    await served.stop()
  })

  test('limits hold over MCP too', async () => {
    const served = await serveProgram(['--timeout', '1s', '--body-limit', '1000'])
    const call = (name: string, input: object): Promise<Response> =>
      fetch(
        `${served.url}/mcp`,
        post(
          {
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: {
              name,
              arguments: input,
              _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                'io.modelcontextprotocol/clientCapabilities': {},
              },
            },
          },
          {
            accept: 'application/json, text/event-stream',
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'tools/call',
            'mcp-name': name,
          },
        ),
      )
    expect(await (await call('say_it', { text: 'hi' })).text()).toContain('"said":"hi"')
    expect(await (await call('waits', {})).text()).toContain('TIMEOUT')
    expect((await call('say_it', { text: 'a'.repeat(1000) })).status).toBe(413)
    expect((await served.stop()).status).toBe(0)
  })

  test('the environment and the folder of the server are those of its calls', async () => {
    const cwd = makeFolder()
    const served = await serveProgram([], { cwd })
    expect(await (await fetch(`${served.url}/tools/who`, post({}))).json()).toMatchObject({
      result: { cwd },
    })
    await served.stop()
  })

  test('[10.http-port-taken] a port that is taken is told at once', async () => {
    const served = await serveProgram()
    const { status, json } = await runProgram('serves.mjs', [
      'serve',
      'http',
      '--port',
      String(served.port),
    ])
    expect([status, json]).toEqual([
      78,
      expect.objectContaining({
        ok: false,
        error: expect.objectContaining({
          code: 'CONFIG',
          message: `cannot listen on 127.0.0.1:${served.port}: the port is taken by another program`,
          suggestion: expect.objectContaining({
            example: expect.stringMatching(/^--port [1-9]\d*$/),
          }),
        }),
      }),
    ])
    await served.stop()
  })

  test.each([
    ['no token beyond loopback', ['--host', '0.0.0.0'], 78, 'CONFIG', 'needs a token'],
    ['a missing token file', ['--token-file', 'nowhere'], 66, 'INVALID_PATH', 'nowhere'],
    ['a wrong port', ['--port', '70000'], 2, 'INVALID_INPUT', 'at most 65535'],
    ['a port that is no number', ['--port', 'http'], 2, 'INVALID_INPUT', 'port'],
    ['an unknown flag', ['--prot', '1'], 2, 'USAGE', 'did you mean --port?'],
    ['a wrong base path', ['--base-path', 'a b'], 78, 'CONFIG', 'is no base path'],
    [
      'a wrong host name',
      ['--allowed-host', 'http://x'],
      78,
      'CONFIG',
      'is no name for the Host header',
    ],
    ['a wrong timeout', ['--timeout', 'soon'], 2, 'INVALID_INPUT', "'soon' is not a duration"],
    [
      'an address of another machine',
      ['--host', '203.0.113.9', '--token-file', 'token'],
      78,
      'CONFIG',
      'is not an address of this machine',
    ],
  ])('is refused with %s', async (_what, args, status, code, words) => {
    const cwd = makeFolder()
    writeFileSync(join(cwd, 'token'), 'secret', { mode: 0o600 })
    const ended = await runProgram('serves.mjs', ['serve', 'http', ...args], { cwd })
    expect([ended.status, ended.json.error.code, ended.json.error.message]).toEqual([
      status,
      code,
      expect.stringContaining(words),
    ])
  })

  test('a token file that others can read is refused', async () => {
    const cwd = makeFolder()
    writeFileSync(join(cwd, 'token'), 'secret')
    chmodSync(join(cwd, 'token'), 0o644)
    const { status, json } = await runProgram(
      'serves.mjs',
      ['serve', 'http', '--token-file', 'token'],
      { cwd },
    )
    expect([status, json]).toEqual([
      77,
      expect.objectContaining({
        error: expect.objectContaining({
          code: 'PERMISSION',
          suggestion: expect.objectContaining({ fix: expect.stringContaining('chmod 600') }),
        }),
      }),
    ])
  })

  test('help names the flags', async () => {
    const { status, stdout } = await runProgram('serves.mjs', ['serve', 'http', '--help'])
    expect([status, stdout]).toEqual([0, expect.stringContaining('--token-file')])
  })
})

// Megabytes at the highest.
function peakMemory(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
