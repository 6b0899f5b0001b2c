import { describe, expect, test } from 'vitest'
import {
  call,
  createState,
  keepPlan,
  planning,
  planningInstructions,
  planningTools,
  planSlice,
  sections,
  slice,
  tool,
} from 'toolable'
import type { CallEvent, Outcome, Plan, State, ToolEvent, ToolInvokedEvent } from 'toolable'

type Tool = Parameters<typeof call>[0]

// The seed's session: a state, and its plan after each call.
function begin(state: State = createState()) {
  const named = (name: string) =>
    planningTools().find((candidate) => candidate.name === name) as Tool
  const events: Extract<ToolEvent, { type: 'progress' }>[] = []
  const onEvent = (event: ToolEvent | ToolInvokedEvent): void => {
    if (event.type === 'progress') events.push(event)
  }
  const run = (name: string, input: unknown): Promise<Outcome<Plan>> =>
    call(named(name), input as never, { state, onEvent }) as Promise<Outcome<Plan>>
  return {
    state,
    events,
    setup: (objective: string, initial_steps?: unknown) =>
      run('planning_setup_plan', {
        objective,
        ...(initial_steps !== undefined && { initial_steps }),
      }),
    add: (...steps: unknown[]) => run('planning_add_step', { steps }),
    update: (step_id: number, change: object = {}) =>
      run('planning_update_step', { step_id, ...change }),
    read: () => run('planning_read_plan', {}),
    plan: () => state.get(planSlice).latest(),
  }
}

async function beginWith(...steps: string[]) {
  const session = begin()
  await session.setup('Ship it', steps)
  return session
}

function failed(outcome: Outcome): unknown {
  return outcome.ok
    ? outcome.result
    : {
        code: outcome.error.code,
        field: outcome.error.field,
        advised: outcome.error.suggestion !== undefined,
      }
}

