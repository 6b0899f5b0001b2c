import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { askLegacy, askModern, openSession, readEvents } from './support/raw-http.ts'
import { initialize, modern, openRaw } from './support/raw-stdio.ts'
import { serveHttp } from './support/serve.ts'
import { until } from './support/until.ts'
import '../support/without-coverage.ts'

const GC = { NODE_OPTIONS: '--expose-gc' }
const A_LITTLE = 3 * 1024 * 1024
const LOG = { 'io.modelcontextprotocol/logLevel': 'info' }

describe('nothing is left of what is over [5.mcp-leaves-nothing]', () => {
  test('stdio: calls, subscriptions, progress and cancelled questions leave the heap flat', async () => {
    const raw = openRaw('asks-and-leaves.mjs', [], { env: GC })
    await initialize(raw, { elicitation: {} })
    const heap = async () =>
      (await raw.ask('tools/call', { name: 'memory', arguments: {} })).result.structuredContent
        .heap as number
    const round = async (name: string): Promise<void> => {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const id = `${name}-${index}`
          raw.write(
            JSON.stringify({
              jsonrpc: '2.0',
              id,
              method: 'subscriptions/listen',
              params: modern({
                notifications: {
                  toolsListChanged: true,
                  resourceSubscriptions: ['x'.repeat(20_000)],
                },
              }),
            }),
          )
          raw.write(
            JSON.stringify({
              jsonrpc: '2.0',
              id: `q${id}`,
              method: 'tools/call',
              params: { name: 'stubborn', arguments: {} },
            }),
          )
          await raw.ask(
            'tools/call',
            modern({ name: 'slow', arguments: { ms: 1 } }, {}, { progressToken: index }),
            `s${id}`,
          )
          for (const requestId of [id, `q${id}`])
            raw.write(
              JSON.stringify({
                jsonrpc: '2.0',
                method: 'notifications/cancelled',
                params: { requestId },
              }),
            )
        }),
      )
    }
    await round('warm')
    const before = await heap()
    for (const name of ['a', 'b', 'c', 'd']) await round(name)
    expect((await heap()) - before).toBeLessThan(A_LITTLE)
    await raw.end()
  })

  test('HTTP: streams, sessions, standalone streams and subscriptions leave the heap flat', async () => {
    const server = await serveHttp('asks-and-leaves.mjs', [], { env: GC })
    const { url } = server
    const heap = async () =>
      (await askModern(url, 'tools/call', { name: 'memory', arguments: {} })).message.result
        .structuredContent.heap as number
    const leave = async (
      send: (options: { signal: AbortSignal; onText: (text: string) => void }) => Promise<unknown>,
    ): Promise<void> => {
      const controller = new AbortController()
      let heard = ''
      const sent = send({
        signal: controller.signal,
        onText: (text) => {
          heard = text
        },
      }).catch(() => undefined)
      await until(() => heard !== '')
      controller.abort()
      await sent
    }
    const round = async (): Promise<void> => {
      const session = await openSession(url)
      for (let index = 0; index < 60; index++) {
        await askLegacy(url, 'tools/call', { name: 'shout', arguments: { lines: 3 } }, session)
        await leave((options) =>
          askModern(
            url,
            'subscriptions/listen',
            { notifications: { resourceSubscriptions: ['x'.repeat(20_000)] } },
            options,
          ),
        )
      }
      await askLegacy(url, '', {}, session, { method: 'DELETE', body: '' })
    }
    await round()
    const before = await heap()
    for (let time = 0; time < 3; time++) await round()
    expect((await heap()) - before).toBeLessThan(A_LITTLE)
    await server.stop()
  })
})

