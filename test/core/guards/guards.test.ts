import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { call, createState, guard, guards, member, slice, tool, toolset } from 'toolable'
import type { Guard } from 'toolable'

const run = vi.fn(() => 'ran')
const act = tool({ name: 'act', summary: 'Acts', run })
const refuses = guard({
  name: 'refuses',
  check: () => ({ message: 'not now', advice: 'Come back later', details: { why: 'because' } }),
})
const notes = slice<string>('notes')

describe('guards', () => {
  test('[8.guards-order] are asked in their order, after validation and preValidate, before confirmation and handler, and told in the same order', async () => {
    const steps: string[] = []
    const says = (name: string) =>
      guard({
        name,
        check: async () => void steps.push(`${name}?`),
        passed: async () => void steps.push(`${name}!`),
      })
    const traced = tool({
      name: 'traced',
      summary: 'x',
      annotations: { destructive: true },
      input: z.object({}).superRefine(() => void steps.push('validate')),
      output: z.number().superRefine(() => void steps.push('output')),
      preValidate: () => void steps.push('preValidate'),
      run: () => (steps.push('run'), 1),
    })
    const first = says('a')
    await call(
      traced,
      {},
      {
        guards: [first, says('b'), first],
        state: createState(),
        confirm: () => (steps.push('confirm'), true),
        onEvent: (event) => void steps.push(event.type),
      },
    )
    expect(steps).toEqual([
      'validate',
      'preValidate',
      'a?',
      'b?',
      'confirm',
      'run',
      'output',
      'a!',
      'b!',
      'tool_invoked',
    ])
  })

  test('[8.guards-advice] [8.guards-order] the first refusal is a failed result with code and advice, and nobody after it is asked', async () => {
    const later = vi.fn()
    run.mockClear()
    const events: unknown[] = []
    expect(
      await call(
        act,
        {},
        {
          guards: [refuses, guard({ name: 'later', check: later })],
          onEvent: (event) => void events.push(event),
        },
      ),
    ).toMatchObject({
      ok: false,
      error: {
        code: 'PRECONDITION',
        recoverable: true,
        message: 'not now',
        details: { why: 'because', guard: 'refuses' },
        suggestion: { action: 'retry_with_modified_input', fix: 'Come back later' },
      },
    })
    expect([later.mock.calls.length, run.mock.calls.length]).toEqual([0, 0])
    expect(events).toMatchObject([{ type: 'tool_invoked', outcome: { ok: false } }])
    expect(
      await call(
        act,
        {},
        {
          guards: [
            guard({
              name: 'no',
              check: () => ({ code: 'PERMISSION', message: 'never', advice: 'Stop' }),
            }),
          ],
        },
      ),
    ).toMatchObject({ error: { code: 'PERMISSION', suggestion: { action: 'abort', fix: 'Stop' } } })
  })

  test.each<[string, unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no network')
      },
      "guard 'g' could not decide about 'act', so it was not run: no network",
    ],
    ['rejects', async () => Promise.reject(new Error('no network')), 'no network'],
    [
      'throws null',
      () => {
        throw null
      },
      'threw null',
    ],
    [
      'throws what cannot be looked at',
      () => {
        throw new Proxy(
          {},
          {
            get() {
              throw new Error('x')
            },
            getPrototypeOf() {
              throw new Error('x')
            },
          },
        )
      },
      'cannot be shown',
    ],
    ['answers true', () => true, "guard 'g' gave neither a refusal nor undefined about 'act'"],
    ['answers false', () => false, 'neither'],
    ['answers null', () => null, 'neither'],
    ['answers a text', () => 'no', 'neither'],
    ['answers an empty object', () => ({}), 'neither'],
    [
      'answers what cannot be read',
      () => ({
        get message() {
          throw new Error('torn')
        },
      }),
      "guard 'g' refused 'act', and why cannot be read: torn",
    ],
  ])('[8.guards-closed] one that %s refuses', async (_what, check, message) => {
    run.mockClear()
    const outcome = await call(act, {}, { guards: [{ name: 'g', check } as Guard] })
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'PERMISSION',
        message: expect.stringContaining(message),
        details: { guard: 'g' },
      },
    })
    expect(run).not.toHaveBeenCalled()
  })

  test.each<[string, unknown]>([
    ['one guard in the place of a list', refuses],
    ['a function', () => undefined],
    ['a list with a hole', [undefined]],
    ['a list with a function', [() => undefined]],
    ['a text', 'rate'],
  ])('[8.guards-closed] %s is CONFIG, not a call without guards', async (_what, given) => {
    run.mockClear()
    expect(await call(act, {}, { guards: given as never })).toMatchObject({
      ok: false,
      error: { code: 'CONFIG' },
    })
    expect(run).not.toHaveBeenCalled()
  })

  test('[8.guards-closed] one that never answers is ended by the deadline, and one that answers after it starts nothing', async () => {
    run.mockClear()
    let answer = (): void => undefined
    const next = vi.fn()
    const slow = guard({
      name: 'slow',
      check: () =>
        new Promise<undefined>((resolve) => {
          answer = () => resolve(undefined)
        }),
    })
    expect(
      await call(act, {}, { guards: [slow, guard({ name: 'next', check: next })], timeout: 0.02 }),
    ).toMatchObject({ ok: false, error: { code: 'TIMEOUT' } })
    answer()
    await new Promise((resolve) => setImmediate(resolve))
    expect([next.mock.calls.length, run.mock.calls.length]).toEqual([0, 0])
  })

  test('[8.guards-closed] one that needs a state refuses without it, and says what to give', async () => {
    run.mockClear()
    for (const needs of [guards.sequence({ act: ['build'] }), guards.rate({ calls: 1, per: 60 })]) {
      expect(await call(act, {}, { guards: [needs] })).toMatchObject({
        ok: false,
        error: { code: 'CONFIG', suggestion: { fix: expect.stringContaining('createState()') } },
      })
    }
    expect(run).not.toHaveBeenCalled()
  })

  test('[8.guards-closed] null is no state: nothing is remembered there, so nothing runs, and the record is told', async () => {
    run.mockClear()
    const onEvent = vi.fn()
    for (const more of [{}, { guards: [guards.rate({ calls: 1, per: 60 })] }])
      expect(await call(act, {}, { ...more, state: null as never, onEvent })).toMatchObject({
        ok: false,
        error: { code: 'CONFIG', message: expect.stringContaining('createState()') },
      })
    expect([run.mock.calls.length, onEvent.mock.calls.length]).toEqual([0, 2])
  })

  test.each<[string, unknown, string]>([
    ['a number', 7, 'PRECONDITION'],
    ['a word of the language', '__proto__', 'PRECONDITION'],
    ['small letters', 'nope', 'PRECONDITION'],
    ['one of their own', 'E_NIGHT', 'E_NIGHT'],
    ['one of the table', 'PERMISSION', 'PERMISSION'],
  ])('[8.guards-advice] the code of a refusal is a code: %s', async (_what, code, told) => {
    expect(
      await call(
        act,
        {},
        {
          guards: [
            guard({
              name: 'g',
              check: () => ({ message: 'no', advice: 'rest', details: 'text', code }) as never,
            }),
          ],
        },
      ),
    ).toMatchObject({ ok: false, error: { code: told, message: 'no', details: { guard: 'g' } } })
  })

  test.each<[string, () => unknown, object]>([
    [
      'fails',
      () => {
        throw new Error('x')
      },
      {},
    ],
    ['returns what its schema refuses', () => 'x', { output: z.number() }],
    ['takes too long', () => new Promise(() => undefined), { timeout: '20ms' }],
  ])('[8.guards-passed] a call that %s is not told to them', async (_what, handler, more) => {
    const passed = vi.fn()
    expect(
      await call(
        tool({ name: 't', summary: 't', ...more, run: handler } as never),
        {},
        { guards: [guard({ name: 'g', check: () => undefined, passed })] },
      ),
    ).toMatchObject({ ok: false })
    expect(passed).not.toHaveBeenCalled()
  })

  test('[8.guards-passed] a handler that comes to its end after that of the call is not told to them, and a dry run neither', async () => {
    const passed = vi.fn()
    let end = (): void => undefined
    const late = tool({
      name: 't',
      summary: 't',
      dryRun: true,
      run: (_input, ctx) =>
        ctx.dryRun
          ? 1
          : new Promise((resolve) => {
              end = () => resolve(1)
            }),
    })
    const watching = [guard({ name: 'g', check: () => undefined, passed })]
    expect(await call(late, {}, { guards: watching, timeout: 0.02 })).toMatchObject({ ok: false })
    end()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await call(late, {}, { guards: watching, dryRun: true })).toMatchObject({ ok: true })
    expect(passed).not.toHaveBeenCalled()
  })

  test('[8.guards-passed] what they noted goes when one of them throws, when a subscriber fails, and when a commit fails', async () => {
    const broken = {
      begin: () => ({
        view: {},
        commit: () => {
          throw new Error('disk gone')
        },
        rollback: () => undefined,
        begin: () => {
          throw new Error('x')
        },
      }),
    }
    const files = member('files', { open: () => broken as never })
    const build = tool({
      name: 'build',
      summary: 'b',
      run: (_input, ctx) => void ctx.state.get(notes).append('built'),
    })
    const touches = tool({
      name: 'build',
      summary: 'b',
      run: async (_input, ctx) => void (await ctx.resources.get(files)),
    })
    const state = createState()
    const watch = guards.sequence({ deploy: ['build'] })
    const throws = guard({
      name: 'throws',
      check: () => undefined,
      passed: () => {
        throw new Error('no memory')
      },
    })
    const before = state.toJSON()
    expect(await call(build, {}, { state, guards: [watch, throws] })).toMatchObject({
      ok: false,
      error: {
        code: 'PERMISSION',
        message:
          "guard 'throws' could not take note of 'build', so what it did was taken back: no memory",
      },
    })
    expect(
      await call(
        build,
        {},
        {
          state,
          guards: [watch],
          onEvent: () => {
            throw new Error('no')
          },
        },
      ),
    ).toMatchObject({ ok: false })
    expect(await call(touches, {}, { state, guards: [watch] })).toMatchObject({
      ok: false,
      error: { message: 'disk gone' },
    })
    expect(state.toJSON()).toEqual(before)
    expect(await call(build, {}, { state, guards: [watch] })).toMatchObject({ ok: true })
    expect(state.get(notes).all()).toEqual(['built'])
  })

  test('[8.guards-closed] guard() refuses what could not decide', () => {
    expect(() => guard({ check: () => undefined } as never)).toThrow('a guard needs a name')
    expect(() => guard({ name: 'g' } as never)).toThrow("guard 'g' needs check()")
    expect(() =>
      guard({ name: 'g', check: () => undefined, pased: () => undefined } as never),
    ).toThrow("did you mean 'passed'?")
    expect(() => guard({ name: 'g', check: () => undefined, passed: 1 } as never)).toThrow(
      'must be a function',
    )
  })
})

