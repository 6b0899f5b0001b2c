import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createBudget,
  createState,
  fail,
  guard,
  ok,
  section,
  sections,
  slice,
  tool,
  ToolError,
  toolset,
  toolsetSection,
} from 'toolable'
import type { RenderedPrompt, ToolInvokedEvent } from 'toolable'

const noop = (name: string) =>
  tool({ name, summary: `Do ${name}`, run: (_input, ctx) => ctx.prompt })
const names = ({ tools }: RenderedPrompt): string[] => tools.map(({ name }) => name)

describe('the tools of a rendered prompt', () => {
  const prompt = sections({
    name: 'work',
    params: z.object({ writing: z.boolean() }),
    sections: [
      section({
        key: 'a',
        title: 'A',
        tools: [noop('a1'), noop('a2')],
        children: [
          section({
            key: 'a_a',
            title: 'AA',
            tools: { aa: { one: noop('x') } },
            children: [section({ key: 'a_a_a', title: 'AAA', tools: [noop('aaa')] })],
          }),
          section({ key: 'a_b', title: 'AB', tools: [noop('ab')] }),
        ],
      }),
      section({
        key: 'w',
        title: 'Write',
        enabled: ({ writing }) => writing === true,
        tools: [noop('w')],
        children: [section({ key: 'w_w', title: 'WW', tools: [noop('ww')] })],
      }),
      section({ key: 'off', title: 'Off', enabled: false, tools: [noop('off')] }),
      section({ key: 'z', title: 'Z', tools: [noop('z')] }),
    ],
  })

  test('come depth-first in order, and a disabled section hides its tools and those of its children [8.section-tools]', async () => {
    const [writing, reading] = await Promise.all([
      prompt.render({ writing: true }),
      prompt.render({ writing: false }),
    ])
    expect(names(writing)).toEqual(['a1', 'a2', 'aa_one', 'aaa', 'ab', 'w', 'ww', 'z'])
    expect(names(reading)).toEqual(['a1', 'a2', 'aa_one', 'aaa', 'ab', 'z'])
    expect(writing.tools.map((each) => each.section)).toEqual([
      'a',
      'a',
      'a_a',
      'a_a_a',
      'a_b',
      'w',
      'w_w',
      'z',
    ])
    expect(reading.text).not.toContain('W')
    expect(await reading.call('w')).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
  })

  test('are called by their names, and see the prompt that offered them [8.section-calls]', async () => {
    const rendered = await prompt.render({ writing: false })
    expect(await rendered.call('aa-one')).toMatchObject({
      ok: true,
      result: { name: 'work', text: rendered.text, tools: names(rendered) },
    })
    expect(rendered.find('AA_ONE')).toBeUndefined()
    expect(rendered.find('aa-one')?.definition.name).toBe('aa_one')
  })

  test('an unknown tool is a failed result with the name that was meant [8.section-calls]', async () => {
    const rendered = await prompt.render({ writing: false })
    expect(await rendered.call('aa_on')).toMatchObject({
      ok: false,
      status: 'error',
      error: {
        code: 'NOT_FOUND',
        message: "there is no tool 'aa_on'; did you mean 'aa_one'?",
        suggestion: { action: 'use_different_tool', fix: "Call 'aa_one'" },
      },
    })
    expect(await rendered.evaluate('constructor')).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND' },
    })
    expect(
      await rendered.call(
        'a1',
        {},
        { timeout: 'soon' as never, guards: 5 as never, state: {} as never },
      ),
    ).toMatchObject({ ok: false })
    expect(await rendered.call(undefined as never)).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND' },
    })
  })

  test('go to every provider, and what a model says is answered, with the id of its call on record [8.section-providers]', async () => {
    const rendered = await prompt.render({ writing: false })
    expect((await rendered.toOpenAI()).map((each) => each.function.name)).toEqual(names(rendered))
    expect((await rendered.toOpenAI({ api: 'responses', strict: true }))[0]).toMatchObject({
      type: 'function',
      name: 'a1',
      strict: true,
    })
    expect((await rendered.toAnthropic())[0]).toMatchObject({
      name: 'a1',
      description: 'Do a1',
      input_schema: { type: 'object' },
    })
    expect((await rendered.toGemini()).functionDeclarations).toHaveLength(6)
    expect((await rendered.toMcp())[5]).toMatchObject({
      name: 'z',
      inputSchema: { type: 'object' },
    })
    const events: ToolInvokedEvent[] = []
    const answers = await rendered.handleToolCall(
      [
        { type: 'tool_use', id: 'c1', name: 'z', input: {} },
        { type: 'tool_use', id: 'c2', name: 'zz', input: {} },
      ],
      {
        invocation: { adapter: 'test' },
        onEvent: (event) => {
          if (event.type === 'tool_invoked') events.push(event)
        },
      },
    )
    expect(answers).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c1' },
      { tool_use_id: 'c2', is_error: true },
    ])
    expect(events).toMatchObject([
      { tool: 'z', call_id: 'c1', prompt_name: 'work', adapter: 'test' },
    ])
  })
})