describe('a stdio client that does not read [5.mcp-slow-reader]', () => {
  test('log lines that nobody reads are left out, and the answer comes', async () => {
    const raw = openRaw('asks-and-leaves.mjs')
    raw.program.child.stdout.pause()
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: modern({ name: 'shout', arguments: { lines: 20_000 } }, {}, LOG),
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 3000))
    raw.program.child.stdout.resume()
    const { result } = await raw.heard(({ id }) => id === 1)
    expect(result.structuredContent.rss).toBeLessThan(220 * 1024 * 1024)
    expect(raw.strays).toEqual([])
    await raw.end()
  })

  test('five thousand calls before the first answer is read: each is answered once', async () => {
    const raw = openRaw('asks-and-leaves.mjs')
    raw.program.child.stdout.pause()
    const calls = 5000
    for (let id = 0; id < calls; id++)
      raw.write(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: modern({ name: 'by_default', arguments: {} }),
        }),
      )
    await new Promise((resolve) => setTimeout(resolve, 500))
    raw.program.child.stdout.resume()
    const { status } = await raw.end()
    expect(status).toBe(0)
    expect(new Set(raw.messages.map(({ id }) => id)).size).toBe(calls)
    expect(raw.messages).toHaveLength(calls)
  })
})

describe('the end of stdio, in detail [5.mcp-drain]', () => {
  test('subscriptions are closed with a result when stdin ends', async () => {
    const raw = openRaw('asks-and-leaves.mjs')
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'watch',
        method: 'subscriptions/listen',
        params: modern({ notifications: { promptsListChanged: true } }),
      }),
    )
    await raw.heard(({ method }) => method === 'notifications/subscriptions/acknowledged')
    expect((await raw.end()).status).toBe(0)
    expect(raw.messages.at(-1)).toMatchObject({
      id: 'watch',
      result: {
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/subscriptionId': 'watch' },
      },
    })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: exit 0, and a resource that is being read is aborted',
    async (signal) => {
      const marker = join(makeFolder(), 'm')
      const raw = openRaw('asks-and-leaves.mjs', [], { env: { MARKER: marker } })
      raw.write(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'resources/read',
          params: modern({ uri: 'slow://it' }),
        }),
      )
      await until(() => existsSync(`${marker}.started`))
      raw.program.kill(signal)
      expect((await raw.program.ended).status).toBe(0)
      expect(existsSync(`${marker}.aborted`)).toBe(true)
    },
  )

  test('a client that closes only what it reads ends the server', async () => {
    const marker = join(makeFolder(), 'm')
    const raw = openRaw('asks-and-leaves.mjs', [], { env: { MARKER: marker } })
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: modern({ name: 'wait', arguments: { silent: true } }),
      }),
    )
    await until(() => existsSync(`${marker}.started`))
    raw.program.child.stdout.destroy()
    raw.write(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: modern({}) }))
    await raw.program.ended
    expect(existsSync(`${marker}.aborted`)).toBe(true)
  })

  test('a message of twenty megabytes is taken and answered', async () => {
    const raw = openRaw('asks-and-leaves.mjs')
    const { result } = await raw.ask(
      'tools/call',
      modern({ name: 'leave', arguments: { name: 'x'.repeat(20_000_000) } }),
    )
    expect(result.isError).toBe(true)
    expect(
      (await raw.ask('tools/call', modern({ name: 'slow', arguments: { ms: 1 } }))).result
        .structuredContent,
    ).toEqual({ slept: 1 })
    await raw.end()
  })
})

test('over HTTP a client that takes no stream gets its result without the lines before it [5.mcp-log]', async () => {
  const server = await serveHttp('asks-and-leaves.mjs')
  const params = { name: 'shout', arguments: { lines: 2 } }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: modern(params, {}, LOG),
  })
  const plain = await askModern(server.url, 'tools/call', params, {
    headers: { accept: 'application/json' },
    body,
  })
  expect([plain.headers['content-type'], plain.message.result.structuredContent.lines]).toEqual([
    'application/json',
    2,
  ])
  const streamed = await askModern(server.url, 'tools/call', params, { body })
  expect(readEvents(streamed.text).map(({ method }) => method)).toEqual([
    'notifications/message',
    'notifications/message',
    undefined,
  ])
  expect(
    (
      await askModern(
        server.url,
        'subscriptions/listen',
        { notifications: {} },
        { headers: { accept: 'application/json' } },
      )
    ).status,
  ).toBe(406)
  await server.stop()
})
