import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/protocol/outcome.ts'
import { readToolCall } from '../../src/protocol/providers/tool-calls.ts'
import { renderToolMessage } from '../../src/protocol/providers/tool-messages.ts'
import type { CallProvider } from '../../src/protocol/providers/tool-calls.ts'
import { answerToolCall } from '../../src/registry/tool-calls.ts'

const meta = { tool: 'x.weather', duration_ms: 1 }
const weather = (input: unknown): Outcome => ({
  ok: true,
  status: 'success',
  result: { asked: input },
  meta,
})
const tools = {
  names: () => ['weather', 'search'],
  find: (name: string) =>
    name === 'weather'
      ? {
          inputSchema: () => ({
            type: 'object',
            properties: { city: { type: 'string' }, days: { type: 'integer' } },
          }),
          call: (input: unknown) => Promise.resolve(weather(input)),
        }
      : undefined,
}
const text = '{"asked":{"city":"Oslo"}}'
const json = '{"city":"Oslo","days":null}'
const object = { city: 'Oslo', days: null }

describe('one call of each provider', () => {
  test.each<[string, unknown, unknown]>([
    [
      'OpenAI chat',
      { id: 'c1', type: 'function', function: { name: 'weather', arguments: json } },
      { role: 'tool', tool_call_id: 'c1', content: text },
    ],
    [
      'OpenAI chat as the specification writes it',
      { id: 'abc', function: { name: 'weather', arguments: json } },
      { role: 'tool', tool_call_id: 'abc', content: text },
    ],
    [
      'OpenAI responses',
      { type: 'function_call', id: 'fc', call_id: 'c2', name: 'weather', arguments: json },
      { type: 'function_call_output', call_id: 'c2', output: text },
    ],
    [
      'Anthropic',
      { type: 'tool_use', id: 't1', name: 'weather', input: object },
      { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text }] },
    ],
    [
      'Gemini',
      { functionCall: { id: 'g1', name: 'weather', args: object } },
      {
        functionResponse: {
          id: 'g1',
          name: 'weather',
          response: { output: { asked: { city: 'Oslo' } } },
        },
      },
    ],
    [
      'Gemini, the call alone',
      { name: 'weather', args: object },
      { functionResponse: { name: 'weather', response: { output: { asked: { city: 'Oslo' } } } } },
    ],
    [
      'MCP, a request',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'weather', arguments: object },
      },
      { content: [{ type: 'text', text }], structuredContent: { asked: { city: 'Oslo' } } },
    ],
    [
      'MCP, the call alone',
      { name: 'weather', arguments: object },
      { content: [{ type: 'text', text }], structuredContent: { asked: { city: 'Oslo' } } },
    ],
    [
      'AI SDK',
      { type: 'tool-call', toolCallId: 'a1', toolName: 'weather', input: object },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a1',
            toolName: 'weather',
            output: { type: 'text', value: text },
          },
        ],
      },
    ],
    [
      'AI SDK 4',
      { toolCallId: 'a1', toolName: 'weather', args: object },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a1',
            toolName: 'weather',
            output: { type: 'text', value: text },
          },
        ],
      },
    ],
  ])('[6.handle-tool-call] %s', async (_name, call, message) =>
    expect(await answerToolCall(call, tools)).toEqual(message),
  )
})

