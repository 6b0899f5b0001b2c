import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { initialize, modern, openRaw } from './support/raw-stdio.ts'

const request = (fields: object): string => JSON.stringify({ jsonrpc: '2.0', id: 'bad', ...fields })
const call = (params: object): string => request({ method: 'tools/call', params })

describe('a server on stdin and stdout that gets nonsense [5.mcp-bad-messages]', () => {
  const raw = openRaw('workshop.mjs')
  afterAll(() => raw.end())

  test.each<[what: string, line: string | Uint8Array, code: number, words: string]>([
    ['no JSON', 'hello', -32700, 'JSON'],
    ['half of a document', '{"jsonrpc":"2.0","id":1', -32700, 'JSON'],
    ['bytes that are no UTF-8', Buffer.from('7b22a0ff7d0a', 'hex'), -32700, 'UTF-8'],
    ['a text', '"tools/list"', -32600, 'object'],
    ['null', 'null', -32600, 'object'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, 'batch'],
    ['an empty object', '{}', -32600, 'jsonrpc'],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 'jsonrpc'],
    ['a method that is no text', request({ method: 5 }), -32600, 'method'],
    ['parameters by position', request({ method: 'tools/list', params: [] }), -32600, 'params'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, 'id'],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, 'id'],
    ['neither method nor result', '{"jsonrpc":"2.0","id":1}', -32600, 'method'],
    ['an unknown method', request({ method: 'tools/cal' }), -32601, 'tools/cal'],
    ['a method of every object', request({ method: 'constructor' }), -32601, 'constructor'],
    ['a method of every object, again', request({ method: '__proto__' }), -32601, '__proto__'],
    ['a nest too deep to read', `${'['.repeat(200_000)}`, -32700, 'JSON'],
    ['a call without a name', call({ arguments: {} }), -32602, 'name'],
    [
      'a call of an unknown tool',
      call({ name: 'ad', arguments: {} }),
      -32602,
      "did you mean 'add'",
    ],
    ['a call of what every object has', call({ name: 'toString' }), -32602, 'toString'],
    ['a call of a prototype', call({ name: '__proto__' }), -32602, '__proto__'],
    ['arguments by position', call({ name: 'add', arguments: [1, 2] }), -32602, 'arguments'],
    [
      'a resource without an address',
      request({ method: 'resources/read', params: {} }),
      -32602,
      'uri',
    ],
    [
      'a prompt that is not there',
      request({ method: 'prompts/get', params: { name: 'reviw' } }),
      -32602,
      'reviw',
    ],
    [
      'a cursor that nobody gave',
      request({ method: 'tools/list', params: { cursor: 'x' } }),
      -32602,
      'cursor',
    ],
    [
      'completion of nothing',
      request({ method: 'completion/complete', params: {} }),
      -32602,
      'ref',
    ],
    [
      'a log level that does not exist',
      request({ method: 'logging/setLevel', params: { level: 'loud' } }),
      -32602,
      'level',
    ],
    [
      'discovery without metadata',
      request({ method: 'server/discover', params: {} }),
      -32602,
      '_meta',
    ],
    [
      'a version from the future',
      request({
        method: 'server/discover',
        params: modern({}, {}, { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
      }),
      -32022,
      '2099-01-01',
    ],
    [
      'a state that nobody signed',
      request({
        method: 'tools/call',
        params: modern(
          { name: 'order', arguments: {}, requestState: 'x.y.z' },
          { elicitation: {} },
        ),
      }),
      -32602,
      'requestState',
    ],
    [
      'a task of a client that knows none',
      request({ method: 'tasks/get', params: modern({ taskId: 'x' }) }),
      -32021,
      'tasks',
    ],
    [
      'an old method in a new request',
      request({ method: 'initialize', params: modern() }),
      -32601,
      'initialize',
    ],
  ])('%s is answered with an error, and the server goes on', async (_what, line, code, words) => {
    const before = raw.messages.length
    raw.write(line)
    await raw.heard(
      (message) => raw.messages.indexOf(message) >= before && message.error !== undefined,
    )
    expect((await raw.ask('ping', {}, `ping-${before}`)).result).toEqual({})
    const answers = raw.messages.slice(before).filter(({ id }) => id !== `ping-${before}`)
    expect(answers).toMatchObject([{ error: { code, message: expect.stringContaining(words) } }])
    expect(raw.strays).toEqual([])
  })

  test.each([
    ['an empty line', ''],
    ['a notification that nobody knows', '{"jsonrpc":"2.0","method":"notifications/weather"}'],
    ['a method sent as a notification', '{"jsonrpc":"2.0","method":"tools/list"}'],
    [
      'the cancellation of nothing',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}',
    ],
    ['the answer to nothing', '{"jsonrpc":"2.0","id":"ask-99","result":{}}'],
  ])('%s is not answered', async (_what, line) => {
    const before = raw.messages.length
    raw.write(line)
    await raw.ask('ping', {}, `ping-${before}`)
    expect(raw.messages.slice(before)).toHaveLength(1)
  })

  test('wrong arguments are the failure of the tool, all problems at once', async () => {
    const { result } = await raw.ask(
      'tools/call',
      { name: 'add', arguments: { a: 'x', c: 1 } },
      'wrong',
    )
    expect(result.isError).toBe(true)
    const { error } = JSON.parse(result.content[0].text)
    expect(JSON.stringify(error)).toMatch(/"a"/)
    expect(JSON.stringify(error)).toMatch(/"b"/)
    expect(JSON.stringify(error)).toMatch(/"c"/)
  })

  test('two requests with one id: the second is refused while the first runs', async () => {
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'twin',
        method: 'tools/call',
        params: { name: 'count', arguments: { to: 3 } },
      }),
    )
    raw.write(JSON.stringify({ jsonrpc: '2.0', id: 'twin', method: 'ping' }))
    await raw.heard(({ id, result }) => id === 'twin' && result !== undefined)
    expect(
      raw.messages
        .filter(({ id }) => id === 'twin')
        .map(({ error, result }) => error?.code ?? result.structuredContent),
    ).toEqual([-32600, { counted: 3 }])
  })
})

