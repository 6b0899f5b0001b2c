import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { agent, content, jsonSchema, ok, openaiModel, tool } from 'toolable'
import type { AgentEvent, AgentMessage } from 'toolable'
import {
  cut,
  piecesOf,
  raw,
  refuse,
  say,
  startModelServer,
  stream,
} from '../support/model-server.ts'
import type { Answer, Said } from '../support/model-server.ts'

const KEY = 'sk-test-0123456789abcdef'
let ran: number[] = []
const add = tool({
  name: 'add',
  summary: 'Add two numbers',
  input: jsonSchema<{ left: number; right?: number }>({
    type: 'object',
    properties: { left: { type: 'number' }, right: { type: 'number' } },
    required: ['left'],
    additionalProperties: false,
  }),
  annotations: { readOnly: true },
  run: ({ left, right = 0 }) => (ran.push(left), { sum: left + right }),
})

type Script = readonly (Answer | Said | string)[]
async function work(script: Script, options: object = {}, model: object = {}) {
  ran = []
  const server = await startModelServer(script)
  const events: AgentEvent[] = []
  const result = await agent({
    model: openaiModel({ model: 'tiny', baseUrl: server.baseUrl, apiKey: KEY, ...model }),
    tools: [add],
    onEvent: (event) => events.push(event),
    ...options,
  }).run('Go')
  // The key is in none of what anybody sees.
  expect(JSON.stringify([result, events])).not.toContain(KEY)
  return {
    result,
    events,
    server,
    retries: events.flatMap((event) => (event.type === 'retry' ? [event] : [])),
  }
}
const call = (left: number, id?: string) => ({
  name: 'add',
  arguments: { left, right: 1 },
  ...(id !== undefined && { id }),
})

