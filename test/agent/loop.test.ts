import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  agent,
  content,
  createState,
  fail,
  jsonSchema,
  ok,
  registry,
  tool,
  toolset,
  ToolError,
} from 'toolable'
import type { AgentEvent, AgentMessage, Interaction, Model } from 'toolable'
import { scriptedModel } from 'toolable/testing'
import { makeFolder } from '../support/run-program.ts'

const add = tool({
  name: 'add',
  summary: 'Add two numbers',
  input: jsonSchema<{ left: number; right: number }>({
    type: 'object',
    properties: { left: { type: 'number' }, right: { type: 'number' } },
    required: ['left', 'right'],
    additionalProperties: false,
  }),
  annotations: { readOnly: true },
  run: ({ left, right }) => ({ sum: left + right }),
})
const remove = tool({
  name: 'remove',
  summary: 'Remove everything',
  annotations: { destructive: true },
  run: () => 'removed',
})
const breaks = tool({
  name: 'breaks',
  summary: 'Break',
  run: () => fail('E_MINE', 'it broke', { suggestion: 'Use add' }),
})

const use = (name: string, given: unknown = {}, id?: string) => ({
  name,
  arguments: given,
  ...(id !== undefined && { id }),
})
const toolTexts = (messages: readonly AgentMessage[]): string[] =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
const lastAsked = (model: ReturnType<typeof scriptedModel>): readonly AgentMessage[] =>
  model.requests.at(-1)!.messages