describe('whole replies', () => {
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'weather', arguments: '{}' },
  })
  test.each<[string, unknown, readonly unknown[]]>([
    [
      'the reply of the specification',
      { tool_calls: [call('1'), call('2')] },
      [{ tool_call_id: '1' }, { tool_call_id: '2' }],
    ],
    [
      'a chat completion',
      { choices: [{ message: { role: 'assistant', content: null, tool_calls: [call('1')] } }] },
      [{ tool_call_id: '1' }],
    ],
    [
      'a chat completion of words',
      { choices: [{ message: { role: 'assistant', content: 'Hello', tool_calls: null } }] },
      [],
    ],
    [
      'a response',
      {
        output: [
          { type: 'reasoning' },
          { type: 'function_call', call_id: '1', name: 'weather', arguments: '' },
          { type: 'message', content: [] },
        ],
      },
      [{ call_id: '1' }],
    ],
    [
      'a message of Anthropic',
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see' },
          { type: 'tool_use', id: '1', name: 'weather', input: {} },
          { type: 'server_tool_use', id: '2' },
        ],
      },
      [{ tool_use_id: '1' }],
    ],
    [
      'a reply of Gemini',
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ text: 'x' }, { functionCall: { name: 'weather' } }],
            },
          },
        ],
      },
      [{ functionResponse: { name: 'weather' } }],
    ],
    [
      'a reply of Ollama',
      {
        message: {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: { name: 'weather', arguments: {} } }],
        },
      },
      [{ role: 'tool', tool_name: 'weather' }],
    ],
    ['a list', [call('1'), { type: 'text', text: 'x' }, null], [{ tool_call_id: '1' }]],
    [
      'calls that are no calls',
      { tool_calls: [{ id: '1', type: 'custom', custom: { name: 'x' } }, { id: '2' }, null, 5] },
      [
        { tool_call_id: '1', content: expect.stringContaining('names no tool') as unknown },
        { tool_call_id: '2' },
        { role: 'tool' },
        { role: 'tool' },
      ],
    ],
    ['words', { role: 'assistant', content: 'Hello' }, []],
  ])('[6.handle-tool-call] %s', async (_name, reply, messages) => {
    const answered = await answerToolCall(reply, tools)
    expect(answered).toHaveLength(messages.length)
    expect(answered).toMatchObject(messages)
  })
})

describe('calls that went wrong', () => {
  const chat = (name: unknown, given: unknown) =>
    answerToolCall(
      { id: 'c', type: 'function', function: { name, arguments: given } },
      tools,
    ) as Promise<{ content: string }>
  test.each([
    ['', {}],
    ['  ', {}],
    [undefined, {}],
    [null, {}],
    ['null', {}],
    ['"{\\"city\\":\\"Oslo\\"}"', { city: 'Oslo' }],
    [{ city: 'Oslo' }, { city: 'Oslo' }],
  ])('[6.handle-bad-calls] the arguments %j are %j', async (given, input) => {
    expect(JSON.parse((await chat('weather', given)).content)).toEqual({ asked: input })
  })

  test.each([
    ['{"city": "Os', 'not JSON'],
    ['{city: 1}', 'not JSON'],
    ['[1]', 'a list'],
    ['5', 'a number'],
    ['"x"', 'a string'],
    [5, 'a number'],
  ])(
    '[6.handle-bad-calls] the arguments %j are told to be %s, with the way to repair them',
    async (given, words) => {
      const { error } = JSON.parse((await chat('weather', given)).content) as {
        error: { code: string; message: string; suggestion: { fix: string } }
      }
      expect(error).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(words) as unknown,
        suggestion: { fix: expect.stringContaining('JSON object') as unknown },
      })
    },
  )

  test('[6.handle-bad-calls] an unknown tool is told with the one that was meant, or with those that there are', async () => {
    expect((await chat('wether', '{}')).content).toContain("did you mean 'weather'?")
    expect((await chat('nothing_like_it', '{}')).content).toContain('weather, search')
    expect((await chat(undefined, '{}')).content).toContain('names no tool')
  })

  test('a tool that throws against its word is a failure like any other', async () => {
    const broken = {
      names: () => ['x'],
      find: () => ({
        inputSchema: () => Promise.reject(new Error('no schema')),
        call: () => Promise.reject(new Error('no')),
      }),
    }
    expect(
      await answerToolCall({ type: 'tool_use', id: 't', name: 'x', input: {} }, broken),
    ).toMatchObject({
      type: 'tool_result',
      is_error: true,
      content: [{ text: expect.stringContaining('no schema') as unknown }],
    })
  })

  test('what is no reply of a model throws where it is read, and is told where it is answered', async () => {
    for (const nothing of [undefined, null, 5, 'x', {}, { role: 'user', content: 'x' }]) {
      expect(() => readToolCall(nothing)).toThrow('no tool call')
      expect(await answerToolCall(nothing, tools)).toMatchObject({
        role: 'tool',
        content: expect.stringContaining('no tool call') as unknown,
      })
    }
  })
})