describe('the guards of sections', () => {
  test('look at the calls of their tools and of the sections below, after those of the call and of the prompt, the outermost first [8.section-guards]', async () => {
    const asked: string[] = []
    const watch = (name: string) =>
      guard({
        name,
        check: ({ tool: called }) => {
          asked.push(`${name}:${called}`)
          return undefined
        },
      })
    const never = guard({
      name: 'never',
      check: () => ({ message: 'not today', advice: 'Come back tomorrow' }),
    })
    const prompt = sections({
      name: 'p',
      guards: [watch('prompt')],
      sections: [
        section({
          key: 'outer',
          title: 'O',
          guards: [watch('outer')],
          tools: [noop('first')],
          children: [
            section({
              key: 'inner',
              title: 'I',
              guards: [watch('inner')],
              tools: [noop('second')],
            }),
            section({ key: 'shut', title: 'S', guards: [never], tools: [noop('third')] }),
          ],
        }),
        section({ key: 'free', title: 'F', tools: [noop('fourth')] }),
      ],
    })
    const rendered = await prompt.render({}, { state: createState() })
    for (const { name } of rendered.tools)
      await rendered.call(name, {}, { guards: [watch('call')] })
    expect(asked).toEqual([
      'call:first',
      'prompt:first',
      'outer:first',
      'call:second',
      'prompt:second',
      'outer:second',
      'inner:second',
      'call:third',
      'prompt:third',
      'outer:third',
      'call:fourth',
      'prompt:fourth',
    ])
    expect(await rendered.call('third')).toMatchObject({
      ok: false,
      error: {
        code: 'PRECONDITION',
        message: expect.stringContaining('not today') as string,
        suggestion: { fix: 'Come back tomorrow' },
      },
    })
    expect(rendered.find('second')?.guards.map(({ name }) => name)).toEqual([
      'prompt',
      'outer',
      'inner',
    ])
  })
})