describe('the loop', () => {
  test('calls what the model asks for, and ends with its answer [8.agent-loop]', async () => {
    const model = scriptedModel([
      { text: 'Let me see.', calls: [use('add', '{"left": 2, "right": 3}')] },
      'It is 5.',
    ])
    const result = await agent({ model, tools: [add], system: 'You count.' }).run('What is 2 + 3?')
    expect(result).toMatchObject({
      status: 'completed',
      text: 'It is 5.',
      turns: 2,
      usage: { input: 20, output: 10 },
    })
    expect(result).not.toHaveProperty('error')
    expect(result.messages).toEqual([
      { role: 'user', text: 'What is 2 + 3?' },
      {
        role: 'assistant',
        text: 'Let me see.',
        calls: [{ id: 'call_1_1', name: 'add', arguments: '{"left": 2, "right": 3}' }],
      },
      { role: 'tool', id: 'call_1_1', name: 'add', text: '{"sum":5}' },
      { role: 'assistant', text: 'It is 5.', calls: [] },
    ])
    expect(model.requests[0]).toMatchObject({
      messages: [{ role: 'system', text: 'You count.' }, { role: 'user' }],
      tools: [{ name: 'add', manifest: { summary: 'Add two numbers' } }],
    })
  })

  test('takes a toolset, a registry with a filter, and a conversation that goes on [8.agent-loop]', async () => {
    const set = toolset({ name: 'maths', tools: [add, breaks] })
    const first = await agent({ model: scriptedModel(['Hello.']), tools: set }).run('Hi')
    const project = await registry({ tools: [set], cache: false })
    const model = scriptedModel([{ calls: [use('add', { left: 1, right: 1 })] }, '2'])
    const second = await agent({ model, registry: project, filter: 'maths.add' }).run([
      ...first.messages,
      { role: 'user', text: '1 + 1?' },
    ])
    await project.close()
    expect(second).toMatchObject({ status: 'completed', text: '2' })
    expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(['add'])
    expect(lastAsked(model).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
    ])
  })

  test('whatever is wrong with a call is told to the model with advice, and never ends a run [8.agent-bad-calls]', async () => {
    const unmade = tool({ name: 'unmade', summary: 'Has no handler' })
    const model = scriptedModel([
      {
        calls: [
          use('add', '{"left": 1,'),
          use('add', { left: 'one', right: 1 }),
          use('ad', {}),
          use('nothing_like_it', {}),
          use('unmade'),
          use('breaks'),
          use('', {}),
          use('add', [1]),
        ],
      },
      'I give up.',
    ])
    const result = await agent({ model, tools: [add, breaks, unmade] }).run('Try')
    const told = toolTexts(result.messages).map(
      (text) =>
        JSON.parse(text) as {
          error: { code: string; message: string; suggestion?: { fix: string } }
        },
    )
    expect(told.map(({ error }) => error.code)).toEqual([
      'INVALID_INPUT',
      'INVALID_INPUT',
      'NOT_FOUND',
      'NOT_FOUND',
      'PRECONDITION',
      'E_MINE',
      'INVALID_INPUT',
      'INVALID_INPUT',
    ])
    expect(told[0]!.error.suggestion!.fix).toContain('one complete JSON object')
    expect(told[2]!.error).toMatchObject({
      message: "there is no tool 'ad'; did you mean 'add'?",
      suggestion: { fix: "Call 'add'" },
    })
    expect(told[3]!.error.suggestion!.fix).toContain('add, breaks, unmade')
    expect(told[5]!.error.suggestion!.fix).toBe('Use add')
    expect(
      result.messages.filter((message) => message.role === 'tool' && message.failed),
    ).toHaveLength(8)
    expect(result.status).toBe('completed')
  })

  test('calls without an id, or with one that is there already, get their own [8.agent-bad-calls]', async () => {
    const model: Model = {
      name: 'same',
      generate: async ({ messages }) =>
        messages.length > 1
          ? { text: 'done', calls: [] }
          : {
              text: '',
              calls: ['a', 'a', '', ''].map((id, index) => ({
                id,
                name: 'add',
                arguments: { left: index, right: 0 },
              })),
            },
    }
    const { messages } = await agent({ model, tools: [add] }).run('Go')
    expect(
      messages.flatMap((message) => (message.role === 'tool' ? [[message.id, message.text]] : [])),
    ).toEqual([
      ['a', '{"sum":0}'],
      ['a_2', '{"sum":1}'],
      ['call_1_3', '{"sum":2}'],
      ['call_1_4', '{"sum":3}'],
    ])
    expect(messages[1]).toMatchObject({
      calls: [{ id: 'a' }, { id: 'a_2' }, { id: 'call_1_3' }, { id: 'call_1_4' }],
    })
  })

  test('an endless loop ends after its turns, and a call that leads nowhere gets advice [8.agent-endless]', async () => {
    const model: Model = {
      name: 'stubborn',
      generate: async () => ({
        text: 'Again.',
        calls: [{ id: 'x', name: 'add', arguments: { right: 1, left: 1 } }],
      }),
    }
    const result = await agent({ model, tools: [add], maxTurns: 4 }).run('Go')
    expect(result).toMatchObject({
      status: 'max_turns',
      turns: 4,
      text: 'Again.',
      error: { code: 'E_MAX_TURNS', message: 'the model was not done after 4 turns' },
    })
    expect(toolTexts(result.messages).map((text) => text.includes('this very call'))).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(result.messages).toHaveLength(9)
  })

  test('a reply that is empty is asked for again once; twice is a failure [8.agent-ends]', async () => {
    const nudged = scriptedModel(['', 'Here.'])
    expect(await agent({ model: nudged, tools: [add] }).run('Go')).toMatchObject({
      status: 'completed',
      text: 'Here.',
      turns: 2,
    })
    expect(lastAsked(nudged)).toMatchObject([
      { role: 'user', text: 'Go' },
      { role: 'user', text: expect.stringContaining('empty') },
    ])
    expect(await agent({ model: scriptedModel(['', ' ']), tools: [add] }).run('Go')).toMatchObject({
      status: 'failed',
      error: { code: 'DEPENDENCY', message: 'the model gave an empty answer twice' },
    })
  })

  test('an answer that was cut off or filtered is no success [8.agent-ends]', async () => {
    expect(
      await agent({
        model: scriptedModel([{ text: 'Once upon', finish: 'length' }]),
        tools: [add],
      }).run('Go'),
    ).toMatchObject({ status: 'failed', text: 'Once upon', error: { code: 'OUTPUT_LIMIT' } })
    expect(
      await agent({
        model: scriptedModel([{ text: '', finish: 'content_filter' }]),
        tools: [add],
      }).run('Go'),
    ).toMatchObject({ status: 'failed', error: { code: 'E_CONTENT_FILTER' } })
  })

  test('outputs that are too long are cut in the middle with a notice; pictures go along [8.agent-outputs]', async () => {
    const long = tool({
      name: 'long',
      summary: 'Say much',
      run: () => `begin ${'x'.repeat(5000)} end`,
    })
    const draw = tool({
      name: 'draw',
      summary: 'Draw',
      run: () =>
        ok(null, {
          message: 'Look.',
          content: content.image(Buffer.from('png').toString('base64'), 'image/png'),
        }),
    })
    const result = await agent({
      model: scriptedModel([{ calls: [use('long'), use('draw')] }, 'ok']),
      tools: [long, draw],
      outputLimit: 1000,
    }).run('Go')
    const [text] = toolTexts(result.messages)
    expect(text).toMatch(
      /^begin x+\n\n\[4010 of 5010 characters were left out here.*\]\n\nx+ end$/s,
    )
    expect(text!.length).toBeLessThan(1300)
    expect(result.messages[3]).toMatchObject({
      text: 'Look.',
      content: [{ type: 'image', mimeType: 'image/png' }],
    })
  })
})