describe('sequence', () => {
  const step = (name: string, more: () => unknown = () => name) =>
    tool({ name, summary: name, run: more })
  const set = toolset({
    name: 'ci',
    tools: [
      step('build'),
      step('unit_test'),
      step('deploy'),
      step('broken_build', () => {
        throw new Error('x')
      }),
    ],
  })

  test("[8.guards-sequence] policy ordering: a tool waits for those that it needs, and '-' and '_' are equal", async () => {
    const options = {
      state: createState(),
      guards: [guards.sequence({ deploy: ['build', 'unit-test'] })],
    }
    expect(await set.call('deploy', {}, options)).toMatchObject({
      ok: false,
      error: {
        code: 'PRECONDITION',
        message: "Tool 'deploy' requires: build, unit-test",
        suggestion: { fix: "Call build, then unit-test; then call 'deploy' again" },
        details: { missing: ['build', 'unit-test'] },
      },
    })
    await set.call('build', {}, options)
    expect(await set.call('deploy', {}, options)).toMatchObject({
      error: { message: "Tool 'deploy' requires: unit-test" },
    })
    await set.call('unit_test', {}, options)
    expect(await set.call('deploy', {}, options)).toMatchObject({ ok: true })
    const again = { ...options, state: createState({ from: options.state.toJSON() }) }
    expect(await set.call('deploy', {}, again)).toMatchObject({ ok: true })
  })

  test('[8.guards-sequence] a failure, a dry run, another state or a call that still runs do not count', async () => {
    const options = {
      state: createState(),
      guards: [guards.sequence({ deploy: ['broken_build'], unit_test: ['build'] })],
    }
    await set.call('broken_build', {}, options)
    expect(await set.call('deploy', {}, options)).toMatchObject({ ok: false })
    await set.call('build', {}, { ...options, dryRun: true })
    await set.call('build', {}, { ...options, state: createState() })
    const [built, tested] = await Promise.all([
      set.call('build', {}, options),
      set.call('unit_test', {}, options),
    ])
    expect([built.ok, tested.ok]).toEqual([true, false])
    expect(await set.call('unit_test', {}, options)).toMatchObject({ ok: true })
  })

  test('[8.guards-sequence] calls inside a call count for it, and are forgotten when it fails', async () => {
    const options = { state: createState(), guards: [guards.sequence({ deploy: ['build'] })] }
    const all = (fails: boolean) =>
      tool({
        name: 'all',
        summary: 'a',
        run: async () => {
          await set.call('build', {}, options)
          const outcome = await set.call('deploy', {}, options)
          if (fails) throw new Error(`deployed: ${outcome.ok}`)
          return outcome.ok
        },
      })
    expect(await call(all(true), {}, options)).toMatchObject({
      ok: false,
      error: { message: 'deployed: true' },
    })
    expect(await set.call('deploy', {}, options)).toMatchObject({ ok: false })
    expect(await call(all(false), {}, options)).toMatchObject({ ok: true, result: true })
    expect(await set.call('deploy', {}, options)).toMatchObject({ ok: true })
  })

  test('[8.guards-sequence] tools that wait for each other, and what is no list of names, are CONFIG', () => {
    expect(() => guards.sequence({ a: ['b'], b: ['c'], c: ['a'] })).toThrow(
      'a needs b needs c needs a',
    )
    expect(() => guards.sequence({ 'a-b': ['a_b'] })).toThrow('wait for each other')
    for (const odd of [{ a: [] }, { a: [1] }, { a: undefined }, 'a'])
      expect(() => guards.sequence(odd as never)).toThrow(
        expect.objectContaining({ code: 'CONFIG' }),
      )
  })

  test('[8.guards-closed] a state with nonsense in the place of what was done refuses', async () => {
    const state = createState({
      from: {
        version: 1,
        id: 's',
        slices: { 'toolable.guards.done': { kind: 'state', items: [{ build: true }] } },
      },
    })
    expect(
      await set.call('deploy', {}, { state, guards: [guards.sequence({ deploy: ['build'] })] }),
    ).toMatchObject({ ok: false, error: { code: 'CONFIG' } })
  })
})

