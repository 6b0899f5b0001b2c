import { describe, expect, test } from 'vitest'
import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2Content,
  LanguageModelV2FinishReason,
  LanguageModelV2StreamPart,
} from '@ai-sdk/provider'
import { APICallError } from 'ai'
import { MockLanguageModelV3, convertArrayToReadableStream, simulateReadableStream } from 'ai/test'
import { agent, aiSdkModel, content, jsonSchema, ok, tool } from 'toolable'
import type { AgentEvent } from 'toolable'

const usage = (input: number, output: number) => ({
  inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: output, reasoning: undefined },
})
const finish = (unified: 'stop' | 'tool-calls' | 'length') => ({
  type: 'finish' as const,
  finishReason: { unified, raw: unified },
  usage: usage(10, 5),
})
const text = (...words: string[]) => [
  { type: 'text-start' as const, id: 't' },
  ...words.map((delta) => ({ type: 'text-delta' as const, id: 't', delta })),
  { type: 'text-end' as const, id: 't' },
]
const called = (toolCallId: string, input: string) => ({
  type: 'tool-call' as const,
  toolCallId,
  toolName: 'add',
  input,
})

const add = tool({
  name: 'add',
  summary: 'Add two numbers',
  input: jsonSchema<{ left: number; right: number }>({
    type: 'object',
    properties: { left: { type: 'number' }, right: { type: 'number' } },
    required: ['left', 'right'],
    additionalProperties: false,
  }),
  run: ({ left, right }) => ({ sum: left + right }),
})
const draw = tool({
  name: 'draw',
  summary: 'Draw',
  run: () => ok(null, { message: 'Look.', content: content.image('AAAA', 'image/png') }),
})

type Parts = Parameters<typeof convertArrayToReadableStream>[0]
const streaming = (...turns: Parts[]): MockLanguageModelV3 =>
  new MockLanguageModelV3({
    doStream: turns.map((chunks) => ({ stream: convertArrayToReadableStream(chunks) as never })),
  })

