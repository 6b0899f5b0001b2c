import type { ServerResponse } from 'node:http'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, jsonSchema, openaiModel, section, sections, tool } from 'toolable'
import type { AgentMessage, Model } from 'toolable'
import { scriptedModel } from 'toolable/testing'
import { makeFolder } from '../support/run-program.ts'
import { raw, startModelServer } from '../support/model-server.ts'
import type { Answer, Said } from '../support/model-server.ts'

let ran: unknown[] = []
const record = (name: string) =>
  tool({
    name,
    summary: 'Note what it is given',
    input: jsonSchema<object>({ type: 'object' }),
    run: (input) => (ran.push([name, input]), 'noted'),
  })
const tools = [record('note'), record('wipe')]
const toolTexts = (messages: readonly AgentMessage[]): string[] =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))

async function ask(script: readonly (Answer | Said | string)[], options: object = {}) {
  ran = []
  const server = await startModelServer(script)
  return {
    server,
    result: await agent({
      model: openaiModel({ model: 'tiny', baseUrl: server.baseUrl }),
      tools,
      ...options,
    }).run('Go'),
  }
}
const document =
  (body: string): Answer =>
  (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(body)
const whole = (message: object, finish_reason = 'tool_calls'): Answer =>
  document(
    JSON.stringify({
      choices: [
        { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason },
      ],
    }),
  )
const called = (name: string, given: unknown, id?: unknown) => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: given },
})
const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`

describe('what a model server may send', () => {
  test.each([
    ['without ids', undefined, undefined],
    ['with the same id twice', 'a', 'a'],
    ['with ids that are none', null, 7],
    ['with ids', 'a', 'b'],
  ])(
    'calls of a whole reply are as many as they are: %s [8.agent-openai-quirks]',
    async (_what, first, second) => {
      const { result } = await ask([
        whole({
          tool_calls: [
            called('note', '{"a":1}', first),
            called('wipe', '', second),
            called('note', { b: 2 }, second),
          ],
        }),
        'ok',
      ])
      expect(ran).toEqual([
        ['note', { a: 1 }],
        ['wipe', {}],
        ['note', { b: 2 }],
      ])
      expect(
        new Set(result.messages.flatMap((message) => (message.role === 'tool' ? [message.id] : [])))
          .size,
      ).toBe(3)
    },
  )

  test.each([
    ['neither index nor id', {}],
    ['one index for all and no id', { index: 0 }],
    ['one id for all', { id: 'a' }],
  ])('whole calls in a stream with %s stay apart [8.agent-openai-quirks]', async (_what, head) => {
    const piece = (calls: readonly object[], finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls.map((call) => ({ ...call, ...head })) }, finish_reason }] })}\n\n`
    await ask([
      raw(
        `${piece([called('note', '{"a":1}'), called('wipe', '{"b":2}')])}${piece([called('note', '{"c":3}')])}${piece([], 'tool_calls')}data: [DONE]\n\n`,
      ),
      'ok',
    ])
    expect(ran).toEqual([
      ['note', { a: 1 }],
      ['wipe', { b: 2 }],
      ['note', { c: 3 }],
    ])
  })

  test('text may come as a list of parts [8.agent-openai-quirks]', async () => {
    const { result } = await ask([
      whole(
        {
          content: [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'text', text: 'Hel' },
            { type: 'text', text: 'lo.' },
            null,
            5,
          ],
        },
        'stop',
      ),
    ])
    expect(result).toMatchObject({ status: 'completed', text: 'Hello.', turns: 1 })
  })

  test('a call whose arguments were cut off before they began is not made [8.agent-cut]', async () => {
    const { result, server } = await ask([
      whole({ tool_calls: [called('note', '', 'a'), called('wipe', '', 'b')] }, 'length'),
      'Sorry.',
    ])
    expect(ran).toEqual([['note', {}]])
    expect(result.status).toBe('completed')
    expect(server.asked[1]!.body.messages.at(-1)).toMatchObject({
      role: 'tool',
      tool_call_id: 'b',
      content: expect.stringContaining(
        "'wipe' was not called: your reply was cut off before its arguments",
      ),
    })
  })

  test('a stream that ends in the middle of a call without a reason is asked for again [8.agent-cut]', async () => {
    const begun = raw(
      `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'wipe', arguments: '' } }] } }] })}\n\ndata: [DONE]\n\n`,
    )
    const { result } = await ask([begun, 'Better.'])
    expect(result).toMatchObject({ status: 'completed', text: 'Better.', turns: 1 })
    expect(ran).toEqual([])
  })

  test('what a filter stopped is not done [8.agent-ends]', async () => {
    const { result } = await ask([
      whole({ tool_calls: [called('wipe', '{}', 'a')] }, 'content_filter'),
      'never',
    ])
    expect(result).toMatchObject({
      status: 'failed',
      turns: 1,
      error: { code: 'E_CONTENT_FILTER' },
    })
    expect(result.messages.at(-1)).toMatchObject({ role: 'tool', id: 'a', failed: true })
    expect(ran).toEqual([])
  })

  test('names and keys of prototypes are names and keys [8.agent-hostile]', async () => {
    const { result } = await ask([
      whole({
        tool_calls: [
          called(
            'note',
            '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}',
            '__proto__',
          ),
          called('__proto__', '{}', 'constructor'),
          called('toString', '{}', 'toString'),
        ],
      }),
      'ok',
    ])
    expect(Object.keys((ran[0] as [string, object])[1])).toEqual(['__proto__', 'constructor'])
    expect(toolTexts(result.messages).slice(1)).toEqual([
      expect.stringContaining("there is no tool '__proto__'"),
      expect.stringContaining("there is no tool 'toString'"),
    ])
    expect({}).not.toHaveProperty('polluted')
  })

  test('arguments of 10 MB arrive, and names, ids and answers of any length end nothing [8.agent-hostile]', async () => {
    const long = 'x'.repeat(10_000_000)
    const { result } = await ask([
      whole({
        tool_calls: [
          called('note', JSON.stringify({ long }), 'a'),
          called(long.slice(0, 1_000_000), '{}', long.slice(0, 1_000_000)),
        ],
      }),
      'ok',
    ])
    expect(ran).toEqual([['note', { long }]])
    expect(result.status).toBe('completed')
    expect(toolTexts(result.messages)[1]!.length).toBeLessThan(1000)
  })

  test.each([1001, 100_000])(
    'arguments that are nested %i deep are told to the model, as text and as an object, for tools that there are and that there are not [8.agent-hostile]',
    async (levels) => {
      const file = join(makeFolder(), 'talk.jsonl')
      const body = (given: string): Answer =>
        document(
          `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"note","arguments":${given}}},{"id":"b","function":{"name":"nothing","arguments":${given}}}]},"finish_reason":"tool_calls"}]}`,
        )
      const { result } = await ask(
        [body(nested(levels)), body(JSON.stringify(nested(levels))), 'ok'],
        { transcript: file, call: { secrets: { token: 'hunter2hunter2' } } },
      )
      expect(result.status).toBe('completed')
      expect(toolTexts(result.messages)[0]).toContain('nested too deeply')
      expect(toolTexts(result.messages)).toHaveLength(4)
      expect(
        readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as { type: string }).type)
          .at(-1),
      ).toBe('end')
    },
  )

  test.each([
    ['no choice', '{"choices":[]}', 'without a choice'],
    ['null for choices', '{"choices":null}', 'without a choice'],
    ['a list', '[]', 'did not answer with JSON'],
    ['two documents', '{"choices":[{"message":{"content":"a"}}]}{}', 'did not answer with JSON'],
    ['nothing', '', 'did not answer with JSON'],
  ])(
    '%s is a failure with the name of the server [8.agent-openai-garbage]',
    async (_what, body, message) => {
      expect((await ask([document(body)])).result).toMatchObject({
        status: 'failed',
        error: {
          code: 'DEPENDENCY',
          message: expect.stringMatching(`^the model server http://127.*${message}`),
        },
      })
    },
  )

  test('calls that are no objects, and numbers of tokens that are none, do not count [8.agent-openai-garbage]', async () => {
    const { result } = await ask(
      [
        document(
          '{"choices":[{"message":{"content":"hi","tool_calls":[null,1,"x"]},"finish_reason":"stop"}],"usage":{"prompt_tokens":-5,"completion_tokens":1e400}}',
        ),
      ],
      { budget: { totalTokens: 1000 } },
    )
    expect(result).toMatchObject({ status: 'completed', text: 'hi' })
    expect(Object.values(result.usage).every((tokens) => tokens > 0 && tokens < 100)).toBe(true)
  })
})