describe('sections that show their summary', () => {
  const prompt = sections({
    name: 'p',
    params: z.object({ who: z.string() }),
    sections: [
      section({ key: 'intro', title: 'Intro', tools: [noop('greet')] }),
      section({
        key: 'forms',
        title: 'Forms',
        visibility: 'summary',
        summary: 'How to fill forms, {{who}}.',
        body: 'Forms of {{who}}: ...',
        tools: [noop('fill')],
        children: [
          section({
            key: 'tax',
            title: 'Tax',
            visibility: 'summary',
            summary: 'Tax forms.',
            body: 'All about tax.',
            tools: [noop('file')],
          }),
          section({ key: 'never', title: 'Never', enabled: false, body: 'hidden' }),
        ],
      }),
      section({
        key: 'late',
        title: 'Late',
        visibility: (_params, { state }) => (state ? 'full' : 'summary'),
        summary: 'Late.',
        tools: [noop('wait')],
      }),
    ],
  })

  test('keep back text, children and tools, say how to open them, and offer open_sections last [8.section-summary]', async () => {
    const rendered = await prompt.render({ who: '{{who}}' })
    const howTo = (key: string) =>
      `(Summary. To open this section with its tools, call \`open_sections\` with {"section_keys":["${key}"]}; to read it only, call \`read_section\` with {"section_key":"${key}"}.)`
    expect(rendered.text).toBe(
      [
        '# Intro',
        '# Forms',
        'How to fill forms, {{who}}.',
        howTo('forms'),
        '# Late',
        'Late.',
        howTo('late'),
      ].join('\n\n'),
    )
    expect(names(rendered)).toEqual(['greet', 'read_section', 'open_sections'])
    expect(rendered.summarised).toEqual(['forms', 'late'])
    expect(await rendered.call('fill')).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
  })

  test('nothing to open, no tool to open it [8.section-summary]', async () => {
    const state = createState()
    prompt.open(['forms', 'tax'], state)
    const rendered = await prompt.render({ who: 'Ada' }, { state })
    expect(names(rendered)).toEqual(['greet', 'fill', 'file', 'wait'])
    expect(rendered.text).toBe(
      '# Intro\n\n# Forms\n\nForms of Ada: ...\n\n## Tax\n\nAll about tax.\n\n# Late',
    )
  })

  test('read_section gives the text without opening [8.section-summary]', async () => {
    const rendered = await prompt.render({ who: 'Ada' })
    const read = await rendered.call('read_section', { section_key: 'forms' })
    expect(read).toMatchObject({
      ok: true,
      result: expect.stringMatching(
        /^# Forms\n\nForms of Ada: \.\.\.\n\n## Tax\n\nTax forms\.\n\n\(Summary/,
      ) as string,
    })
    expect(JSON.stringify(read)).not.toContain('hidden')
    expect(await rendered.call('read_section', { section_key: 'tax' })).toMatchObject({
      ok: true,
      result: '## Tax\n\nAll about tax.',
    })
    expect(await rendered.call('read_section', { section_key: 'never' })).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND' },
    })
  })

  test('expansion propagates from evaluation as E_VISIBILITY_EXPANSION, with keys and reason, and is a failed result of call [8.section-expansion]', async () => {
    const rendered = await prompt.render({ who: 'Ada' })
    const input = { section_keys: ['tax', 'intro', 'tax'], reason: 'a tax form' }
    await expect(rendered.evaluate('open_sections', input)).rejects.toMatchObject({
      name: 'ToolError',
      code: 'E_VISIBILITY_EXPANSION',
      details: { keys: ['tax'], reason: 'a tax form' },
    })
    expect(await rendered.call('open_sections', input)).toMatchObject({
      ok: false,
      error: { code: 'E_VISIBILITY_EXPANSION', details: { keys: ['tax'] } },
    })
    const state = createState()
    const thrown: unknown = await rendered
      .evaluate('open_sections', input)
      .catch((error: unknown) => error)
    expect(prompt.open(thrown as ToolError, state)).toEqual(['tax'])
    expect((await prompt.render({ who: 'Ada' }, { state })).summarised).toEqual([])
    expect(() => prompt.open('tax' as never, state)).toThrow(/takes the keys of sections/)
    expect(() => prompt.open(new ToolError('TIMEOUT'), state)).toThrow(/takes the keys of sections/)
  })

  test('unknown keys are NOT_FOUND with the key that was meant; opening what is open is fine and says so [8.section-expansion]', async () => {
    const state = createState()
    const rendered = await prompt.render({ who: 'Ada' }, { state })
    expect(await rendered.evaluate('open_sections', { section_keys: ['form'] })).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', message: "there is no section 'form'; did you mean 'forms'?" },
    })
    expect(
      await rendered.evaluate('open_sections', { section_keys: ['intro', 'late'] }),
    ).toMatchObject({ ok: true, result: { opened: [] }, message: 'Already open: intro, late.' })
    expect(await rendered.evaluate('open_sections', { section_keys: [] })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    expect(() => prompt.open(['form'], state)).toThrow(/did you mean 'forms'/)
    await expect(prompt.render({ who: 'x' }, { open: ['txa'] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: "there is no section 'txa'; did you mean 'tax'?",
    })
  })

  test('a host that answers by messages opens in its state, and without one the model hears that it did not work [8.section-opened]', async () => {
    const asked = (keys: string[]) => ({
      type: 'tool_use',
      id: 'c',
      name: 'open_sections',
      input: { section_keys: keys },
    })
    const state = createState()
    const rendered = await prompt.render({ who: 'Ada' }, { state })
    expect(await rendered.handleToolCall(asked(['tax']))).toEqual({
      type: 'tool_result',
      tool_use_id: 'c',
      content: [
        {
          type: 'text',
          text: 'Opened: tax. Text and tools are in the prompt from the next turn on.\n\n{"opened":["tax"]}',
        },
      ],
    })
    expect((await prompt.render({ who: 'Ada' }, { state })).summarised).toEqual([])
    const again = await rendered.handleToolCall([asked(['tax']), asked(['forms', 'tax'])])
    expect((again as { is_error?: boolean }[]).map(({ is_error: failed }) => failed)).toEqual([
      undefined,
      undefined,
    ])
    expect(await rendered.handleToolCall(asked(['txa']))).toMatchObject({ is_error: true })
    expect(
      await (await prompt.render({ who: 'Ada' })).handleToolCall(asked(['tax'])),
    ).toMatchObject({ is_error: true })
    const own = createState()
    await (await prompt.render({ who: 'Ada' })).handleToolCall(asked(['late']), { state: own })
    expect((await prompt.render({ who: 'Ada' }, { state: own })).summarised).toEqual(['forms'])
    expect(own.toJSON().slices).toMatchObject({
      'toolable.opened_sections': { items: [{ prompt: 'p', section: 'late' }] },
    })
  })

  test('what was opened stays open, with the sections around it, also in a snapshot, until it is closed or taken back [8.section-opened]', async () => {
    const state = createState()
    const before = state.snapshot()
    expect(prompt.open(['tax'], state)).toEqual(['tax'])
    expect(prompt.open(['tax', 'intro'], state)).toEqual(['intro'])
    expect(names(await prompt.render({ who: 'x' }, { state }))).toEqual([
      'greet',
      'fill',
      'file',
      'wait',
    ])
    const again = createState({ from: JSON.parse(JSON.stringify(state)) as never })
    expect(names(await prompt.render({ who: 'x' }, { state: again }))).toEqual([
      'greet',
      'fill',
      'file',
      'wait',
    ])
    prompt.close(again, ['tax'])
    expect((await prompt.render({ who: 'x' }, { state: again })).summarised).toEqual(['forms'])
    state.restore(before)
    expect((await prompt.render({ who: 'x' }, { state })).summarised).toEqual(['forms'])
    expect((await prompt.render({ who: 'x' }, { state, open: ['forms'] })).summarised).toEqual([
      'tax',
    ])
    // Another prompt on the same state has its own.
    prompt.open(['forms'], state)
    const other = sections({
      name: 'other',
      sections: [section({ key: 'forms', title: 'F', visibility: 'summary', summary: 's' })],
    })
    expect((await other.render({}, { state })).summarised).toEqual(['forms'])
    prompt.close(state)
    expect((await prompt.render({ who: 'x' }, { state })).summarised).toEqual(['forms'])
  })
})