describe('what a model sees of an outcome', () => {
  const PROVIDERS: readonly CallProvider[] = [
    'openai',
    'openai-responses',
    'anthropic',
    'gemini',
    'mcp',
    'ai-sdk',
  ]
  const show = (outcome: Outcome) =>
    PROVIDERS.map((provider) =>
      JSON.stringify(renderToolMessage(provider, { id: 'c', name: 'weather' }, outcome)),
    )

  test('a hidden result stays hidden; message and content are seen', () => {
    for (const shown of show({
      ok: true,
      status: 'success',
      result: 'SECRET',
      message: 'Sunny',
      hidden: true,
      content: [{ type: 'text', text: 'Warm' }],
      meta,
    })) {
      expect(shown).toContain('Sunny')
      expect(shown).toContain('Warm')
      expect(shown).not.toContain('SECRET')
    }
    for (const shown of show({ ok: true, status: 'success', result: 'SECRET', hidden: true, meta }))
      expect(shown).not.toContain('SECRET')
  })

  test('a failure says code and way out, a partial outcome what failed', () => {
    const error = {
      code: 'NOT_FOUND',
      category: 'state',
      message: 'no such city',
      recoverable: true,
      retryable: false,
      suggestion: {
        action: 'retry_with_modified_input',
        fix: 'Give a city',
        applicability: 'maybe_incorrect',
      },
    } as const
    for (const shown of show({ ok: false, status: 'error', error, meta }))
      expect(shown).toMatch(/NOT_FOUND.*no such city.*Give a city/)
    for (const shown of show({
      ok: true,
      status: 'partial',
      result: [1],
      errors: [error],
      summary: { total: 2, succeeded: 1, failed: 1, recoverable_failures: 1 },
      meta,
    }))
      expect(shown).toMatch(/no such city/)
    expect(
      renderToolMessage(
        'anthropic',
        { id: 'c', name: 'x' },
        { ok: false, status: 'error', error, meta },
      ),
    ).toMatchObject({ is_error: true })
    expect(
      renderToolMessage('mcp', { id: 'c', name: 'x' }, { ok: false, status: 'error', error, meta }),
    ).toMatchObject({ isError: true })
  })

  test('pictures go to those who look at them, and are told to the others', () => {
    const outcome: Outcome = {
      ok: true,
      status: 'success',
      result: null,
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'image', data: 'AAAA', mimeType: 'image/tiff' },
        { type: 'resource', resource: { uri: 'x://y', text: 'inside' } },
      ],
      meta,
    }
    const rendered = (provider: CallProvider) =>
      renderToolMessage(provider, { id: 'c', name: 'x' }, outcome)
    expect(rendered('openai')).toEqual({
      role: 'tool',
      tool_call_id: 'c',
      content: '[image: image/png, 3 bytes]\n\n[image: image/tiff, 3 bytes]\n\ninside',
    })
    expect(rendered('openai-responses')).toMatchObject({
      output: [
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        { type: 'input_text' },
        { type: 'input_text', text: 'inside' },
      ],
    })
    expect(rendered('anthropic')).toMatchObject({
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'text' },
        { type: 'text', text: 'inside' },
      ],
    })
    expect(rendered('gemini')).toMatchObject({
      functionResponse: {
        parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
        response: { content: [expect.any(String), 'inside'] },
      },
    })
    expect(rendered('mcp')).toMatchObject({ content: outcome.content })
  })

  test('nothing to say is said in a word', () => {
    for (const shown of show({ ok: true, status: 'success', result: '', meta }))
      expect(shown).toMatch(/Done\.|"output":""/)
  })
})