describe('calls side by side', () => {
  // Tells how many ran at the same time; the slow one waits until so many others have ended.
  function watched(
    annotations: { readonly readOnly?: boolean },
    name: string,
    seen: { now: number; most: number; order: string[] },
    others: number,
  ) {
    return tool({
      name,
      summary: 'Wait a little',
      annotations,
      input: jsonSchema<{ id: string }>({
        type: 'object',
        properties: { id: { type: 'string' } },
        required: ['id'],
      }),
      async run({ id }) {
        seen.now += 1
        seen.most = Math.max(seen.most, seen.now)
        await new Promise((resolve) => setTimeout(resolve, 5))
        if (id === 'slow') await expect.poll(() => seen.order.length).toBeGreaterThanOrEqual(others)
        seen.now -= 1
        seen.order.push(id)
        return id
      },
    })
  }
  const replies = (name: string) => [
    { calls: ['slow', 'b', 'c'].map((id) => use(name, { id })) },
    'done',
  ]

  test.each([
    ['safe', 'read', 3],
    ['safe', 'write', 1],
    ['all', 'write', 3],
    [false, 'read', 1],
  ] as const)(
    'parallel %s: of %s tools %i run at the same time, and messages keep their order [8.agent-parallel]',
    async (parallel, name, most) => {
      const seen = { now: 0, most: 0, order: [] as string[] }
      const others = most === 1 ? 0 : 2
      const tools = [
        watched({ readOnly: true }, 'read', seen, others),
        watched({}, 'write', seen, others),
      ]
      const { messages } = await agent({
        model: scriptedModel(replies(name)),
        tools,
        parallel,
      }).run('Go')
      expect(seen.most).toBe(most)
      expect(toolTexts(messages)).toEqual(['slow', 'b', 'c'])
      expect(seen.order).toEqual(most === 1 ? ['slow', 'b', 'c'] : ['b', 'c', 'slow'])
    },
  )

  test('what stands before a call that changes something happens before it [8.agent-parallel]', async () => {
    const seen = { now: 0, most: 0, order: [] as string[] }
    const tools = [watched({ readOnly: true }, 'read', seen, 1), watched({}, 'write', seen, 1)]
    await agent({
      model: scriptedModel([
        {
          calls: [
            use('read', { id: 'slow' }),
            use('read', { id: 'b' }),
            use('write', { id: 'w' }),
            use('read', { id: 'after' }),
          ],
        },
        'done',
      ]),
      tools,
    }).run('Go')
    expect(seen.order).toEqual(['b', 'slow', 'w', 'after'])
  })
})

describe('consent', () => {
  const replies = [{ calls: [use('remove')] }, 'done']

  test('without anybody to ask a destructive tool does not run, and the model is told [8.agent-approval]', async () => {
    const { messages } = await agent({ model: scriptedModel(replies), tools: [remove] }).run('Go')
    expect(toolTexts(messages)[0]).toContain('CONFIRMATION_REQUIRED')
  })

  test('approve decides, else answer does [8.agent-approval]', async () => {
    const asked: unknown[] = []
    const events: AgentEvent[] = []
    const yes = await agent({
      model: scriptedModel(replies),
      tools: [remove],
      approve: ({ tool: name, input }) => (asked.push([name, input]), true),
      onEvent: (event) => events.push(event),
    }).run('Go')
    const no = await agent({
      model: scriptedModel(replies),
      tools: [remove],
      answer: ({ kind, prompt }: Interaction) => (asked.push([kind, prompt]), false),
    }).run('Go')
    const nobody = await agent({
      model: scriptedModel(replies),
      tools: [remove],
      approve: () => undefined,
    }).run('Go')
    const always = await agent({
      model: scriptedModel(replies),
      tools: [remove],
      approve: true,
    }).run('Go')
    expect([yes, no, nobody, always].map(({ messages }) => toolTexts(messages)[0])).toEqual([
      'removed',
      expect.stringContaining('PERMISSION'),
      expect.stringContaining('CONFIRMATION_REQUIRED'),
      'removed',
    ])
    expect(asked).toEqual([
      ['remove', {}],
      ['confirm', 'remove is destructive. Run it with {}?'],
    ])
    expect(events.filter(({ type }) => type === 'approval')).toMatchObject([
      { name: 'remove', prompt: expect.any(String) },
      { name: 'remove', approved: true },
    ])
  })
})