describe('the failure table of the seed, row by row', () => {
  const notes = slice<string>('notes')
  const log = slice<string>('log', { kind: 'log' })
  const broken = (name: string, thrown: () => unknown) =>
    tool({
      name,
      summary: name,
      input: z.object({ n: z.number().optional() }),
      run: (_input, ctx) => {
        ctx.state.get(notes).append(name)
        ctx.state.get(log).append(name)
        throw thrown()
      },
    })
  class Odd extends Error {}
  const prompt = sections({
    name: 'p',
    sections: [
      section({
        key: 'a',
        title: 'A',
        tools: [
          broken('refuses', () => {
            fail('INVALID_INPUT', 'the number is odd')
          }),
          broken('expands', () => {
            fail('E_VISIBILITY_EXPANSION', 'more is needed', { details: { keys: ['a'] } })
          }),
          broken('ends', () => {
            fail('E_PROMPT_EVALUATION', 'the model is gone')
          }),
          broken('late', () => {
            fail('TIMEOUT', 'the deadline passed')
          }),
          broken('mistypes', () => new TypeError('x is not a function')),
          broken('fails', () => new Odd('something else')),
          tool({ name: 'bare', summary: 'No handler' }),
        ],
      }),
    ],
  })
  const start = async () => {
    const state = createState()
    state.get(notes).append('before')
    return { state, rendered: await prompt.render({}, { state }) }
  }

  test.each<[string, string, string, unknown, RegExp]>([
    [
      'ToolValidationError, of the arguments',
      'refuses',
      'INVALID_INPUT',
      { n: 'x' },
      /n must be a number/,
    ],
    [
      'ToolValidationError, of unknown arguments',
      'refuses',
      'INVALID_INPUT',
      { m: 1 },
      /unknown key 'm'/,
    ],
    ['ToolValidationError, in the handler', 'refuses', 'INVALID_INPUT', {}, /the number is odd/],
    [
      'TypeError',
      'mistypes',
      'INTERNAL',
      {},
      /^Tool 'mistypes' raised TypeError: x is not a function$/,
    ],
    ['any other', 'fails', 'INTERNAL', {}, /something else/],
    ['an unknown tool', 'unknown', 'NOT_FOUND', {}, /there is no tool 'unknown'/],
    ['a tool without handler', 'bare', 'PRECONDITION', {}, /it has no handler/],
  ])(
    '%s: a failed result, also of evaluation, and the state is as before [8.failure-table]',
    async (_row, name, code, input, message) => {
      for (const way of ['call', 'evaluate'] as const) {
        const { state, rendered } = await start()
        const outcome = await rendered[way](name, input)
        expect(outcome).toMatchObject({
          ok: false,
          status: 'error',
          error: { code, message: expect.stringMatching(message) as string },
        })
        expect(state.get(notes).all()).toEqual(['before'])
      }
    },
  )

  test.each<[string, string, string]>([
    ['VisibilityExpansionRequired', 'expands', 'E_VISIBILITY_EXPANSION'],
    ['PromptEvaluationError', 'ends', 'E_PROMPT_EVALUATION'],
  ])(
    '%s: raised again by evaluation, a failed result of call, and the state is as before [8.failure-table]',
    async (_row, name, code) => {
      const { state, rendered } = await start()
      await expect(rendered.evaluate(name)).rejects.toMatchObject({ name: 'ToolError', code })
      expect(await rendered.call(name)).toMatchObject({ ok: false, error: { code } })
      expect([state.get(notes).all(), state.get(log).all()]).toEqual([['before'], [name, name]])
    },
  )

  test('DeadlineExceededError: evaluation raises PromptEvaluationError of it, call gives a failed result, and the state is as before [8.failure-table]', async () => {
    const { state, rendered } = await start()
    const over = { signal: AbortSignal.timeout(0) }
    await expect.poll(() => over.signal.aborted).toBe(true)
    await expect(rendered.evaluate('late', {}, over)).rejects.toMatchObject({
      code: 'E_PROMPT_EVALUATION',
      message: "the evaluation ended in tool 'late': the caller gave the call no more time",
      details: { code: 'TIMEOUT', tool: 'late' },
      cause: { code: 'TIMEOUT' },
    })
    expect(await rendered.call('late', {}, over)).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT' },
    })
    expect(state.get(notes).all()).toEqual(['before'])
  })

  test('a time that is not that of the evaluation is a failed result: what a tool waited for in vain, and what it gives itself [8.failure-table]', async () => {
    const { state, rendered } = await start()
    expect(
      await rendered.evaluate('late', {}, { timeout: '1h', budget: createBudget({ time: '1h' }) }),
    ).toMatchObject({ ok: false, error: { code: 'TIMEOUT', message: 'the deadline passed' } })
    const hasty = tool({
      name: 'hasty',
      summary: 'x',
      timeout: '10ms',
      run: () => new Promise(() => undefined),
    })
    const other = await sections({
      name: 'o',
      sections: [
        section({ key: 'a', title: 'A', tools: [hasty] }),
        toolsetSection(toolset({ name: 'b', tools: { quick: hasty } })),
      ],
    }).render({}, { state })
    for (const name of ['hasty', 'quick']) {
      expect(await other.evaluate(name, {}, { timeout: '1h' })).toMatchObject({
        ok: false,
        error: { code: 'TIMEOUT', details: { limit_s: 0.01, limited_by: 'tool' } },
      })
      await expect(other.evaluate(name, {}, { timeout: 0.001 })).rejects.toMatchObject({
        code: 'E_PROMPT_EVALUATION',
        details: { limited_by: 'caller' },
      })
    }
    expect(state.get(notes).all()).toEqual(['before'])
  })

  test('wrong arguments: the handler is not called, and the event tells what was given [8.failure-table]', async () => {
    const { state, rendered } = await start()
    const events: unknown[] = []
    await rendered.call('fails', { n: 'x' }, { onEvent: (event) => void events.push(event) })
    expect(state.get(log).all()).toEqual([])
    expect(events).toMatchObject([
      {
        type: 'tool_invoked',
        tool: 'fails',
        raw_arguments: { n: 'x' },
        prompt_name: 'p',
        session_id: state.id,
        outcome: { ok: false },
      },
    ])
  })
})

