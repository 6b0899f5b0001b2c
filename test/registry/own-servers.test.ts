import type { ServerResponse } from 'node:http'
import {
  createHandler,
  fail,
  partial,
  prompt,
  registry,
  resource,
  tool,
  toNode,
  toolset,
} from 'toolable'
import type { Registry, RegistryOptions } from 'toolable'
import { afterAll, describe, expect, test } from 'vitest'
import { cleanEnvironment, fixture, makeFolder } from '../support/run-program.ts'
import { bodyOf, listen } from './support/http.ts'

type Server = NonNullable<RegistryOptions['mcpServers']>[string]

const stops: (() => Promise<unknown>)[] = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

const open = async (server: Server, more: RegistryOptions = {}): Promise<Registry> => {
  const reg = await registry({
    cwd: makeFolder(),
    env: cleanEnvironment(),
    cache: false,
    mcpServers: { own: { timeout: 30, ...server } },
    ...more,
  })
  stops.push(() => reg.close())
  return reg
}

const own = toolset({
  name: 'own',
  version: '3.0.0',
  tools: [
    tool({
      name: 'numbers',
      summary: 'Give a list',
      output: { type: 'array', items: { type: 'integer' } },
      run: () => [1, 2],
    }),
    tool({
      name: 'no',
      summary: 'Fail',
      errors: { E3101: { category: 'state', message: 'nothing there', retryable: true } },
      run: () => fail('E3101', undefined, { suggestion: 'look elsewhere' }),
    }),
    tool({
      name: 'half',
      summary: 'Half',
      run: () =>
        partial({ done: [1] }, [{ code: 'NOT_FOUND', message: 'two' }], { message: 'one of two' }),
    }),
    tool({
      name: 'ask',
      summary: 'Ask',
      async run(_input, ctx) {
        ctx.progress('asking', 10)
        const color = await ctx.ask({
          kind: 'decision',
          prompt: 'Which?',
          options: ['red', 'blue'],
        })
        return { color, word: await ctx.sample('a word') }
      },
    }),
  ],
  resources: [resource({ uri: 'notes://{id}', summary: 'A note', read: ({ id }) => ({ id }) })],
  prompts: [
    prompt({
      name: 'greet',
      summary: 'Greet',
      arguments: { who: 'Whom' },
      render: ({ who }) => `Hello ${who}`,
    }),
  ],
})

describe('[6.mcp-own-servers] a toolable server behind a registry', () => {
  test('keeps codes, partial results, questions, resources and prompts over HTTP', async () => {
    const place = await listen(toNode(createHandler(own, { token: 'secret-token' })))
    stops.push(place.stop)
    const events: unknown[] = []
    const reg = await open(
      { url: `${place.url}/mcp`, headers: { Authorization: 'Bearer secret-token' } },
      {
        answer: ({ kind, schema }) =>
          kind === 'input'
            ? { [Object.keys((schema as { properties: object }).properties)[0]!]: 'blue' }
            : true,
        sample: () => 'sky',
      },
    )
    expect(reg.problems()).toEqual([])
    expect(await reg.call('numbers')).toMatchObject({
      ok: true,
      result: [1, 2],
      meta: { tool: 'own.numbers', version: '3.0.0' },
    })
    expect(await reg.call('no')).toMatchObject({
      ok: false,
      error: {
        code: 'E3101',
        category: 'state',
        message: 'nothing there',
        retryable: true,
        suggestion: { fix: 'look elsewhere' },
      },
    })
    expect(await reg.call('half')).toMatchObject({
      ok: true,
      status: 'partial',
      result: { done: [1] },
      message: 'one of two',
      errors: [{ code: 'NOT_FOUND' }],
      summary: { total: 2 },
    })
    expect(
      await reg.call('ask', {}, { onEvent: (event) => void events.push(event) }),
    ).toMatchObject({ ok: true, result: { color: 'blue', word: 'sky' } })
    expect(events).toContainEqual({ type: 'progress', message: 'asking', percent: 10 })
    expect(await reg.call('ask', {}, { answer: () => undefined })).toMatchObject({
      ok: false,
      error: { code: 'ANSWER_REQUIRED' },
    })
    expect(await reg.readResource('notes://7')).toMatchObject({
      ok: true,
      result: { text: '{"id":"7"}' },
    })
    expect(await reg.renderPrompt('greet', { who: 'you' })).toMatchObject({
      ok: true,
      result: [{ role: 'user', content: 'Hello you' }],
    })
    const closed = await open({
      url: `${place.url}/mcp`,
      headers: { Authorization: 'Bearer wrong' },
    })
    expect(closed.problems()).toMatchObject([
      { reason: 'dead', message: expect.stringContaining('401') },
    ])
    expect(JSON.stringify(closed.problems())).not.toContain('Bearer wrong')
  })

  test('a server that restarts behind its address is found again', async () => {
    let handler = toNode(createHandler(own))
    const place = await listen((request, response) => handler(request, response))
    stops.push(place.stop)
    const reg = await open({ url: `${place.url}/mcp` })
    expect(await reg.call('numbers')).toMatchObject({ ok: true })
    handler = (_request, response) => void response.writeHead(503).end('restarting')
    expect(await reg.call('numbers')).toMatchObject({
      ok: false,
      error: { code: 'DEPENDENCY', retryable: true, message: expect.stringContaining('503') },
    })
    handler = (_request, response) => void response.writeHead(404).end('no such session')
    expect(await reg.call('numbers')).toMatchObject({
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: true,
        suggestion: { fix: 'Call again: a new session is opened' },
      },
    })
    handler = toNode(createHandler(own))
    expect(await reg.call('numbers')).toMatchObject({ ok: true, result: [1, 2] })
  })

  test('the old SSE transport is found where the newer one is not', async () => {
    const streams: ServerResponse[] = []
    const place = await listen(async (request, response) => {
      if (request.method === 'GET') {
        streams.push(response)
        return void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write('event: endpoint\ndata: /messages\n\n')
      }
      if (request.url !== '/messages') return void response.writeHead(405).end()
      const { id, method, params } = JSON.parse(await bodyOf(request)) as {
        readonly id?: number
        readonly method: string
        readonly params: { readonly protocolVersion: string }
      }
      response.writeHead(202).end()
      const results: { readonly [method: string]: object } = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'old', version: '1' },
        },
        'tools/list': { tools: [{ name: 'old', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: 'by SSE' }] },
      }
      if (id !== undefined)
        streams
          .at(-1)!
          .write(
            `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })}\n\n`,
          )
    })
    stops.push(place.stop)
    for (const type of [undefined, 'sse'] as const) {
      const reg = await open({ url: `${place.url}/sse`, ...(type && { type }) })
      expect(reg.problems()).toEqual([])
      expect(await reg.call('old', {})).toMatchObject({ ok: true, result: 'by SSE' })
      await reg.close()
    }
  })

  test.each([
    ['the newer era', []],
    ['the older era', ['--older']],
  ])('keeps them on stdio in %s', async (_era, more) => {
    const reg = await open(
      { command: process.execPath, args: [fixture('servers/own.mjs'), ...more] },
      { answer: () => ({ answer: 'Ada' }) },
    )
    expect(reg.problems()).toEqual([])
    expect(await reg.call('era')).toMatchObject({
      ok: true,
      result: more.length === 0 ? 'modern' : 'legacy',
    })
    expect(await reg.call('refuse')).toMatchObject({
      ok: false,
      error: { code: 'CONFLICT', message: 'taken', details: { by: 'you' } },
    })
    expect(await reg.call('ask')).toMatchObject({ ok: true, result: { name: 'Ada' } })
  })
})