describe('limits', () => {
  const once = (more: object = {}) => ({ calls: [use('add', { left: 1, right: 1 })], ...more })

  test('a budget of tokens or calls ends the run, and says which [8.agent-budget]', async () => {
    const tokens = await agent({
      model: scriptedModel([once({ usage: { input: 90, output: 20 } }), 'late']),
      tools: [add],
      budget: { totalTokens: 100 },
    }).run('Go')
    expect(tokens).toMatchObject({
      status: 'budget',
      turns: 1,
      usage: { input: 90, output: 20 },
      error: {
        code: 'E_BUDGET_EXCEEDED',
        details: { dimension: 'total_tokens', limit: 100, used: 110 },
      },
    })
    // The conversation can go on: the call that was not made has an answer.
    expect(tokens.messages.at(-1)).toMatchObject({ role: 'tool', failed: true })
    const calls = await agent({
      model: scriptedModel([once(), once(), 'late']),
      tools: [add],
      budget: { calls: 1 },
    }).run('Go')
    expect(calls).toMatchObject({
      status: 'budget',
      turns: 2,
      error: { details: { dimension: 'calls' } },
    })
  })

  test('tokens are estimated where the model does not tell [8.agent-budget]', async () => {
    const events: AgentEvent[] = []
    const model: Model = {
      name: 'silent',
      generate: async () => ({ text: 'x'.repeat(4000), calls: [] }),
    }
    expect(
      await agent({
        model,
        tools: [add],
        budget: { outputTokens: 500 },
        onEvent: (event) => events.push(event),
      }).run('Go'),
    ).toMatchObject({ status: 'budget', error: { details: { dimension: 'output_tokens' } } })
    expect(events.find(({ type }) => type === 'usage')).toMatchObject({ estimated: true })
  })

  test('a budget of time ends a model that thinks for ever [8.agent-budget]', async () => {
    const model: Model = { name: 'slow', generate: () => new Promise(() => undefined) }
    expect(await agent({ model, tools: [add], budget: { time: '50ms' } }).run('Go')).toMatchObject({
      status: 'budget',
      error: { code: 'TIMEOUT', details: { dimension: 'time' } },
    })
  })

  test('a signal cancels in the middle of what the model says, and of what a tool does [8.agent-cancel]', async () => {
    const stop = new AbortController()
    const model: Model = {
      name: 'talks',
      generate: (_request, { onText }) => (
        onText?.('I '),
        stop.abort('enough'),
        new Promise(() => undefined)
      ),
    }
    expect(await agent({ model, tools: [add] }).run('Go', { signal: stop.signal })).toMatchObject({
      status: 'cancelled',
      error: { code: 'CANCELLED', message: 'the call was cancelled: enough' },
    })

    const halt = new AbortController()
    let seen: AbortSignal | undefined
    const waits = tool({
      name: 'waits',
      summary: 'Wait',
      run: (_input, ctx) =>
        new Promise((resolve) => {
          seen = ctx.signal
          ctx.signal.addEventListener('abort', resolve)
          halt.abort()
        }),
    })
    const result = await agent({
      model: scriptedModel([{ calls: [use('waits'), use('waits')] }, 'late']),
      tools: [waits],
    }).run('Go', { signal: halt.signal })
    expect(result).toMatchObject({ status: 'cancelled', turns: 1 })
    expect(seen!.aborted).toBe(true)
    expect(result.messages.filter(({ role }) => role === 'tool')).toHaveLength(2)
    const before = await agent({ model: scriptedModel([]), tools: [add] }).run('Go', {
      signal: AbortSignal.abort(),
    })
    expect(before).toMatchObject({ status: 'cancelled', turns: 0 })
  })
})

