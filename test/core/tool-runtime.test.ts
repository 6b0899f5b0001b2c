import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  call,
  createBudget,
  createState,
  fail,
  fileTools,
  guard,
  guards,
  memoryFiles,
  ok,
  partial,
  planSlice,
  planning,
  section,
  sections,
  slice,
  tool,
  toolset,
} from 'toolable'
import type { Context, State, ToolInvokedEvent } from 'toolable'

const notes = slice<string>('notes')
const log = slice<string>('log', { kind: 'log' })
const writes = (then: () => unknown) =>
  tool({
    name: 'writes',
    summary: 'w',
    run: (_input: unknown, ctx: Context) => {
      ctx.state.get(notes).append('new')
      ctx.state.get(log).append('tried')
      return then()
    },
  } as never)
const left = (state: State) => [state.get(notes).all(), state.get(log).all()]
type PlanCall = readonly [tool: string, input: object]
const named = (name: string, run: () => unknown = () => name) => tool({ name, summary: name, run })

// The acceptance checks of the specification of the runtime, under their own names; the details
// stand in the tests of each part.
describe('tool runtime', () => {
  test('name/description limits incl. whitespace [8.seed-behaviours]', () => {
    for (const name of ['', ' a', 'a ', 'a b', 'A', 'x'.repeat(65)])
      expect(() => tool({ name, summary: 's' })).toThrow('must be 1 to 64 characters')
    for (const summary of ['', ' \n ', 'x'.repeat(201)])
      expect(() => tool({ name: 'a', summary })).toThrow('200')
    expect(() => tool({ name: 'x'.repeat(64), summary: 'ä'.repeat(200) })).not.toThrow()
  })

  test('duplicate names [8.seed-behaviours]', () => {
    expect(() => toolset({ name: 't', tools: [named('a-b'), named('a_b')] })).toThrow('two tools')
    expect(() =>
      sections({
        name: 'p',
        sections: [
          section({ key: 'a', title: 'A', tools: [named('x')] }),
          section({ key: 'b', title: 'B', enabled: () => false, tools: [named('x')] }),
        ],
      }),
    ).toThrow(expect.objectContaining({ code: 'CONFIG' }))
  })

  test('disabled section hides tools, depth-first order [8.seed-behaviours]', async () => {
    const off = section({
      key: 'off',
      title: 'Off',
      enabled: false,
      tools: [named('hidden')],
      children: [section({ key: 'below', title: 'Below', tools: [named('hidden_too')] })],
    })
    const first = section({
      key: 'a',
      title: 'A',
      tools: [named('one')],
      children: [section({ key: 'b', title: 'B', tools: [named('two')] }), off],
    })
    expect(
      (
        await sections({
          name: 'p',
          sections: [first, section({ key: 'c', title: 'C', tools: [named('three')] })],
        }).render()
      ).tools.map(({ name }) => name),
    ).toEqual(['one', 'two', 'three'])
  })

  test('extra key, wrong type, missing key -> handler not called, failed result, event emitted [8.seed-behaviours]', async () => {
    const run = vi.fn()
    const strict = tool({ name: 'strict', summary: 's', input: z.object({ n: z.number() }), run })
    for (const input of [{ n: 1, m: 1 }, { n: '1' }, {}]) {
      const onEvent = vi.fn()
      expect(await call(strict, input as never, { onEvent })).toMatchObject({ ok: false })
      expect(onEvent).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ type: 'tool_invoked', raw_arguments: input }),
      )
    }
    expect(run).not.toHaveBeenCalled()
  })

  test('handler exception / TypeError messages [8.seed-behaviours]', async () => {
    expect(
      await call(
        named('breaks', () => {
          throw new Error('no network')
        }),
      ),
    ).toMatchObject({ ok: false, error: { message: 'no network' }, meta: { tool: 'breaks' } })
    expect(
      await call(named('breaks', () => (undefined as never as { x: () => void }).x())),
    ).toMatchObject({
      ok: false,
      error: {
        message: expect.stringMatching(/^Tool 'breaks' raised TypeError: .*undefined/),
        details: { name: 'TypeError' },
      },
      meta: { tool: 'breaks' },
    })
  })

  test('failure result and exception roll state back, LOG slices kept [8.seed-behaviours]', async () => {
    for (const then of [
      () => partial([], [new Error('x')]),
      () => fail('CONFLICT', 'x'),
      () => {
        throw new Error('x')
      },
    ]) {
      const state = createState()
      expect(await call(writes(then), {}, { state })).toMatchObject({ ok: false })
      expect(left(state)).toEqual([[], ['tried']])
    }
  })

  test('success keeps [8.seed-behaviours]', async () => {
    const state = createState()
    expect(
      await call(
        writes(() => 1),
        {},
        { state },
      ),
    ).toMatchObject({ ok: true })
    expect(left(state)).toEqual([['new'], ['tried']])
  })

  test('subscriber failure rolls back [8.seed-behaviours]', async () => {
    const state = createState()
    expect(
      await call(
        writes(() => 1),
        {},
        {
          state,
          onEvent: () => {
            throw new Error('no disk')
          },
        },
      ),
    ).toMatchObject({ ok: false, error: { message: 'no disk' } })
    expect(left(state)).toEqual([[], ['tried']])
  })

  test('expired deadline refused before the handler [8.seed-behaviours]', async () => {
    const run = vi.fn()
    const budget = createBudget({ time: 0.001 })
    await vi.waitFor(() => expect(budget.remaining('time')).toBe(0))
    expect(await call(named('late', run), {}, { budget })).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT' },
    })
    expect(run).not.toHaveBeenCalled()
  })

  const prompt = (then: (ctx: Context) => unknown) =>
    sections({
      name: 'p',
      sections: [
        section({
          key: 'a',
          title: 'A',
          tools: [tool({ name: 't', summary: 't', run: (_input, ctx) => then(ctx) })],
        }),
        section({ key: 'more', title: 'More', summary: 'More of it', visibility: 'summary' }),
      ],
    }).render()

  test('deadline inside handler -> evaluation error [8.seed-behaviours]', async () => {
    await expect(
      (await prompt(() => new Promise(() => undefined))).evaluate('t', {}, { timeout: 0.02 }),
    ).rejects.toMatchObject({ code: 'E_PROMPT_EVALUATION', details: { code: 'TIMEOUT' } })
  })

  test('expansion propagates [8.seed-behaviours]', async () => {
    await expect(
      (await prompt(() => 1)).evaluate('open_sections', {
        section_keys: ['more'],
        reason: 'to see',
      }),
    ).rejects.toMatchObject({ code: 'E_VISIBILITY_EXPANSION', details: { keys: ['more'] } })
  })

  const rendered = async (run: () => unknown) => {
    let text = ''
    await call(
      named('t', run),
      {},
      {
        onEvent: (event) => {
          text = (event as ToolInvokedEvent).rendered_output
        },
      },
    )
    return text
  }

  test('hidden value -> only message [8.seed-behaviours]', async () => {
    expect(await rendered(() => ok({ secret: 1 }, { message: 'Saved.', hidden: true }))).toBe(
      'Saved.',
    )
  })

  test('rendering fallbacks [8.seed-behaviours]', async () => {
    expect(await rendered(() => ({ n: 1, render: () => 'one' }))).toBe('one')
    expect(
      await rendered(() => ({
        n: 1,
        render: () => {
          throw new Error('x')
        },
      })),
    ).toBe('{"n":1}')
  })

  // [what, calls before, the last call, its error or the plan that it leaves]
  const setup = (...initial_steps: string[]): PlanCall => [
    'setup_plan',
    { objective: 'Ship', initial_steps },
  ]
  const add = (...steps: string[]): PlanCall => ['add_step', { steps }]
  const update = (step_id: number, change: object): PlanCall => [
    'update_step',
    { step_id, ...change },
  ]
  const read: PlanCall = ['read_plan', {}]
  const done = { status: 'done' }
  const step = (step_id: number, title: string, status = 'pending') => ({ step_id, title, status })
  const plan = (status: string, ...steps: object[]) => ({ objective: 'Ship', status, steps })
  test.each<[what: string, before: readonly PlanCall[], last: PlanCall, left: string | object]>([
    ['setup without steps is an active plan', [], setup(), plan('active')],
    ['ids from 1, all pending', [], setup('a', 'b'), plan('active', step(1, 'a'), step(2, 'b'))],
    [
      'setup replaces, and counts from 1 again',
      [setup('a', 'b')],
      setup('c'),
      plan('active', step(1, 'c')),
    ],
    [
      'setup replaces a completed plan',
      [setup('a'), update(1, done)],
      setup('c'),
      plan('active', step(1, 'c')),
    ],
    ['trim of the objective', [], ['setup_plan', { objective: ' \nShip ' }], plan('active')],
    ['trim of titles', [], setup(' a\t'), plan('active', step(1, 'a'))],
    ['trim of titles that are added', [setup()], add('  a '), plan('active', step(1, 'a'))],
    [
      'trim of a new title',
      [setup('a')],
      update(1, { title: ' b ' }),
      plan('active', step(1, 'b')),
    ],
    ['an empty objective', [], ['setup_plan', { objective: '  ' }], 'INVALID_INPUT'],
    ['an empty title', [], setup(' '), 'INVALID_INPUT'],
    ['500 chars', [], setup('x'.repeat(500)), plan('active', step(1, 'x'.repeat(500)))],
    ['501 chars in setup', [], setup('x'.repeat(501)), 'INVALID_INPUT'],
    ['501 chars in add', [setup()], add('x'.repeat(501)), 'INVALID_INPUT'],
    ['501 chars in update', [setup('a')], update(1, { title: 'x'.repeat(501) }), 'INVALID_INPUT'],
    [
      'ids go on after the highest',
      [setup('a')],
      add('b', 'c'),
      plan('active', step(1, 'a'), step(2, 'b'), step(3, 'c')),
    ],
    ['empty add', [setup('a')], add(), 'INVALID_INPUT'],
    ['add without a plan', [], add('a'), 'PRECONDITION'],
    ['unknown id', [setup('a')], update(9, done), 'NOT_FOUND'],
    [
      'update of a status',
      [setup('a')],
      update(1, { status: 'in_progress' }),
      plan('active', step(1, 'a', 'in_progress')),
    ],
    ['update of neither title nor status', [setup('a')], update(1, {}), 'INVALID_INPUT'],
    ['an unknown status', [setup('a')], update(1, { status: 'finished' }), 'INVALID_INPUT'],
    [
      'all done is completed',
      [setup('a', 'b'), update(2, done)],
      update(1, done),
      plan('completed', step(1, 'a', 'done'), step(2, 'b', 'done')),
    ],
    ['completed plan closed to new steps', [setup('a'), update(1, done)], add('b'), 'CONFLICT'],
    [
      'completed plan closed to updates',
      [setup('a'), update(1, done)],
      update(1, { status: 'pending' }),
      'CONFLICT',
    ],
    ['read without plan', [], read, 'PRECONDITION'],
  ])('plan tools: %s [8.seed-behaviours]', async (_what, before, last, left) => {
    const state = createState()
    const prompt = await sections({ name: 'p', sections: [planning()] }).render({}, { state })
    for (const [name, input] of before)
      expect(await prompt.call(`planning_${name}`, input)).toMatchObject({ ok: true })
    const kept = state.get(planSlice).latest()
    const outcome = await prompt.call(`planning_${last[0]}`, last[1])
    if (typeof left === 'object')
      expect([outcome, state.get(planSlice).latest()]).toEqual([
        expect.objectContaining({ ok: true, result: left }),
        left,
      ])
    else
      expect([outcome, state.get(planSlice).latest()]).toEqual([
        expect.objectContaining({ ok: false, error: expect.objectContaining({ code: left }) }),
        kept,
      ])
  })

  test('three strategy texts [8.seed-behaviours]', async () => {
    const texts = await Promise.all(
      (['REACT', 'PLAN_ACT_REFLECT', 'GOAL_DECOMPOSE_ROUTE_SYNTHESISE'] as const).map(
        async (strategy) =>
          (await sections({ name: 'p', sections: [planning({ strategy })] }).render()).text,
      ),
    )
    expect(new Set(texts).size).toBe(3)
    expect((await sections({ name: 'p', sections: [planning()] }).render()).text).toBe(texts[0])
  })

  test('policy ordering and read-before-write [8.seed-behaviours]', async () => {
    const set = toolset({
      name: 't',
      tools: [...fileTools(), named('build'), named('deploy')],
      state: createState({ filesystem: memoryFiles({ files: { a: 'a' } }) }),
      guards: [
        guards.sequence({ deploy: ['build', 'read_file'] }),
        guards.readBeforeWrite({ read: 'read_file', write: 'write_file' }),
      ],
    })
    expect(await set.call('deploy')).toMatchObject({
      error: { message: "Tool 'deploy' requires: build, read_file" },
    })
    expect(await set.call('write_file', { path: 'a', content: 'b' })).toMatchObject({
      error: { code: 'PRECONDITION' },
    })
    const asked: string[] = []
    const says = (name: string, refuses: boolean) =>
      guard({
        name,
        check: () => {
          asked.push(name)
          return refuses ? { message: `${name} refuses`, advice: 'none' } : undefined
        },
      })
    expect(
      await call(
        named('x'),
        {},
        { guards: [says('first', false), says('second', true), says('third', true)] },
      ),
    ).toMatchObject({ ok: false, error: { message: 'second refuses' } })
    expect(asked).toEqual(['first', 'second'])
    for (const [name, input] of [
      ['build', {}],
      ['read_file', { path: 'a' }],
      ['deploy', {}],
      ['write_file', { path: 'a', content: 'b' }],
    ] as const)
      expect(await set.call(name, input)).toMatchObject({ ok: true })
  })

  test('snapshot JSON round-trip and version mismatch [8.seed-behaviours]', async () => {
    const state = createState()
    await call(
      writes(() => 1),
      {},
      { state },
    )
    const json = JSON.parse(JSON.stringify(state)) as ReturnType<State['toJSON']>
    const again = createState({ from: json })
    expect([again.id, ...left(again)]).toEqual([state.id, ['new'], ['tried']])
    expect(() => createState({ from: { ...json, version: 2 } as never })).toThrow(
      expect.objectContaining({ code: 'CONFIG', message: expect.stringContaining('version 2') }),
    )
  })
})