describe('what authors may do', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a text',
      () => {
        throw 'a text'
      },
      'a text',
    ],
    [
      'null',
      () => {
        throw null
      },
      'threw null',
    ],
    [
      'an object with traps',
      () => {
        throw new Proxy(
          {},
          {
            get: () => {
              throw new Error('trap')
            },
            getPrototypeOf: () => {
              throw new Error('trap')
            },
          },
        )
      },
      'cannot be shown',
    ],
    ['a promise that is rejected with nothing', () => Promise.reject(), 'threw undefined'],
  ])('a tool that throws %s fails alone [8.agent-hostile]', async (_what, run, message) => {
    const result = await agent({
      model: scriptedModel([{ calls: [{ name: 'throws' }] }, 'ok']),
      tools: [tool({ name: 'throws', summary: 'Throw', run })],
    }).run('Go')
    expect(result.status).toBe('completed')
    expect(toolTexts(result.messages)).toEqual([expect.stringContaining(message)])
  })

  test('a prompt that takes for ever can be cancelled [8.agent-cancel]', async () => {
    const stop = new AbortController()
    const prompt = sections({
      name: 'p',
      sections: [
        section({
          key: 'a',
          title: 'A',
          body: () => (stop.abort('enough'), new Promise<string>(() => undefined)),
        }),
      ],
    })
    expect(
      await agent({ model: scriptedModel([]), prompt }).run('Go', { signal: stop.signal }),
    ).toMatchObject({ status: 'cancelled', error: { message: 'the call was cancelled: enough' } })
  })

  test('waiting for a server that is busy, and for consent, can be cancelled [8.agent-cancel]', async () => {
    const stop = new AbortController()
    const busy = await startModelServer([
      (response) => void response.writeHead(429, { 'retry-after': '50' }).end('{}'),
    ])
    const waiting = await agent({
      model: openaiModel({ model: 'tiny', baseUrl: busy.baseUrl }),
      tools,
      onEvent: ({ type }) => {
        if (type === 'retry') stop.abort()
      },
    }).run('Go', { signal: stop.signal })
    expect(waiting).toMatchObject({ status: 'cancelled', turns: 1 })
    const halt = new AbortController()
    const remove = tool({
      name: 'remove',
      summary: 'Remove',
      annotations: { destructive: true },
      run: () => void ran.push('removed'),
    })
    ran = []
    const asked = await agent({
      model: scriptedModel([{ calls: [{ name: 'remove' }, { name: 'remove' }] }]),
      tools: [remove],
      parallel: 'all',
      approve: () => (halt.abort(), new Promise<boolean>(() => undefined)),
    }).run('Go', { signal: halt.signal })
    expect(asked).toMatchObject({ status: 'cancelled', turns: 1 })
    expect(ran).toEqual([])
    expect(asked.messages.filter(({ role }) => role === 'tool')).toHaveLength(2)
  })

  test('what a tool has the model write counts, also where the model does not tell what it cost [8.agent-budget]', async () => {
    let seen: unknown
    const sums = tool({
      name: 'sums',
      summary: 'Sum up',
      run: async (_input, ctx) => {
        try {
          return await ctx.sample('Sum it up')
        } catch (error) {
          seen = error
          return 'without the model'
        }
      },
    })
    const model: Model = {
      name: 'silent',
      generate: async ({ tools: offered }) =>
        offered.length > 0
          ? {
              text: '',
              calls: [{ id: 'a', name: 'sums', arguments: {} }],
              usage: { input: 1, output: 1 },
            }
          : { text: 'x'.repeat(4000), calls: [] },
    }
    const result = await agent({ model, tools: [sums], budget: { outputTokens: 500 } }).run('Go')
    expect(result).toMatchObject({
      status: 'budget',
      turns: 1,
      error: { code: 'E_BUDGET_EXCEEDED', details: { dimension: 'output_tokens' } },
    })
    expect(seen).toMatchObject({ code: 'E_BUDGET_EXCEEDED' })
  })

  test('a conversation goes on with another model, which gets nothing that only the first understands [8.agent-loop]', async () => {
    const { server } = await ask(['ok'])
    const messages: AgentMessage[] = [
      { role: 'user', text: 'Go' },
      {
        role: 'assistant',
        text: 'Hm.',
        calls: [
          {
            id: 'a',
            name: 'note',
            arguments: '{}',
            own: { providerOptions: { anthropic: {} }, extra_content: { signature: 's' } },
          },
        ],
        own: { parts: [{ type: 'reasoning', text: 'Secret thoughts' }], reasoning_content: 'Hm' },
      },
      { role: 'tool', id: 'a', name: 'note', text: 'noted' },
      { role: 'user', text: 'And now?' },
    ]
    await agent({
      model: openaiModel({ model: 'tiny', baseUrl: server.baseUrl }),
      tools,
      retries: 0,
    }).run(messages)
    expect(server.asked[1]!.body.messages[1]).toEqual({
      role: 'assistant',
      content: 'Hm.',
      reasoning_content: 'Hm',
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          extra_content: { signature: 's' },
          function: { name: 'note', arguments: '{}' },
        },
      ],
    })
  })
})