describe('models that fail', () => {
  const busy = new ToolError('RATE_LIMIT', 'slow down', { details: { retry_after_s: 0 } })

  test('a failure that may pass is tried again, and others end the run [8.agent-retries]', async () => {
    const events: AgentEvent[] = []
    const model = scriptedModel([busy, busy, 'Hello.'])
    expect(
      await agent({ model, tools: [add], onEvent: (event) => events.push(event) }).run('Go'),
    ).toMatchObject({ status: 'completed', turns: 1 })
    expect(events.filter(({ type }) => type === 'retry')).toMatchObject([
      { attempt: 1, error: { code: 'RATE_LIMIT' } },
      { attempt: 2 },
    ])
    expect(
      await agent({ model: scriptedModel([busy, busy]), tools: [add], retries: 1 }).run('Go'),
    ).toMatchObject({ status: 'failed', error: { code: 'RATE_LIMIT' } })
    const final = scriptedModel([new ToolError('PERMISSION', 'no'), 'never'])
    expect(await agent({ model: final, tools: [add] }).run('Go')).toMatchObject({
      status: 'failed',
      error: { code: 'PERMISSION', message: 'no' },
    })
    expect(final.requests).toHaveLength(1)
    expect(
      await agent({
        model: scriptedModel([
          new ToolError('RATE_LIMIT', 'come back tomorrow', { details: { retry_after_s: 86_400 } }),
        ]),
        tools: [add],
      }).run('Go'),
    ).toMatchObject({ status: 'failed', error: { code: 'RATE_LIMIT' } })
  })

  test.each([
    [
      'throws a text',
      () => {
        throw 'oh'
      },
      'INTERNAL',
    ],
    ['gives nothing', async () => undefined, 'DEPENDENCY'],
    ['gives a number as text', async () => ({ text: 5, calls: [] }), 'DEPENDENCY'],
    ['gives calls that are none', async () => ({ text: '', calls: [null] }), 'DEPENDENCY'],
  ])('a model that %s fails the run [8.agent-retries]', async (_what, generate, code) => {
    expect(
      await agent({ model: { name: 'odd', generate: generate as never }, tools: [add] }).run('Go'),
    ).toMatchObject({ status: 'failed', error: { code } })
  })
})