describe('setup', () => {
  test('without steps: an active plan that waits for them [8.plan-setup]', async () => {
    expect(await begin().setup('Ship it')).toMatchObject({
      ok: true,
      result: { objective: 'Ship it', status: 'active', steps: [] },
    })
    expect(await begin().setup('Ship it', [])).toMatchObject({ result: { status: 'active' } })
  })

  test('numbers its steps from 1, all of them pending [8.plan-setup]', async () => {
    const { plan } = await beginWith('a', 'b')
    expect(plan()).toEqual({
      objective: 'Ship it',
      status: 'active',
      steps: [
        { step_id: 1, title: 'a', status: 'pending' },
        { step_id: 2, title: 'b', status: 'pending' },
      ],
    })
  })

  test('trims objective and titles [8.plan-titles]', async () => {
    const session = begin()
    await session.setup('  Ship it\n', [' \ta '])
    expect(session.plan()).toMatchObject({ objective: 'Ship it', steps: [{ title: 'a' }] })
  })

  test('replaces the plan that is there, also a completed one, and counts from 1 again [8.plan-setup]', async () => {
    const session = await beginWith('a', 'b')
    await session.setup('Something else', ['c'])
    expect(session.plan()).toMatchObject({
      objective: 'Something else',
      steps: [{ step_id: 1, title: 'c' }],
    })
    await session.update(1, { status: 'done' })
    expect((await session.setup('And again')).ok).toBe(true)
    expect(session.state.get(planSlice).all()).toHaveLength(1)
  })

  test.each([
    ['an empty objective', '', [], 'objective'],
    ['an objective of spaces', ' \n ', [], 'objective'],
    ['an objective that is too long', 'x'.repeat(2001), [], 'objective'],
    ['an empty title', 'Ship it', ['a', ''], 'initial_steps.1'],
    ['a title of spaces', 'Ship it', ['  '], 'initial_steps.0'],
    ['a title of 501 characters', 'Ship it', ['x'.repeat(501)], 'initial_steps.0'],
    ['too many steps', 'Ship it', Array(1001).fill('x'), 'initial_steps'],
  ])('refuses %s [8.plan-refused]', async (_what, objective, steps, field) => {
    const session = await beginWith('a')
    expect(failed(await session.setup(objective, steps))).toEqual({
      code: 'INVALID_INPUT',
      field,
      advised: true,
    })
    expect(session.plan()).toMatchObject({ objective: 'Ship it', steps: [{ title: 'a' }] })
  })

  test('takes exactly 500 characters, spaces around them not counted, and counts characters, not units [8.plan-titles]', async () => {
    const session = begin()
    expect((await session.setup('Ship it', [`  ${'x'.repeat(500)}  `, '😀'.repeat(500)])).ok).toBe(
      true,
    )
    expect(failed(await session.add('😀'.repeat(501)))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(session.plan()?.steps[0]?.title).toHaveLength(500)
  })

  test('does not know other fields [8.plan-refused]', async () => {
    const [setup] = planningTools() as unknown as Tool[]
    expect(failed(await call(setup!, { objective: 'a', steps: ['b'] }))).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(failed(await call(setup!, {}))).toMatchObject({
      code: 'MISSING_PARAM',
      field: 'objective',
    })
  })
})

describe('add', () => {
  test('goes on after the highest number [8.plan-add]', async () => {
    const session = await beginWith('a', 'b')
    await session.add(' c ', 'd')
    expect(session.plan()?.steps.map(({ step_id, title }) => `${step_id} ${title}`)).toEqual([
      '1 a',
      '2 b',
      '3 c',
      '4 d',
    ])
  })

  test('without a plan there is nothing to add to [8.plan-refused]', async () => {
    const outcome = await begin().add('a')
    expect(outcome).toMatchObject({
      error: {
        code: 'PRECONDITION',
        message: 'there is no plan yet',
        suggestion: { fix: expect.stringContaining('planning_setup_plan') },
      },
    })
  })

  test('needs at least one step [8.plan-refused]', async () => {
    const session = await beginWith('a')
    expect(failed(await session.add())).toMatchObject({ code: 'INVALID_INPUT', field: 'steps' })
    const plan = await keepPlan({ state: session.state, progress: () => undefined })
    expect(() => plan.add([])).toThrow('at least one step')
  })

  test('one bad title and none of the steps is added [8.plan-refused]', async () => {
    const session = await beginWith('a')
    expect(failed(await session.add('b', '   '))).toEqual({
      code: 'INVALID_INPUT',
      field: 'steps.1',
      advised: true,
    })
    expect(session.plan()?.steps).toHaveLength(1)
  })

  test('a completed plan is closed [8.plan-refused]', async () => {
    const session = await beginWith('a')
    await session.update(1, { status: 'done' })
    expect(failed(await session.add('b'))).toEqual({
      code: 'CONFLICT',
      field: undefined,
      advised: true,
    })
  })
})

describe('update', () => {
  test('changes status, title or both, and nothing else [8.plan-update]', async () => {
    const session = await beginWith('a', 'b')
    await session.update(1, { status: 'in_progress' })
    await session.update(2, { title: ' better ' })
    expect(session.plan()?.steps).toEqual([
      { step_id: 1, title: 'a', status: 'in_progress' },
      { step_id: 2, title: 'better', status: 'pending' },
    ])
    await session.update(1, { title: 'done', status: 'done' })
    expect(session.plan()?.steps[0]).toEqual({ step_id: 1, title: 'done', status: 'done' })
  })

  test('all done: completed, and closed to changes [8.plan-update]', async () => {
    const session = await beginWith('a', 'b')
    await session.update(2, { status: 'done' })
    expect(session.plan()?.status).toBe('active')
    expect(await session.update(1, { status: 'done' })).toMatchObject({
      result: { status: 'completed' },
    })
    expect(failed(await session.update(1, { status: 'pending' }))).toMatchObject({
      code: 'CONFLICT',
    })
    expect(session.plan()?.status).toBe('completed')
  })

  test('a step that was done can be opened again while the plan is active [8.plan-update]', async () => {
    const session = await beginWith('a', 'b')
    await session.update(1, { status: 'done' })
    await session.update(1, { status: 'pending' })
    expect(session.plan()?.steps[0]?.status).toBe('pending')
  })

  test('an unknown step, with those that there are [8.plan-refused]', async () => {
    expect(await (await beginWith('a', 'b')).update(3, { status: 'done' })).toMatchObject({
      error: {
        code: 'NOT_FOUND',
        field: 'step_id',
        message: 'there is no step 3; the steps are 1, 2',
      },
    })
    expect(await (await beginWith()).update(1, { status: 'done' })).toMatchObject({
      error: { code: 'NOT_FOUND', message: expect.stringContaining('no steps yet') },
    })
  })

  test.each([
    ['neither title nor status', 1, {}],
    ['an unknown status', 1, { status: 'finished' }],
    ['an empty title', 1, { title: ' ' }],
    ['a title of 501 characters', 1, { title: 'x'.repeat(501) }],
    ['step 0', 0, { status: 'done' }],
    ['half a step', 1.5, { status: 'done' }],
  ])('refuses %s [8.plan-refused]', async (_what, id, change) => {
    const session = await beginWith('a')
    expect(failed(await session.update(id, change))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(session.plan()?.steps).toEqual([{ step_id: 1, title: 'a', status: 'pending' }])
  })

  test('without a plan there is nothing to update [8.plan-refused]', async () => {
    expect(failed(await begin().update(1, { status: 'done' }))).toMatchObject({
      code: 'PRECONDITION',
    })
  })
})

describe('read', () => {
  test('gives the plan as a value and as a checklist [8.plan-read] [8.plan-rendered]', async () => {
    const session = await beginWith('a', 'two\nlines', 'c')
    await session.update(1, { status: 'done' })
    await session.update(2, { status: 'in_progress' })
    const outcome = await session.read()
    expect(outcome).toMatchObject({
      ok: true,
      result: session.plan(),
      message:
        'Plan (active, 1 of 3 steps done): Ship it\n- [x] 1. a\n- [ ] 2. two lines (in progress)\n- [ ] 3. c',
    })
    expect(outcome).not.toHaveProperty('hidden')
  })

  test('without a plan fails, and says what to do [8.plan-read]', async () => {
    expect(failed(await begin().read())).toEqual({
      code: 'PRECONDITION',
      field: undefined,
      advised: true,
    })
  })
})

describe('the state of a plan', () => {
  test('rolls back with the call that made it [8.plan-state]', async () => {
    const { state, plan } = await beginWith('a')
    const planAndFail = tool({
      name: 'plan_and_fail',
      summary: 'Plans, then fails',
      run: async (_input, ctx) => {
        ;(await keepPlan(ctx)).setup('Never', ['x'])
        throw new Error('no')
      },
    })
    expect((await call(planAndFail, {}, { state })).ok).toBe(false)
    expect(plan()?.objective).toBe('Ship it')
  })

  test('goes through JSON and back; what is no plan is refused [8.plan-state]', async () => {
    const { state, plan } = await beginWith('a', 'b')
    const json = JSON.parse(JSON.stringify(state)) as ReturnType<State['toJSON']>
    const again = begin(createState({ from: json }))
    expect(again.plan()).toEqual(plan())
    expect((await again.add('c')).ok).toBe(true)
    for (const wrong of [
      null,
      {},
      { objective: 'a', steps: [{ step_id: 1, title: 'b' }] },
      { objective: '', steps: [] },
      {
        objective: 'a',
        steps: [
          { step_id: 1, title: 'a', status: 'done' },
          { step_id: 1, title: 'b', status: 'done' },
        ],
      },
      { objective: 'a', steps: [{ step_id: 1, title: 'x'.repeat(501), status: 'done' }] },
    ]) {
      const state = createState({
        from: { ...json, slices: { [planSlice.key]: { kind: 'state', items: [wrong] } } },
      })
      expect(failed(await begin(state).read())).toMatchObject({ code: 'CONFIG' })
    }
  })

  test('steps that are marked at the same time are all marked; numbers that would mean something else are a CONFLICT [8.plan-parallel]', async () => {
    const session = await beginWith('a', 'b', 'c')
    const marked = await Promise.all([
      session.update(1, { status: 'done' }),
      session.update(2, { status: 'in_progress' }),
    ])
    expect(marked.map(({ ok }) => ok)).toEqual([true, true])
    expect(session.plan()?.steps.map(({ status }) => status)).toEqual([
      'done',
      'in_progress',
      'pending',
    ])
    const added = await Promise.all([session.add('d'), session.add('e')])
    expect(
      added.map((outcome) =>
        outcome.ok ? 'ok' : `${outcome.error.code} ${outcome.error.retryable}`,
      ),
    ).toEqual(['ok', 'CONFLICT true'])
    const mixed = await Promise.all([
      session.setup('New', ['x', 'y', 'z']),
      session.update(3, { status: 'done' }),
    ])
    expect(mixed.map((outcome) => (outcome.ok ? 'ok' : outcome.error.code))).toEqual([
      'ok',
      'CONFLICT',
    ])
    expect(session.plan()).toMatchObject({
      objective: 'New',
      steps: [{ status: 'pending' }, { status: 'pending' }, { status: 'pending' }],
    })
  })
})

describe('what others see of a plan', () => {
  test('every change is a progress event with the plan; reading and refusals are none [8.plan-events]', async () => {
    const session = begin()
    await session.setup('Ship it')
    await session.add('a', 'b', 'c')
    await session.update(1, { status: 'done' })
    await session.update(2, { status: 'in_progress' })
    await session.read()
    await session.update(9, { status: 'done' })
    await session.update(2, { status: 'done' })
    await session.update(3, { status: 'done' })
    expect(
      session.events.map(({ message, percent, plan }) => [
        message,
        percent,
        plan?.status,
        plan?.steps.length,
      ]),
    ).toEqual([
      ['no steps yet: Ship it', undefined, 'active', 0],
      ['0 of 3 steps done: a', 0, 'active', 3],
      ['1 of 3 steps done: b', 33, 'active', 3],
      ['1 of 3 steps done: b', 33, 'active', 3],
      ['2 of 3 steps done: c', 67, 'active', 3],
      ['3 of 3 steps done: Ship it', 100, 'completed', 3],
    ])
  })

  test('a tool that plans by itself shows it in its stream, also as a generator [8.plan-events] [8.plan-keeper]', async () => {
    const plain = tool({
      name: 'plain',
      summary: 'Plans',
      run: async (_input, ctx) => {
        const plan = await keepPlan(ctx)
        plan.setup('Two things', ['one', 'two'])
        for (const { step_id } of plan.read().steps) plan.update(step_id, { status: 'done' })
        return plan.read().status
      },
    })
    const generator = tool({
      name: 'generator',
      summary: 'Plans',
      run: async function* () {
        yield {
          type: 'progress' as const,
          message: 'half',
          percent: 50,
          plan: {
            objective: 'o',
            status: 'active' as const,
            steps: [{ step_id: 1, title: 't', status: 'pending' as const }],
          },
        }
        yield { type: 'progress' as const, message: 'nonsense', plan: { objective: 7 } as never }
      },
    })
    const collect = async (events: AsyncIterable<CallEvent>): Promise<unknown[]> => {
      const seen: unknown[] = []
      for await (const event of events)
        seen.push(
          event.type === 'progress'
            ? [event.message, event.plan?.steps.map(({ status }) => status)]
            : event.type,
        )
      return seen
    }
    expect(await collect(plain.stream())).toEqual([
      ['0 of 2 steps done: one', ['pending', 'pending']],
      ['1 of 2 steps done: two', ['done', 'pending']],
      ['2 of 2 steps done: Two things', ['done', 'done']],
      'result',
    ])
    expect(await collect(generator.stream())).toEqual([
      ['half', ['pending']],
      ['nonsense', undefined],
      'result',
    ])
  })

  test('a plan that is forgotten is gone, once [8.plan-keeper]', async () => {
    const { state, plan } = await beginWith('a')
    const keeper = await keepPlan({ state, progress: () => undefined })
    expect([keeper.clear()?.objective, keeper.clear(), plan()]).toEqual([
      'Ship it',
      undefined,
      undefined,
    ])
    expect(() => keeper.read()).toThrow('there is no plan yet')
    expect(state.get(slice('other')).all()).toEqual([])
  })
})

describe('strategies', () => {
  test.each([
    ['REACT', ['Think', 'Act', 'Look']],
    ['PLAN_ACT_REFLECT', ['Plan', 'Act', 'Reflect']],
    ['GOAL_DECOMPOSE_ROUTE_SYNTHESISE', ['Goal', 'Decompose', 'Route', 'Synthesise']],
  ] as const)(
    '%s tells of the four tools, then of its phases in order [8.plan-strategies]',
    async (strategy, phases) => {
      const text = await planningInstructions(strategy)
      for (const { name } of planningTools()) expect(text).toContain(`\`${name}\``)
      expect([...text.matchAll(/\*\*(\w+)\*\*/g)].map(([, phase]) => phase)).toEqual(phases)
      expect(text).not.toMatch(/\{\{|\p{Cc}(?<!\n)/u)
    },
  )

  test('REACT is the default, all differ, and another one is refused by name [8.plan-strategies]', async () => {
    expect(await planningInstructions()).toBe(await planningInstructions('REACT'))
    expect(
      new Set(
        await Promise.all(
          (['REACT', 'PLAN_ACT_REFLECT', 'GOAL_DECOMPOSE_ROUTE_SYNTHESISE'] as const).map(
            planningInstructions,
          ),
        ),
      ).size,
    ).toBe(3)
    await expect(planningInstructions('REACTT' as never)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("did you mean 'REACT'?"),
    })
    await expect(planningInstructions('toString' as never)).rejects.toMatchObject({
      code: 'CONFIG',
    })
  })

  test('planning() is a section with the text and the tools, over the state of the prompt [8.plan-section]', async () => {
    const state = createState()
    const prompt = sections({
      name: 'work',
      sections: [planning({ strategy: 'PLAN_ACT_REFLECT' })],
    })
    await prompt.validate()
    const rendered = await prompt.render({}, { state })
    expect(rendered.text).toContain('Planning\n\n')
    expect(rendered.text).toContain(await planningInstructions('PLAN_ACT_REFLECT'))
    expect(rendered.tools.map(({ name, section }) => `${section} ${name}`)).toEqual(
      planningTools().map(({ name }) => `planning ${name}`),
    )
    expect((await rendered.call('planning_setup_plan', { objective: 'Ship it' })).ok).toBe(true)
    expect(state.get(planSlice).latest()?.objective).toBe('Ship it')
    expect(() => planning({ strateg: 'REACT' } as never)).toThrow(
      "no option 'strateg'; did you mean 'strategy'?",
    )
    expect(() => planning({ strategy: 'GUESS' as never })).toThrow(
      "there is no planning strategy 'GUESS'",
    )
    const named = await sections({
      name: 'work',
      sections: [
        planning({ key: 'todo', title: 'To do', visibility: 'summary', summary: 'How to plan' }),
      ],
    }).render()
    expect([
      named.summarised,
      named.tools.map(({ name }) => name).includes('planning_read_plan'),
    ]).toEqual([['todo'], false])
  })
})