describe.each([true, false])("over OpenAI's protocol, stream: %s", (streams) => {
  test('calls in parallel are put together and answered in order [8.agent-openai]', async () => {
    const { result, server, events } = await work(
      [
        { text: 'I count.', calls: [call(1, 'a'), call(2, 'b'), call(3, 'c')] },
        { text: 'Two, three, four.' },
      ],
      {
        system: 'Count.',
        settings: { maxOutputTokens: 100, temperature: 0, stopSequences: ['END'] },
      },
      { stream: streams, headers: { 'x-team': 'blue' }, body: { seed: 7 } },
    )
    expect(result).toMatchObject({
      status: 'completed',
      text: 'Two, three, four.',
      turns: 2,
      usage: { input: 20, output: 10 },
    })
    const [first, second] = server.asked
    expect(first).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}`, 'x-team': 'blue' },
    })
    expect(first!.body).toMatchObject({
      model: 'tiny',
      seed: 7,
      max_tokens: 100,
      temperature: 0,
      stop: ['END'],
      messages: [
        { role: 'system', content: 'Count.' },
        { role: 'user', content: 'Go' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'add', parameters: { type: 'object', required: ['left'] } },
        },
      ],
    })
    expect(second!.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'I count.',
        tool_calls: ['a', 'b', 'c'].map((id, index) => ({
          id,
          type: 'function',
          function: { name: 'add', arguments: JSON.stringify({ left: index + 1, right: 1 }) },
        })),
      },
      { role: 'tool', tool_call_id: 'a', content: '{"sum":2}' },
      { role: 'tool', tool_call_id: 'b', content: '{"sum":3}' },
      { role: 'tool', tool_call_id: 'c', content: '{"sum":4}' },
    ])
    expect(events.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join('')).toBe(
      'I count.Two, three, four.',
    )
  })

  test('arguments that are no JSON, or were cut off, are told to the model and sent back as JSON [8.agent-openai]', async () => {
    const { result, server } = await work(
      [{ calls: [{ name: 'add', arguments: '{"left": 1, "ri' }], finish: 'length' }, 'Sorry.'],
      {},
      { stream: streams },
    )
    expect(result.status).toBe('completed')
    const [, said, told] = server.asked[1]!.body.messages
    expect(JSON.parse(said.tool_calls[0].function.arguments)).toEqual({
      unreadable: '{"left": 1, "ri',
    })
    expect(told.content).toContain('not JSON')
    expect(ran).toEqual([])
  })

  test.each([
    [401, { message: `Incorrect API key provided: ${KEY}` }, 'PERMISSION', 'OPENAI_API_KEY'],
    [400, { message: 'bad request' }, 'INVALID_INPUT', undefined],
    [404, { message: 'no such model' }, 'NOT_FOUND', "a model 'tiny'"],
    [
      429,
      { message: 'You exceeded your quota', code: 'insufficient_quota' },
      'PERMISSION',
      'billing',
    ],
  ])('%i is no matter of waiting [8.agent-openai-errors]', async (status, error, code, advice) => {
    const { result, retries, server } = await work([refuse(status, error)], {}, { stream: streams })
    expect(result).toMatchObject({
      status: 'failed',
      error: { code, message: expect.stringContaining(`answered ${status}`) },
    })
    if (advice !== undefined) expect(result.error!.suggestion!.fix).toContain(advice)
    expect(retries).toEqual([])
    expect(server.asked).toHaveLength(1)
  })

  test('429 and 500 are tried again, as the server says [8.agent-openai-errors]', async () => {
    const { result, retries } = await work(
      [
        refuse(429, undefined, { 'retry-after': '0' }),
        refuse(500, undefined, { 'retry-after-ms': '5' }),
        refuse(503, undefined, { 'retry-after': new Date(0).toUTCString() }),
        { text: 'Here.' },
      ],
      {},
      { stream: streams },
    )
    expect(result).toMatchObject({ status: 'completed', text: 'Here.' })
    expect(retries.map(({ wait_s, error }) => [wait_s, error.code])).toEqual([
      [0, 'RATE_LIMIT'],
      [0.005, 'DEPENDENCY'],
      [0, 'DEPENDENCY'],
    ])
    expect(
      (await work([refuse(429, undefined, { 'retry-after': '3600' })], {}, { stream: streams }))
        .result,
    ).toMatchObject({
      status: 'failed',
      error: { code: 'RATE_LIMIT', details: { retry_after_s: 3600 } },
    })
  })
})

describe('streams that go wrong', () => {
  test('one that is cut in the middle is asked for again: nothing was done, nothing is said twice [8.agent-cut]', async () => {
    const said = { text: 'One two three', calls: [call(1)] }
    const { result, retries, events } = await work([
      cut(said, 5),
      cut({ text: 'x' }, 1),
      { text: 'One two three', calls: [call(1)] },
      'Done.',
    ])
    expect(result).toMatchObject({ status: 'completed', text: 'Done.', turns: 2 })
    expect(retries.map(({ turn, discarded }) => [turn, discarded])).toEqual([
      [1, 13],
      [1, 0],
    ])
    expect(ran).toEqual([1])
    expect(result.messages).toHaveLength(4)
    expect(events.filter(({ type }) => type === 'tool_call')).toHaveLength(1)
  })

  // Side by side, because each waits half a second before it asks again.
  test.concurrent.each([
    ['garbage', raw('data: {"choices": [{"delta":\n\ndata: <html>\n\n'), 'no JSON'],
    [
      'an error in the middle',
      raw(
        'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"code":502,"message":"upstream died"}}\n\n',
      ),
      'upstream died',
    ],
    [
      'an error in words',
      raw('data: {"error":"overloaded, come back"}\n\ndata: [DONE]\n\n'),
      'overloaded, come back',
    ],
    [
      'an error in words, as a document',
      (response: ServerResponse) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"error":"overloaded"}'),
      'overloaded',
    ],
    [
      'an end without a reason',
      raw('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'),
      'broke off',
    ],
    ['nothing at all', raw(''), 'broke off'],
  ])('%s is a failure that may pass [8.agent-openai-garbage]', async (_what, bad, message) => {
    const { result, retries } = await work([bad, { text: 'Better.' }])
    expect(result).toMatchObject({ status: 'completed', text: 'Better.' })
    expect(retries).toMatchObject([
      { error: { code: 'DEPENDENCY', message: expect.stringContaining(message) } },
    ])
  })

  test('a body without an end is given up [8.agent-openai-garbage]', async () => {
    const endless: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): void => {
        while (!response.destroyed && response.write(`: ${'x'.repeat(65_536)}\n\n`));
      }
      response.on('drain', more)
      more()
    }
    const { result, server } = await work([endless])
    expect(result).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_LIMIT' } })
    await expect.poll(() => server.connections()).toBe(0)
  })

  test('a server that is silent for too long is asked again [8.agent-openai-garbage]', async () => {
    const { result, retries } = await work(
      [
        (response) => stream(response, piecesOf({ text: 'a b' }).slice(0, 2), false),
        { text: 'Back.' },
      ],
      {},
      { timeout: '300ms' },
    )
    expect(result.text).toBe('Back.')
    expect(retries).toMatchObject([
      {
        error: {
          code: 'TIMEOUT',
          message: expect.stringContaining('said nothing for 0.3 seconds'),
        },
      },
    ])
  })

  test('cancelling lets go of the connection [8.agent-cancel]', async () => {
    const server = await startModelServer([
      (response) => stream(response, piecesOf({ text: 'I think' }).slice(0, 3), false),
    ])
    const stop = new AbortController()
    const result = await agent({
      model: openaiModel({ model: 'tiny', baseUrl: server.baseUrl }),
      tools: [add],
      onEvent: ({ type }) => {
        if (type === 'text') stop.abort()
      },
    }).run('Go', { signal: stop.signal })
    expect(result.status).toBe('cancelled')
    await expect.poll(() => server.connections()).toBe(0)
  })

  test('a redirect is not followed, and nobody else gets the key [8.agent-openai-errors]', async () => {
    const other = await startModelServer(['never'])
    const { result } = await work([
      (response) =>
        void response.writeHead(307, { location: `${other.baseUrl}/chat/completions` }).end(),
    ])
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'DEPENDENCY', message: expect.stringContaining('redirects') },
    })
    expect(other.asked).toEqual([])
  })

  test('a server that is not there is told so [8.agent-openai-errors]', async () => {
    const server = await startModelServer([])
    await server.close()
    const result = await agent({
      model: openaiModel({ model: 'tiny', baseUrl: server.baseUrl }),
      tools: [add],
      retries: 0,
    }).run('Go')
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'DEPENDENCY', message: expect.stringContaining('ECONNREFUSED') },
    })
  })
})

describe('servers that are not quite OpenAI', () => {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const name = { name: 'add' }

  test.each<[string, string]>([
    [
      'no index',
      chunk({ tool_calls: [{ id: 'a', function: { ...name, arguments: '{"left":1}' } }] }) +
        chunk({ tool_calls: [{ id: 'b', function: { ...name, arguments: '{"le' } }] }) +
        chunk({ tool_calls: [{ function: { arguments: 'ft":2}' } }] }),
    ],
    [
      'one index for all',
      chunk({
        tool_calls: [{ index: 0, id: 'a', function: { ...name, arguments: '{"left":1}' } }],
      }) +
        chunk({
          tool_calls: [{ index: 0, id: 'b', function: { ...name, arguments: '{"left":2}' } }],
        }),
    ],
    [
      'the name in every piece, and objects as arguments',
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { ...name, arguments: '{"left"' } }] }) +
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { ...name, arguments: ':1}' } }] }) +
        chunk({
          tool_calls: [{ index: 1, id: 'b', function: { ...name, arguments: { left: 2 } } }],
        }),
    ],
  ])('%s [8.agent-openai-quirks]', async (_what, pieces) => {
    const { result } = await work([
      raw(`${pieces}${chunk({}, 'tool_calls')}data: [DONE]\n\n`),
      'ok',
    ])
    expect(result.status).toBe('completed')
    expect(ran).toEqual([1, 2])
  })

  test('thoughts and signatures go back to where they came from; null stands for what is left out [8.agent-openai-quirks]', async () => {
    const { server } = await work([
      raw(
        chunk({ reasoning_content: 'Hm, ' }) +
          chunk({ reasoning_content: 'one.' }) +
          chunk({
            tool_calls: [
              {
                index: 0,
                id: 'a',
                extra_content: { signature: 'xyz' },
                function: { ...name, arguments: '{"left":1,"right":null}' },
              },
            ],
          }) +
          chunk({}, 'tool_calls'),
      ),
      'ok',
    ])
    expect(server.asked[1]!.body.messages[1]).toMatchObject({
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm, one.',
      tool_calls: [{ extra_content: { signature: 'xyz' } }],
    })
  })

  test('pictures follow the tool messages, as a message of the user [8.agent-openai-quirks]', async () => {
    const draw = tool({
      name: 'draw',
      summary: 'Draw',
      run: () => ok(null, { message: 'Look.', content: content.image('AAAA', 'image/png') }),
    })
    const { server } = await work(
      [
        {
          calls: [
            { name: 'draw', arguments: {}, id: 'a' },
            { name: 'draw', arguments: {}, id: 'b' },
          ],
        },
        'ok',
      ],
      { tools: [draw] },
    )
    const messages = server.asked[1]!.body.messages.slice(2) as AgentMessage[]
    expect(messages.map(({ role }) => role)).toEqual(['tool', 'tool', 'user'])
    expect(JSON.stringify(messages[2])).toContain('data:image/png;base64,AAAA')
  })

  test('what stands behind a question mark in the base URL stays there [8.agent-openai-quirks]', async () => {
    const server = await startModelServer(['ok'])
    await agent({
      model: openaiModel({ model: 'tiny', baseUrl: `${server.baseUrl}/?api-version=7` }),
      tools: [add],
    }).run('Go')
    expect(server.asked[0]!.url).toBe('/v1/chat/completions?api-version=7')
  })

  test('usage that is not told is estimated [8.agent-openai-quirks]', async () => {
    const { events } = await work([say({ text: 'Hello.', usage: null })])
    expect(events.find(({ type }) => type === 'usage')).toMatchObject({ estimated: true })
  })
})

test('the key of the environment goes to the address of the environment, and to no other [8.agent-openai-errors]', async () => {
  const [ours, other] = await Promise.all([startModelServer(['ok']), startModelServer(['ok'])])
  const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: ours.baseUrl }
  for (const baseUrl of [undefined, other.baseUrl])
    await agent({
      model: openaiModel({ model: 'tiny', env, ...(baseUrl !== undefined && { baseUrl }) }),
      tools: [add],
    }).run('Go')
  expect([ours, other].map(({ asked }) => asked[0]!.headers.authorization)).toEqual([
    `Bearer ${KEY}`,
    undefined,
  ])
})

test('what cannot be a server, or a key, is refused at once [8.agent-openai-errors]', () => {
  const bad: [object, RegExp][] = [
    [{ model: '' }, /must say what the server calls the model/],
    [{ model: 'm', baseUrl: 'localhost:1234' }, /must begin with http/],
    [
      { model: 'm', baseUrl: `http://me:${KEY}@127.0.0.1/v1` },
      /may hold no name and password: 127\.0\.0\.1/,
    ],
    [{ model: 'm', apiKey: `${KEY}\nx` }, /characters that no key has/],
    [{ model: 'm', env: {} }, /there is no key for OpenAI/],
    [{ model: 'm', key: KEY }, /no option 'key'/],
  ]
  for (const [options, message] of bad) {
    expect(() => openaiModel(options as never)).toThrow(message)
    expect(() => openaiModel(options as never)).not.toThrow(KEY)
  }
})