describe('what others see', () => {
  test('events tell everything in order, and stream gives them [8.agent-events]', async () => {
    const shows = tool({
      name: 'shows',
      summary: 'Show',
      run: (_input, ctx) => (ctx.progress('half', 50), 'shown'),
    })
    const types: string[] = []
    for await (const event of agent({
      model: scriptedModel([{ text: 'I look.', calls: [use('shows')] }, 'Seen it.']),
      tools: [shows],
    }).stream('Go')) {
      types.push(event.type)
      if (event.type === 'end')
        expect(event.result).toMatchObject({ status: 'completed', text: 'Seen it.' })
    }
    expect(types).toEqual([
      'turn_start',
      'text',
      'text',
      'usage',
      'tool_call',
      'tool_progress',
      'tool_result',
      'turn_start',
      'text',
      'text',
      'usage',
      'end',
    ])
  })

  test('leaving the stream cancels the run [8.agent-events]', async () => {
    const aborted = new Promise((resolve) => {
      const model: Model = {
        name: 'endless',
        generate: (_request, { signal, onText }) =>
          new Promise(() => {
            signal.addEventListener('abort', resolve)
            onText?.('a')
          }),
      }
      void (async () => {
        for await (const event of agent({ model, tools: [add] }).stream('Go'))
          if (event.type === 'text') break
      })()
    })
    await expect(aborted).resolves.toBeDefined()
  })

  test('events show of an input what its tool leaves of it [8.agent-events]', async () => {
    const login = tool({
      name: 'login',
      summary: 'Log in',
      input: jsonSchema<{ password: string }>({
        type: 'object',
        properties: { password: { type: 'string' } },
        required: ['password'],
      }),
      redact: () => ({ password: '***' }),
      run: () => 'in',
    })
    const events: AgentEvent[] = []
    await agent({
      model: scriptedModel([{ calls: [use('login', { password: 'hunter2' })] }, 'done']),
      tools: [login],
      onEvent: (event) => {
        if (event.type !== 'end') events.push(event)
      },
    }).run('Go')
    expect(JSON.stringify(events)).not.toContain('hunter2')
    expect(JSON.stringify(events)).toContain('***')
  })

  test('secrets of the calls get to the tool, and what it makes of them to nobody [8.agent-secrets]', async () => {
    const secret = 'hunter2 is "mine"'
    const file = join(makeFolder(), 'talk.jsonl')
    const blabs = tool({
      name: 'blabs',
      summary: 'Tell',
      run: (_input, ctx) => ({
        token: ctx.secret('token'),
        encoded: Buffer.from(secret).toString('base64'),
      }),
    })
    const breaks2 = tool({
      name: 'breaks2',
      summary: 'Fail',
      run: (_input, ctx) => (ctx.progress(`with ${secret}`), fail('E_MINE', `${secret} is wrong`)),
    })
    const events: AgentEvent[] = []
    const model = scriptedModel([{ calls: [use('blabs'), use('breaks2')] }, 'done'])
    const result = await agent({
      model,
      tools: [blabs, breaks2],
      call: { secrets: { token: secret, short: 'a' } },
      transcript: file,
      onEvent: (event) => events.push(event),
    }).run('Go')
    const told = [
      JSON.stringify(result),
      JSON.stringify(events),
      JSON.stringify(model.requests.map(({ messages }) => messages)),
      readFileSync(file, 'utf8'),
    ]
    for (const text of told) expect(text).not.toMatch(/hunter2|aHVudGVyMi/)
    expect(toolTexts(result.messages)).toEqual([
      '{"token":"[REDACTED]","encoded":"[REDACTED]"}',
      expect.stringContaining('[REDACTED] is wrong'),
    ])
  })

  test('an observer that throws ends the run as failed, and disturbs no call [8.agent-events]', async () => {
    const result = await agent({
      model: scriptedModel([{ calls: [use('add', { left: 1, right: 1 })] }, 'late']),
      tools: [add],
      onEvent: ({ type }) => {
        if (type === 'tool_call') throw new Error('I cannot look')
      },
    }).run('Go')
    expect(result).toMatchObject({
      status: 'failed',
      turns: 1,
      error: { code: 'INTERNAL', message: 'onEvent of the agent failed: I cannot look' },
    })
    expect(toolTexts(result.messages)).toEqual(['{"sum":2}'])
  })

  test.each(['turn_start', 'usage', 'end'])(
    'also one that throws in the last turn, at %s [8.agent-events]',
    async (when) => {
      const result = await agent({
        model: scriptedModel(['Done.']),
        tools: [add],
        onEvent: ({ type }) => {
          if (type === when) throw new Error('I cannot look')
        },
      }).run('Go')
      expect(result).toMatchObject({
        status: 'failed',
        text: 'Done.',
        error: { code: 'INTERNAL', message: 'onEvent of the agent failed: I cannot look' },
      })
    },
  )

  test('what is done is in the transcript while a call beside it still runs [8.agent-transcript]', async () => {
    const file = join(makeFolder(), 'talk.jsonl')
    const messages = () =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message?: AgentMessage }).message)
        .filter((message) => message?.role === 'tool')
    const waits = tool({
      name: 'waits',
      summary: 'Wait for the other',
      run: async () => (
        await expect.poll(messages).toMatchObject([{ id: 'b', text: 'written' }]),
        'seen'
      ),
    })
    const writes = tool({ name: 'writes', summary: 'Write', run: () => 'written' })
    const result = await agent({
      model: scriptedModel([{ calls: [use('waits', {}, 'a'), use('writes', {}, 'b')] }, 'Done.']),
      tools: [waits, writes],
      parallel: 'all',
      transcript: file,
    }).run('Go')
    expect(toolTexts(result.messages)).toEqual(['seen', 'written'])
    expect(messages().map((message) => message.text)).toEqual(['written', 'seen'])
  })

  test('the transcript has all messages and events as JSON lines, for its owner only [8.agent-transcript]', async () => {
    const file = join(makeFolder(), 'deep', 'talk.jsonl')
    const result = await agent({
      model: scriptedModel([{ calls: [use('add', { left: 1, right: 1 })] }, 'Two.']),
      tools: [add],
      transcript: file,
    }).run('Go')
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; message?: AgentMessage; ts: string })
    expect(lines.map(({ type }) => type)).toEqual([
      'start',
      'message',
      'turn_start',
      'message',
      'usage',
      'tool_call',
      'tool_result',
      'message',
      'turn_start',
      'message',
      'usage',
      'end',
    ])
    expect(lines.flatMap(({ message }) => message ?? [])).toEqual(result.messages)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('what stands in a transcript stays, and a line that a crash has torn swallows no other [8.agent-transcript]', async () => {
    const file = join(makeFolder(), 'talk.jsonl')
    writeFileSync(file, '{"type":"start"}\n{"type":"mess')
    await agent({ model: scriptedModel(['Hello.']), tools: [add], transcript: file }).run('Go')
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines.slice(0, 2)).toEqual(['{"type":"start"}', '{"type":"mess'])
    expect(lines.slice(2).map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      'start',
      'message',
      'turn_start',
      'message',
      'usage',
      'end',
    ])
  })

  test('a transcript that cannot be written is a failure [8.agent-transcript]', async () => {
    expect(
      await agent({ model: scriptedModel(['Hello.']), tools: [add], transcript: '/dev/full' }).run(
        'Go',
      ),
    ).toMatchObject({
      status: 'failed',
      error: { code: 'DISK_FULL', message: expect.stringContaining('/dev/full') },
    })
    expect(
      await agent({
        model: scriptedModel(['Hello.']),
        tools: [add],
        transcript: '/proc/nowhere/talk.jsonl',
      }).run('Go'),
    ).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('cannot be written') },
    })
    expect(existsSync('/proc/nowhere')).toBe(false)
  })
})