describe('deadlines', () => {
  test('an expired deadline is refused before the handler [8.section-deadlines]', async () => {
    let runs = 0
    const prompt = sections({
      name: 'p',
      sections: [
        section({
          key: 'a',
          title: 'A',
          tools: [tool({ name: 'count', summary: 'x', run: () => (runs += 1) })],
        }),
      ],
    })
    const rendered = await prompt.render()
    const budget = createBudget({ time: 0.001 })
    while ((budget.remaining('time') ?? 0) > 0)
      await new Promise((resolve) => setTimeout(resolve, 1))
    expect(await rendered.call('count', {}, { budget })).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT' },
    })
    await expect(rendered.evaluate('count', {}, { budget })).rejects.toMatchObject({
      code: 'E_PROMPT_EVALUATION',
      details: { code: 'TIMEOUT' },
    })
    expect(runs).toBe(0)
  })

  test('a deadline inside the handler is an evaluation error, and nothing of the handler stays [8.section-deadlines]', async () => {
    const notes = slice<string>('notes')
    const slow = tool({
      name: 'slow',
      summary: 'x',
      run: async (_input, ctx) => {
        ctx.state.get(notes).append('half')
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        ctx.state.get(notes).append('late')
      },
    })
    const state = createState()
    const rendered = await sections({
      name: 'p',
      sections: [section({ key: 'a', title: 'A', tools: [slow] })],
    }).render({}, { state })
    await expect(rendered.evaluate('slow', {}, { timeout: 0.02 })).rejects.toMatchObject({
      code: 'E_PROMPT_EVALUATION',
      cause: { code: 'TIMEOUT' },
    })
    expect(state.get(notes).all()).toEqual([])
  })
})