test('a line without end is refused without being kept, and what follows is answered [5.mcp-bad-messages]', async () => {
  const raw = openRaw('workshop.mjs')
  const chunk = Buffer.alloc(4 * 1024 * 1024, 'x')
  for (let written = 0; written < 40; written += 4) raw.write(chunk)
  expect((await raw.heard(({ error }) => error !== undefined)).error).toMatchObject({
    code: -32700,
    message: expect.stringContaining('too long'),
  })
  raw.write('')
  expect(
    (await raw.ask('tools/call', { name: 'add', arguments: { a: 1, b: 2 } })).result
      .structuredContent,
  ).toEqual({ sum: 3 })
  expect((await raw.end()).status).toBe(0)
  expect(raw.strays).toEqual([])
})

test('lines may come in pieces, end with CRLF, and the last one without an end [5.mcp-bad-messages]', async () => {
  const raw = openRaw('workshop.mjs')
  const line = Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'prompts/get',
      params: { name: 'review', arguments: { file: 'größe 🙂.ts' } },
    }),
  )
  for (let index = 0; index < line.length; index += 7) raw.write(line.subarray(index, index + 7))
  raw.write(
    Buffer.from(
      '\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}\r\n\r\n{"jsonrpc":"2.0","id":3,"method":"ping"}',
    ),
  )
  expect((await raw.end()).status).toBe(0)
  expect(raw.messages.map(({ id }) => id).sort()).toEqual([1, 2, 3])
  expect(raw.messages.find(({ id }) => id === 1)?.result.messages[0].content.text).toContain(
    'größe 🙂.ts',
  )
})

test('each request is taken by what it says itself, whatever came before [5.mcp-both-eras]', async () => {
  const raw = openRaw('workshop.mjs')
  const add = { name: 'add', arguments: { a: 1, b: 1 } }
  expect((await raw.ask('tools/call', add)).result.structuredContent).toEqual({ sum: 2 })
  expect((await raw.ask('server/discover', modern())).result).toMatchObject({
    resultType: 'complete',
    supportedVersions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  })
  expect((await initialize(raw)).result).toMatchObject({
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'workshop', version: '2.0.0' },
  })
  expect((await raw.ask('tools/call', modern(add))).result).toMatchObject({
    resultType: 'complete',
    structuredContent: { sum: 2 },
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'workshop' } },
  })
  expect((await raw.ask('tools/call', add)).result).not.toHaveProperty('resultType')
  expect((await initialize(raw, {}, '2024-11-05')).result.protocolVersion).toBe('2024-11-05')
  await raw.end()
})

test('whatever a request carries, it is answered exactly once, in the form of the protocol [5.mcp-bad-messages]', async () => {
  const raw = openRaw('workshop.mjs')
  const word = fc.constantFrom(
    'add',
    'order',
    'places',
    'notes://today',
    'notes://{name}',
    'review',
    '__proto__',
    '',
    'accept',
    'a',
    'x'.repeat(5000),
    '\u0000',
    '\ud800',
  )
  const key = fc.constantFrom(
    'name',
    'arguments',
    'uri',
    'cursor',
    'ref',
    'argument',
    'value',
    'type',
    'inputResponses',
    'requestState',
    'taskId',
    'notifications',
    '_meta',
    'a',
    'b',
    'level',
    'protocolVersion',
    'capabilities',
    '__proto__',
    'progressToken',
    'io.modelcontextprotocol/protocolVersion',
    'io.modelcontextprotocol/clientCapabilities',
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      word,
      fc.constantFrom(null, true, 0, -1, 1e308, '2026-07-28', [], {}),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }))
  const method = fc.constantFrom(
    'initialize',
    'ping',
    'server/discover',
    'tools/list',
    'tools/call',
    'resources/list',
    'resources/read',
    'resources/templates/list',
    'resources/subscribe',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'logging/setLevel',
    'tasks/get',
    'tasks/update',
    'tasks/cancel',
    'skills/list',
  )
  const samples = fc.sample(
    fc.record({
      method,
      params: fc.dictionary(key, value, { maxKeys: 5 }),
      isModern: fc.boolean(),
    }),
    { numRuns: 400, seed: 20261115 },
  )
  const answers = await Promise.all(
    samples.map(({ method: name, params, isModern }, index) =>
      raw.ask(
        name,
        isModern
          ? modern(params, { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } })
          : params,
        `fuzz-${index}`,
      ),
    ),
  )
  for (const { result, error } of answers) {
    expect([typeof result, typeof error].sort()).toEqual(['object', 'undefined'])
    if (error)
      expect(error).toMatchObject({
        code: expect.any(Number),
        message: expect.stringMatching(/\S/),
      })
    expect(error?.code).not.toBe(-32603)
  }
  expect((await raw.end()).status).toBe(0)
  expect(raw.strays).toEqual([])
  expect(raw.messages.filter(({ id }) => String(id).startsWith('fuzz-'))).toHaveLength(400)
})