describe('rate', () => {
  test.each([['x'], [0], ['-1s'], [undefined]])(
    '[8.guards-rate] a time that is none is a CONFIG error: %s',
    (per) => {
      expect(() => guards.rate({ calls: 1, per: per as never })).toThrow(
        expect.objectContaining({ code: 'CONFIG', message: expect.stringContaining('per: ') }),
      )
    },
  )

  test('[8.guards-rate] parallel calls cannot get past it, failures count, and the advice says how long to wait', async () => {
    const fails = tool({
      name: 'fails',
      summary: 'f',
      run: async () => {
        throw new Error('x')
      },
    })
    const options = { state: createState(), guards: [guards.rate({ calls: 3, per: '1h' })] }
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, index) => call(index % 2 ? fails : act, {}, options)),
    )
    const limited = outcomes.filter((outcome) => !outcome.ok && outcome.error.code === 'RATE_LIMIT')
    expect(limited.length).toBe(7)
    expect(limited[0]).toMatchObject({
      error: {
        retryable: true,
        message: expect.stringContaining('at most 3 calls in 3600 seconds'),
        suggestion: {
          fix: expect.stringMatching(/^Wait (3600|3599) seconds; then call it again$/),
        },
        details: { limit: 3, per_s: 3600 },
      },
    })
    const restored = createState({ from: options.state.toJSON() })
    expect(await call(act, {}, { ...options, state: restored })).toMatchObject({
      error: { code: 'RATE_LIMIT' },
    })
    expect(await call(act, {}, { ...options, state: createState() })).toMatchObject({ ok: true })
  })

  test('[8.guards-rate] calls inside of calls that fail count too, and old ones are forgotten', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const options = {
        state: createState(),
        guards: [guards.rate({ calls: 2, per: 10, tools: ['act'] })],
      }
      const outer = tool({
        name: 'outer',
        summary: 'o',
        run: async () => {
          await call(act, {}, options)
          throw new Error('x')
        },
      })
      await call(outer, {}, options)
      await call(outer, {}, options)
      expect(await call(act, {}, options)).toMatchObject({
        error: { code: 'RATE_LIMIT', details: { retry_after_s: 10 } },
      })
      vi.setSystemTime(Date.now() + 10_000)
      expect(await call(act, {}, options)).toMatchObject({ ok: true })
      expect(options.state.toJSON().slices['toolable.guards.begun']!.items.length).toBe(1)
    } finally {
      vi.useRealTimers()
    }
  })

  test('[8.guards-rate] a clock that was put back: what began in its future counts from now on, and not until that future', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const options = {
        state: createState(),
        guards: [
          guards.rate({ calls: 2, per: 60 }),
          guards.rate({ calls: 100, per: 60, name: 'other' }),
        ],
      }
      const now = Date.now()
      vi.setSystemTime(now + 365 * 86_400_000)
      for (const ok of [true, true, false])
        expect(await call(act, {}, options)).toMatchObject({ ok })
      vi.setSystemTime(now)
      expect(await call(act, {}, options)).toMatchObject({
        error: { code: 'RATE_LIMIT', details: { retry_after_s: 60 } },
      })
      vi.setSystemTime(now + 60_000)
      expect(await call(act, {}, options)).toMatchObject({ ok: true })
    } finally {
      vi.useRealTimers()
    }
  })

  test('[8.guards-rate] two limits on one state count apart, unless they have one name', async () => {
    const state = createState()
    const both = [guards.rate({ calls: 2, per: 60 }), guards.rate({ calls: 5, per: 3600 })]
    expect(
      (await Promise.all([1, 2, 3].map(() => call(act, {}, { state, guards: both })))).map(
        ({ ok }) => ok,
      ),
    ).toEqual([true, true, false])
    const named = [
      guards.rate({ calls: 2, per: 60, name: 'all' }),
      guards.rate({ calls: 2, per: 60, name: 'all' }),
    ]
    expect(
      (
        await Promise.all([1, 2].map(() => call(act, {}, { state: createState(), guards: named })))
      ).map(({ ok }) => ok),
    ).toEqual([true, true])
    expect(
      await call(
        act,
        {},
        {
          state: createState(),
          guards: [...named, guards.rate({ calls: 2, per: 60, name: 'all' })],
        },
      ),
    ).toMatchObject({ ok: false })
  })

  test('[8.guards-rate] limits that make no sense are refused', () => {
    for (const odd of [
      { calls: 0, per: 1 },
      { calls: 1.5, per: 1 },
      { calls: 1, per: 0 },
      { calls: 1, per: 'soon' },
      { calls: 1, per: 1, tools: [] },
      { calls: 1, per: 1, tool: 'x' },
    ])
      expect(() => guards.rate(odd as never)).toThrow()
  })
})