describe('over the providers of the ai package', () => {
  test('streams text, runs calls and shows the provider what it said [8.agent-ai-sdk]', async () => {
    const mock = streaming(
      [
        { type: 'stream-start', warnings: [] },
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r', providerMetadata: { mock: { signature: 's' } } },
        ...text('I ', 'count.'),
        { ...called('a', '{"left":1,"right":2}'), providerMetadata: { mock: { thought: 't' } } },
        finish('tool-calls'),
      ],
      [...text('Three.'), finish('stop')],
    )
    const events: AgentEvent[] = []
    const result = await agent({
      model: aiSdkModel(mock),
      tools: [add],
      system: 'Count.',
      onEvent: (event) => events.push(event),
    }).run('1 + 2?')
    expect(result).toMatchObject({
      status: 'completed',
      text: 'Three.',
      turns: 2,
      usage: { input: 20, output: 10 },
    })
    expect(events.flatMap((event) => (event.type === 'text' ? [event.delta] : []))).toEqual([
      'I ',
      'count.',
      'Three.',
    ])
    expect(mock.doStreamCalls[0]).toMatchObject({
      tools: [
        {
          type: 'function',
          name: 'add',
          inputSchema: { type: 'object', required: ['left', 'right'] },
        },
      ],
      prompt: [
        { role: 'system', content: 'Count.' },
        { role: 'user', content: [{ type: 'text', text: '1 + 2?' }] },
      ],
    })
    expect(mock.doStreamCalls[1]!.prompt.slice(2)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { mock: { signature: 's' } } },
          { type: 'text', text: 'I count.' },
          {
            type: 'tool-call',
            toolCallId: 'a',
            toolName: 'add',
            input: { left: 1, right: 2 },
            providerOptions: { mock: { thought: 't' } },
          },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'add',
            output: { type: 'text', value: '{"sum":3}' },
          },
        ],
      },
    ])
  })

  test('the same without a stream [8.agent-ai-sdk]', async () => {
    const mock = new MockLanguageModelV3({
      doGenerate: [
        {
          content: [
            { type: 'text', text: 'I look.' },
            called('a', '{"left":'),
            called('b', '{"left":1,"right":2}'),
          ],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage: usage(10, 5),
          warnings: [],
        },
        {
          content: [{ type: 'text', text: 'Three.' }],
          finishReason: { unified: 'stop', raw: undefined },
          usage: usage(10, 5),
          warnings: [],
        },
      ],
    })
    const result = await agent({ model: aiSdkModel(mock, { stream: false }), tools: [add] }).run(
      '1 + 2?',
    )
    expect(result).toMatchObject({ status: 'completed', text: 'Three.' })
    expect(mock.doGenerateCalls[1]!.prompt.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'text' },
          { type: 'tool-call', input: { unreadable: '{"left":' } },
          { type: 'tool-call', input: { left: 1, right: 2 } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            toolCallId: 'a',
            output: { type: 'error-text', value: expect.stringContaining('not JSON') },
          },
          { toolCallId: 'b', output: { type: 'text', value: '{"sum":3}' } },
        ],
      },
    ])
  })

  test('pictures of tools are shown [8.agent-ai-sdk]', async () => {
    const mock = streaming(
      [{ ...called('a', '{}'), toolName: 'draw' }, finish('tool-calls')],
      [...text('Nice.'), finish('stop')],
    )
    await agent({ model: aiSdkModel(mock), tools: [draw] }).run('Draw')
    expect(mock.doStreamCalls[1]!.prompt.at(-1)).toMatchObject({
      content: [
        {
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 'Look.' },
              { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
            ],
          },
        },
      ],
    })
  })

  test.each([true, false])(
    'a model of the version before, with words and numbers where the new one has objects, does the same; stream: %s [8.agent-ai-sdk]',
    async (stream) => {
      const asked: LanguageModelV2CallOptions[] = []
      const turns: {
        readonly content: LanguageModelV2Content[]
        readonly finishReason: LanguageModelV2FinishReason
      }[] = [
        {
          content: [
            { type: 'reasoning', text: 'Hm.', providerMetadata: { old: { signature: 's' } } },
            { type: 'text', text: 'I look.' },
            called('a', '{"left":1,"right":2}'),
            { ...called('b', '{}'), toolName: 'draw' },
          ],
          finishReason: 'tool-calls',
        },
        { content: [{ type: 'text', text: 'Once upon' }], finishReason: 'length' },
      ]
      const take = (options: LanguageModelV2CallOptions) => ({
        ...turns[asked.push(options) - 1]!,
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
        warnings: [],
      })
      const old: LanguageModelV2 = {
        specificationVersion: 'v2',
        provider: 'old',
        modelId: 'one',
        supportedUrls: {},
        doGenerate: async (options) => take(options),
        doStream: async (options) => {
          const { content: parts, finishReason, usage: used } = take(options)
          const pieces = parts.flatMap((part, id): LanguageModelV2StreamPart[] =>
            part.type === 'text' || part.type === 'reasoning'
              ? [
                  { type: `${part.type}-start`, id: `${id}` },
                  { type: `${part.type}-delta`, id: `${id}`, delta: part.text },
                  {
                    type: `${part.type}-end`,
                    id: `${id}`,
                    ...(part.providerMetadata && { providerMetadata: part.providerMetadata }),
                  },
                ]
              : [part as LanguageModelV2StreamPart],
          )
          return {
            stream: convertArrayToReadableStream([
              { type: 'stream-start', warnings: [] },
              ...pieces,
              { type: 'finish', finishReason, usage: used },
            ]),
          }
        },
      }
      const result = await agent({ model: aiSdkModel(old, { stream }), tools: [add, draw] }).run(
        '1 + 2?',
      )
      expect(result).toMatchObject({
        status: 'failed',
        text: 'Once upon',
        usage: { input: 20, output: 10 },
        error: { code: 'OUTPUT_LIMIT' },
      })
      expect(asked[0]).toMatchObject({
        tools: [{ type: 'function', name: 'add' }, { name: 'draw' }],
        toolChoice: { type: 'auto' },
      })
      expect(asked[1]!.prompt.slice(1)).toEqual([
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.', providerOptions: { old: { signature: 's' } } },
            { type: 'text', text: 'I look.' },
            { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: { left: 1, right: 2 } },
            { type: 'tool-call', toolCallId: 'b', toolName: 'draw', input: {} },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'a',
              toolName: 'add',
              output: { type: 'text', value: '{"sum":3}' },
            },
            {
              type: 'tool-result',
              toolCallId: 'b',
              toolName: 'draw',
              output: {
                type: 'content',
                value: [
                  { type: 'text', text: 'Look.' },
                  { type: 'media', data: 'AAAA', mediaType: 'image/png' },
                ],
              },
            },
          ],
        },
      ] satisfies LanguageModelV2CallOptions['prompt'])
    },
  )

  test('errors of the provider say whether to try again [8.agent-ai-sdk-errors]', async () => {
    const failing = (statusCode: number, isRetryable: boolean) =>
      new APICallError({
        message: `answered ${statusCode}`,
        url: 'http://127.0.0.1',
        requestBodyValues: {},
        statusCode,
        isRetryable,
        responseHeaders: { 'retry-after': statusCode === 503 ? new Date(0).toUTCString() : '0' },
      })
    const replies: (Error | Parts)[] = [
      failing(429, true),
      failing(500, true),
      [...text('half')],
      [{ type: 'error', error: failing(503, true) }],
      [...text('Here.'), finish('stop')],
    ]
    const mock = new MockLanguageModelV3({
      doStream: async () => {
        const next = replies.shift()!
        if (next instanceof Error) throw next
        return { stream: convertArrayToReadableStream(next) as never }
      },
    })
    const events: AgentEvent[] = []
    expect(
      await agent({
        model: aiSdkModel(mock),
        tools: [add],
        retries: 4,
        onEvent: (event) => events.push(event),
      }).run('Go'),
    ).toMatchObject({ status: 'completed', text: 'Here.' })
    expect(
      events.flatMap((event) =>
        event.type === 'retry' ? [[event.error.code, event.error.details?.['retry_after_s']]] : [],
      ),
    ).toEqual([
      ['RATE_LIMIT', 0],
      ['DEPENDENCY', 0],
      ['DEPENDENCY', undefined],
      ['DEPENDENCY', 0],
    ])
    const refused = new MockLanguageModelV3({
      doStream: async () => {
        throw failing(401, false)
      },
    })
    expect(await agent({ model: aiSdkModel(refused), tools: [add] }).run('Go')).toMatchObject({
      status: 'failed',
      error: { code: 'PERMISSION', message: expect.stringContaining('answered 401') },
    })
  })

  test('cancelling cancels the stream [8.agent-cancel]', async () => {
    const stop = new AbortController()
    const mock = new MockLanguageModelV3({
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: 'text-delta', id: 't', delta: 'a' },
            ...text('b'),
            finish('stop'),
          ] as never[],
          chunkDelayInMs: 60_000,
          initialDelayInMs: 0,
        }),
      }),
    })
    const running = agent({
      model: aiSdkModel(mock),
      tools: [add],
      onEvent: ({ type }) => {
        if (type === 'text') stop.abort()
      },
    }).run('Go', { signal: stop.signal })
    expect(await running).toMatchObject({ status: 'cancelled' })
    expect(mock.doStreamCalls[0]!.abortSignal!.aborted).toBe(true)
  })

  test('what is no language model is refused at once [8.agent-ai-sdk-errors]', () => {
    for (const bad of [
      'openai/gpt-5',
      {},
      undefined,
      { ...new MockLanguageModelV3(), specificationVersion: 'v9' },
    ])
      expect(() => aiSdkModel(bad as never)).toThrow(/takes a language model of the ai package/)
  })
})
