import { expect, test } from 'vitest'
import { agent, createState, fail, guards, section, sections, tool } from 'toolable'
import type { AgentEvent, AgentMessage } from 'toolable'
import { scriptedModel } from 'toolable/testing'

const look = tool({ name: 'look', summary: 'Look', run: () => 'a cat' })
const write = tool({ name: 'write', summary: 'Write', run: () => 'written' })
const texts = (messages: readonly AgentMessage[]): string[] =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))

const prompt = sections({
  name: 'watcher',
  sections: [
    section({ key: 'who', title: 'Who', body: 'You watch.' }),
    section({
      key: 'details',
      title: 'Details',
      body: 'Look with care.',
      summary: 'How to look.',
      visibility: 'summary',
      tools: [look],
    }),
  ],
})

test('a section that the model opens is there in the next turn, with its tools, and the state remembers it [8.agent-sections]', async () => {
  const state = createState()
  const events: AgentEvent[] = []
  const model = scriptedModel([
    {
      calls: [
        {
          name: 'open_sections',
          arguments: { section_keys: ['details'], reason: 'I want to look' },
        },
      ],
    },
    { calls: [{ name: 'look' }] },
    'A cat.',
  ])
  const result = await agent({
    model,
    prompt,
    state,
    system: 'Be brief.',
    onEvent: (event) => events.push(event),
  }).run('What is there?')
  expect(result).toMatchObject({ status: 'completed', text: 'A cat.' })
  const [first, second] = model.requests.map(({ messages, tools }) => ({
    system: (messages[0] as { text: string }).text,
    tools: tools.map(({ name }) => name),
  }))
  expect(first!.system).toMatch(/^Be brief\.\n\n/)
  expect([
    first!.system.includes('Look with care.'),
    second!.system.includes('Look with care.'),
  ]).toEqual([false, true])
  expect([first!.tools.includes('look'), second!.tools.includes('look')]).toEqual([false, true])
  expect(texts(result.messages)).toEqual([expect.stringContaining('Opened: details'), 'a cat'])
  expect(events.filter(({ type }) => type === 'sections_opened')).toEqual([
    { type: 'sections_opened', turn: 1, keys: ['details'] },
  ])
  expect(JSON.stringify(state)).toContain('details')
})

test('guards of sections and of the agent refuse with advice, and the run goes on [8.agent-sections]', async () => {
  const guarded = sections({
    name: 'guarded',
    sections: [
      section({
        key: 'work',
        title: 'Work',
        body: 'Work.',
        tools: [look, write],
        guards: [guards.sequence({ write: ['look'] })],
      }),
    ],
  })
  const model = scriptedModel([
    { calls: [{ name: 'write' }] },
    { calls: [{ name: 'look' }, { name: 'write' }] },
    'Done.',
  ])
  const result = await agent({ model, prompt: guarded }).run('Write')
  expect(texts(result.messages)).toEqual([
    expect.stringContaining('PRECONDITION'),
    'a cat',
    'written',
  ])
})

test('a prompt that cannot be evaluated ends the run as failed, with its error [8.agent-sections]', async () => {
  const ends = tool({
    name: 'ends',
    summary: 'End it',
    run: () => fail('E_PROMPT_EVALUATION', 'it makes no sense'),
  })
  const over = sections({
    name: 'over',
    sections: [section({ key: 'work', title: 'Work', body: 'Work.', tools: [ends] })],
  })
  const result = await agent({
    model: scriptedModel([{ calls: [{ name: 'ends' }] }, 'late']),
    prompt: over,
  }).run('Go')
  expect(result).toMatchObject({
    status: 'failed',
    turns: 1,
    error: { code: 'E_PROMPT_EVALUATION' },
  })
  expect(result.messages.at(-1)).toMatchObject({ role: 'tool', failed: true })
})

test.each([
  ['of the tool', { timeout: '20ms' }, {}, 'completed'],
  ['of each call', {}, { call: { timeout: '20ms' } }, 'completed'],
  ['of the run', {}, { budget: { time: '200ms' } }, 'budget'],
] as const)(
  'a time that is over is told to the model, and ends the run where it was the time %s [8.agent-sections]',
  async (_whose, own, options, status) => {
    const never = tool({
      name: 'never',
      summary: 'Never end',
      ...own,
      run: () => new Promise(() => undefined),
    })
    const slow = sections({
      name: 'slow',
      sections: [section({ key: 'work', title: 'Work', body: 'Work.', tools: [never] })],
    })
    const result = await agent({
      model: scriptedModel([{ calls: [{ name: 'never' }] }, 'Too slow.']),
      prompt: slow,
      ...options,
    }).run('Go')
    expect(result.status).toBe(status)
    expect(texts(result.messages)).toEqual([
      expect.stringMatching(
        status === 'completed' ? /TIMEOUT.*0\.02 seconds/ : /TIMEOUT|CANCELLED/,
      ),
    ])
  },
)

test('a tool that wants sections opened which there are not, or does not say which, fails alone [8.agent-sections]', async () => {
  const wants = (name: string, keys?: readonly string[]) =>
    tool({
      name,
      summary: 'Want more',
      run: () => fail('E_VISIBILITY_EXPANSION', 'more is needed', keys && { details: { keys } }),
    })
  const wanting = sections({
    name: 'wanting',
    sections: [
      section({
        key: 'work',
        title: 'Work',
        body: 'Work.',
        tools: [wants('vague'), wants('wrong', ['nowhere'])],
      }),
    ],
  })
  const result = await agent({
    model: scriptedModel([{ calls: [{ name: 'vague' }, { name: 'wrong' }] }, 'Well.']),
    prompt: wanting,
  }).run('Go')
  expect(result).toMatchObject({ status: 'completed', text: 'Well.' })
  expect(texts(result.messages)).toEqual([
    expect.stringContaining('E_VISIBILITY_EXPANSION'),
    expect.stringContaining("there is no section 'nowhere'"),
  ])
})