describe('what a model is told', () => {
  test.each<[string, () => unknown, string]>([
    [
      'hidden value: only the message',
      () => ok({ secret: 1 }, { message: 'Saved.', hidden: true }),
      'Saved.',
    ],
    ['message and value', () => ok({ a: 1 }, { message: 'Found.' }), 'Found.\n\n{"a":1}'],
    ['a text as it is', () => 'plain', 'plain'],
    ['nothing', () => undefined, 'null'],
    ['nothing with a message', () => ok(null, { message: 'Done with it.' }), 'Done with it.'],
    ['an empty text', () => '', 'Done.'],
    ['a list', () => [1, { b: null }], '[1,{"b":null}]'],
    [
      'something with a form of its own',
      () => ({ toJSON: () => ({ as: 'json' }) }),
      '{"as":"json"}',
    ],
  ])('%s [8.section-rendering]', async (_what, run, told) => {
    const rendered = await sections({
      name: 'p',
      sections: [
        section({ key: 'a', title: 'A', tools: [tool({ name: 't', summary: 't', run })] }),
      ],
    }).render()
    expect(
      await rendered.handleToolCall({
        id: '1',
        type: 'function',
        function: { name: 't', arguments: '' },
      }),
    ).toEqual({ role: 'tool', tool_call_id: '1', content: told })
  })
})