describe('with the rest of the house', () => {
  test('tools share the state of the run, and may use the model [8.agent-house]', async () => {
    const notes = { key: 'notes', kind: 'state' as const }
    const note = tool({
      name: 'note',
      summary: 'Note',
      input: jsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      }),
      run: ({ text }, ctx) => (ctx.state.get<string>(notes).append(text), 'noted'),
    })
    const ask = tool({
      name: 'think',
      summary: 'Think',
      run: (_input, ctx) => ctx.sample('And?', { system: 'Be short' }),
    })
    const state = createState()
    const model = scriptedModel([
      { calls: [use('note', { text: 'a' }), use('note', { text: 'b' }), use('think')] },
      'A thought.',
      'done',
    ])
    const result = await agent({ model, tools: [note, ask], state }).run('Go')
    expect(state.get<string>(notes).all()).toEqual(['a', 'b'])
    expect(toolTexts(result.messages)[2]).toBe('A thought.')
    expect(model.requests[1]).toMatchObject({
      messages: [
        { role: 'system', text: 'Be short' },
        { role: 'user', text: 'And?' },
      ],
      tools: [],
    })
    expect(result.usage).toEqual({ input: 30, output: 15 })
  })

  test('an agent is a tool of another one [8.agent-as-tool]', async () => {
    const helper = agent({
      name: 'counter',
      model: scriptedModel([{ calls: [use('add', { left: 20, right: 22 })] }, '42']),
      tools: [add],
    }).asTool({ name: 'count', summary: 'Count things' })
    const lazy = agent({ name: 'lazy', model: scriptedModel([]), tools: [add] }).asTool({
      name: 'lazy',
      summary: 'Do nothing',
    })
    const model = scriptedModel([
      { calls: [use('count', { task: '20 + 22' }), use('lazy', { task: 'Work' })] },
      'The answer is 42.',
    ])
    const result = await agent({ model, tools: [helper, lazy] }).run('Go')
    expect(toolTexts(result.messages)).toEqual([
      '42',
      expect.stringContaining('"code":"DEPENDENCY"'),
    ])
    expect(result.text).toBe('The answer is 42.')
    await expect(helper({ task: '' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('a conversation that broke off, or was put together by hand, goes on in the order that providers want [8.agent-loop]', async () => {
    const call = (id: string) => ({ id, name: 'add', arguments: {} })
    const answer = (id: string): AgentMessage => ({ role: 'tool', id, name: 'add', text: id })
    const model = scriptedModel(['Done.'])
    await agent({ model, tools: [add] }).run([
      { role: 'user', text: 'Go' },
      { role: 'assistant', text: '', calls: [call('a'), call('b'), call('c')] },
      answer('c'),
      answer('a'),
      { role: 'user', text: 'And?' },
    ])
    expect(
      lastAsked(model).map((message) =>
        message.role === 'tool' ? `${message.id}${message.failed ? ' failed' : ''}` : message.role,
      ),
    ).toEqual(['user', 'assistant', 'a', 'b failed', 'c', 'user'])
  })

  test.each([
    [null, /message 2 of the conversation is no object/],
    [{ role: 'robot', text: '' }, /has the role "robot"; there are system, user, assistant, tool/],
    [{ role: 'user' }, /has no text/],
    [{ role: 'assistant', text: 'Hm.' }, /has no list of 'calls'/],
    [{ role: 'tool', text: 'x' }, /has no 'id'/],
  ])(
    'a conversation with %j in it is refused, with the place [8.agent-misuse]',
    async (message, words) => {
      const model = scriptedModel([])
      await expect(
        agent({ model, tools: [add] }).run([{ role: 'user', text: 'Go' }, message as never]),
      ).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(words) as string,
      })
      expect(model.requests).toHaveLength(0)
    },
  )

  test('options that make no sense are refused at once [8.agent-misuse]', async () => {
    const model = scriptedModel([])
    const refusals: [object, RegExp][] = [
      [{ model }, /exactly one of 'registry', 'tools' and 'prompt'/],
      [{ tools: [add] }, /'model' of agent\(\) needs a model/],
      [
        { model, tools: [add], maxTurns: 0 },
        /'maxTurns' of agent\(\) must be a whole number of at least 1/,
      ],
      [{ model, tools: [add], maxTurn: 3 }, /no option 'maxTurn'; did you mean 'maxTurns'\?/],
      [
        { model, registry: registry({ tools: [] }) },
        /'registry' of agent\(\) is a promise: write await before it/,
      ],
      [
        { model, prompt: { text: 'You count.' } },
        /'prompt' of agent\(\) needs what sections\(\) gives/,
      ],
      [{ model, tools: [add], filter: 'add' }, /'filter' of agent\(\) goes with 'registry' only/],
      [{ model, tools: [add], params: {} }, /'params' of agent\(\) goes with 'prompt' only/],
      [
        { model, tools: [add], parallel: 'none' },
        /'parallel' of agent\(\) must be 'safe', 'all' or false/,
      ],
      [
        { model, tools: [add], approve: 'yes' },
        /'approve' of agent\(\) must be true, false, or a function/,
      ],
      [
        { model, tools: [add], state: {} },
        /'state' of agent\(\) must be what createState\(\) gives/,
      ],
      [{ model, tools: [add], guards: [add] }, /'guards' of agent\(\) must be a list of guards/],
      [
        { model, tools: [add], budget: { tokens: 5 } },
        /no option 'tokens'; the options are time, inputTokens/,
      ],
      [{ model, tools: [add], budget: 5 }, /'budget' of agent\(\) must be limits/],
      [
        { model, tools: [add], call: { timeOut: 1 } },
        /'call' of agent\(\) has no option 'timeOut'; did you mean 'timeout'\?/,
      ],
      [
        { model, tools: [add], settings: { temp: 1 } },
        /'settings' of agent\(\) has no option 'temp'; did you mean 'temperature'\?/,
      ],
      [undefined as never, /agent\(\) takes \{ model, tools \}/],
    ]
    for (const [options, message] of refusals)
      expect(() => agent(options as never)).toThrow(message)
    await expect(
      agent({ model, tools: [add] }).run('Go', { onEvent: 5 as never }),
    ).rejects.toMatchObject({
      code: 'CONFIG',
      message: "'onEvent' of run() of an agent must be a function that takes events",
    })
    await expect(agent({ model, tools: [add] }).run(' ')).rejects.toMatchObject({
      code: 'MISSING_PARAM',
    })
    await expect(
      agent({ model, tools: [add, tool({ name: 'add', summary: 'Another' })] }).run('Go'),
    ).rejects.toMatchObject({
      code: 'CONFIG',
      message: "two tools of the agent are called 'add'",
      suggestion: { fix: 'Rename one: tools: { other_add: tool }' },
    })
  })
})