describe('approval', () => {
  const secretive = tool({
    name: 'send',
    summary: 's',
    input: z.object({ to: z.string(), key: z.string() }),
    redact: ({ to }) => ({ to }),
    run,
  })
  const input = { to: 'Ann', key: 'hunter2' }

  test('[8.guards-approval] a person sees the call without its secrets, and agreement lets it run', async () => {
    const answer = vi.fn(() => true)
    expect(await call(secretive, input, { guards: [guards.approval()], answer })).toMatchObject({
      ok: true,
    })
    expect(answer).toHaveBeenCalledWith(
      expect.objectContaining({ kind: 'confirm', prompt: 'Run send with {"to":"Ann"}?' }),
      expect.anything(),
    )
  })

  test('[8.guards-approval] declined is PERMISSION, nobody there is ANSWER_REQUIRED with the question, and neither runs', async () => {
    run.mockClear()
    expect(
      await call(secretive, input, { guards: [guards.approval()], answer: () => false }),
    ).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', recoverable: false, suggestion: { action: 'abort' } },
    })
    for (const answer of [undefined, () => undefined]) {
      expect(
        await call(secretive, input, { guards: [guards.approval()], ...(answer && { answer }) }),
      ).toMatchObject({
        ok: false,
        error: {
          code: 'ANSWER_REQUIRED',
          details: { interaction: { kind: 'confirm', prompt: 'Run send with {"to":"Ann"}?' } },
        },
      })
    }
    expect(
      await call(secretive, input, {
        guards: [guards.approval({ timeout: 0.02 })],
        answer: () => new Promise(() => undefined),
      }),
    ).toMatchObject({ ok: false, error: { code: 'ANSWER_REQUIRED' } })
    expect(
      await call(secretive, input, {
        guards: [guards.approval()],
        answer: () => {
          throw new Error('terminal gone')
        },
      }),
    ).toMatchObject({ ok: false, error: { message: expect.stringContaining('terminal gone') } })
    expect(
      await call(secretive, input, { guards: [guards.approval()], answer: () => 'perhaps' }),
    ).toMatchObject({ ok: false })
    expect(run).not.toHaveBeenCalled()
  })

  test('[8.guards-approval] options that make no sense are refused when the guard is made', () => {
    for (const odd of [
      { when: 5 },
      { prompt: 'Really?' },
      { timeout: 0 },
      { timeout: NaN },
      { timeout: '5s' },
      { tools: [] },
      { tool: 'x' },
    ])
      expect(() => guards.approval(odd as never), JSON.stringify(odd)).toThrow(
        expect.objectContaining({ code: 'CONFIG' }),
      )
  })

  test('[8.guards-approval] waiting for a person does not use up the deadline, and cancelling ends it', async () => {
    let decide = (_yes: boolean): void => undefined
    const asked = new Promise<void>((told) => {
      void call(secretive, input, {
        guards: [guards.approval()],
        timeout: 0.05,
        answer: () =>
          new Promise((resolve) => {
            decide = resolve
            told()
          }),
      }).then((outcome) => {
        ended = outcome
      })
    })
    let ended: unknown
    await asked
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(ended).toBeUndefined()
    decide(true)
    await vi.waitFor(() => expect(ended).toMatchObject({ ok: true }))
    const controller = new AbortController()
    expect(
      await call(secretive, input, {
        guards: [guards.approval()],
        signal: controller.signal,
        answer: () => new Promise(() => controller.abort()),
      }),
    ).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
  })

  test('[8.guards-approval] by default what only reads is not asked about; tools and when pick calls; a dry run asks nobody', async () => {
    const reads = tool({ name: 'read', summary: 'r', annotations: { readOnly: true }, run })
    const asks = vi.fn(() => false)
    const isAsked = async (target: typeof act, approval: Guard, more: object = {}) => {
      asks.mockClear()
      await call(target, {}, { guards: [approval], answer: asks, ...more })
      return asks.mock.calls.length === 1
    }
    expect(await isAsked(reads, guards.approval())).toBe(false)
    expect(await isAsked(act, guards.approval())).toBe(true)
    expect(await isAsked(act, guards.approval(), { dryRun: true })).toBe(false)
    expect(await isAsked(act, guards.approval({ tools: ['other'] }))).toBe(false)
    expect(await isAsked(reads, guards.approval({ tools: ['read'] }))).toBe(true)
    expect(
      await isAsked(
        act,
        guards.approval({ tools: ['other'], when: async ({ tool: name }) => name === 'act' }),
      ),
    ).toBe(true)
    expect(await isAsked(act, guards.approval({ when: () => false }))).toBe(false)
    run.mockClear()
    expect(
      await call(
        act,
        {},
        {
          guards: [
            guards.approval({
              when: () => {
                throw new Error('who knows')
              },
            }),
          ],
          answer: () => true,
        },
      ),
    ).toMatchObject({ ok: false, error: { code: 'PERMISSION' } })
    expect(run).not.toHaveBeenCalled()
  })
})
