import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { call, createState, fail, slice, tool } from 'toolable'
import type { CallOptions, ToolInvokedEvent, ToolEvent } from 'toolable'

const minimal = { name: 'step', summary: 'Step' }

function trace() {
  const steps: string[] = []
  const said = (step: string) => void steps.push(step)
  const traced = tool({
    ...minimal,
    input: z.object({ stop: z.string().optional() }).superRefine(({ stop }, issue) => {
      said('validate')
      if (stop === 'validate') issue.addIssue('no')
    }),
    output: z.number().superRefine((value, issue) => {
      said('output')
      if (value < 0) issue.addIssue('no')
    }),
    annotations: { destructive: true },
    context: () => {
      said('context')
      return {}
    },
    preValidate: ({ stop }) => {
      said('preValidate')
      if (stop === 'preValidate') fail('PRECONDITION', 'not yet')
    },
    run: ({ stop }) => {
      said('run')
      if (stop === 'run') throw new Error('broken')
      return stop === 'output' ? -1 : 1
    },
  })
  const options: CallOptions = {
    confirm: () => {
      said('confirm')
      return true
    },
    onEvent: (event) => said(event.type),
  }
  return { steps, traced, options }
}

describe('the order of a call', () => {
  test('[3.hook-pre-validate] [4.guards-before-run] [4.one-outcome-one-event] everything in its place, and one event', async () => {
    const { steps, traced, options } = trace()
    expect(await call(traced, {}, options)).toMatchObject({ ok: true, result: 1 })
    expect(steps).toEqual([
      'validate',
      'context',
      'preValidate',
      'confirm',
      'run',
      'output',
      'tool_invoked',
    ])
  })

  test.each([
    ['validate', ['validate', 'tool_invoked'], 'INVALID_INPUT'],
    ['preValidate', ['validate', 'context', 'preValidate', 'tool_invoked'], 'PRECONDITION'],
    ['run', ['validate', 'context', 'preValidate', 'confirm', 'run', 'tool_invoked'], 'INTERNAL'],
    [
      'output',
      ['validate', 'context', 'preValidate', 'confirm', 'run', 'output', 'tool_invoked'],
      'INTERNAL',
    ],
  ])(
    '[4.one-outcome-one-event] a failure in %s ends it there, with one event',
    async (stop, expected, code) => {
      const { steps, traced, options } = trace()
      expect(await call(traced, { stop }, options)).toMatchObject({ ok: false, error: { code } })
      expect(steps).toEqual(expected)
    },
  )

  test('[4.one-outcome-one-event] the event carries tool, input, outcome, caller and time', async () => {
    const events: (ToolEvent | ToolInvokedEvent)[] = []
    const add = tool({
      ...minimal,
      input: z.object({ a: z.number(), b: z.number().default(2) }),
      run: ({ a, b }) => a + b,
    })
    const outcome = await call(
      add,
      { a: 1 },
      { caller: 'agent', onEvent: (event) => void events.push(event) },
    )
    expect(events).toEqual([
      {
        type: 'tool_invoked',
        event_id: expect.stringMatching(/^[0-9a-f]{16}$/),
        tool: 'step',
        input: { a: 1, b: 2 },
        outcome,
        rendered_output: '3',
        caller: 'agent',
        ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ])
  })

  test('an input that was refused is recorded as it was given', async () => {
    const onEvent = vi.fn()
    await call(tool({ ...minimal, run: () => 1 }), { odd: 1 } as never, { onEvent })
    expect(onEvent).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        type: 'tool_invoked',
        input: { odd: 1 },
        outcome: expect.objectContaining({ ok: false }),
      }),
    )
  })
})

describe('confirmation', () => {
  const run = vi.fn(() => 'gone')
  const remove = tool({
    ...minimal,
    annotations: { destructive: true },
    input: z.object({ path: z.string(), token: z.string().default('t') }),
    redact: ({ path }) => ({ path }),
    run,
  })

  test('[4.direct-call-is-consent] a direct call and a call without word about it run', async () => {
    await expect(remove({ path: '/x' })).resolves.toBe('gone')
    expect(await call(remove, { path: '/x' })).toMatchObject({ ok: true })
  })

  test('[4.destructive-needs-confirmation] [4.guards-before-run] without consent it does not run', async () => {
    for (const confirm of [
      false,
      () => undefined as never,
      async () => undefined as never,
      () => 'yes' as never,
    ]) {
      run.mockClear()
      expect(await call(remove, { path: '/x' }, { confirm })).toMatchObject({
        ok: false,
        error: { code: 'CONFIRMATION_REQUIRED', recoverable: true },
      })
      expect(run).not.toHaveBeenCalled()
    }
  })

  test('[4.destructive-needs-confirmation] [4.guards-before-run] what was declined does not run, and is not to be repeated', async () => {
    for (const confirm of [() => false, async () => false]) {
      run.mockClear()
      expect(await call(remove, { path: '/x' }, { confirm })).toMatchObject({
        ok: false,
        error: {
          code: 'PERMISSION',
          recoverable: false,
          retryable: false,
          suggestion: { action: 'abort' },
        },
      })
      expect(run).not.toHaveBeenCalled()
    }
  })

  test('[4.guards-before-run] a guard that breaks closes', async () => {
    run.mockClear()
    expect(
      await call(
        remove,
        { path: '/x' },
        {
          confirm: () => {
            throw new Error('no policy')
          },
        },
      ),
    ).toMatchObject({ ok: false, error: { message: 'no policy' } })
    expect(run).not.toHaveBeenCalled()
  })

  test('the question shows the redacted input', async () => {
    const confirm = vi.fn(() => true)
    await call(remove, { path: '/x', token: 'secret' }, { confirm })
    expect(confirm).toHaveBeenCalledWith(
      expect.objectContaining({
        kind: 'confirm',
        prompt: 'step is destructive. Run it with {"path":"/x"}?',
        default: false,
      }),
    )
  })

  test('a tool that destroys nothing, and a dry run, are not asked about', async () => {
    const confirm = vi.fn(() => false)
    expect(await call(tool({ ...minimal, run: () => 1 }), {}, { confirm })).toMatchObject({
      ok: true,
    })
    expect(await call(remove, { path: '/x' }, { confirm, dryRun: true })).toMatchObject({
      ok: true,
      result: { dry_run: true },
    })
    expect(confirm).not.toHaveBeenCalled()
  })
})

describe('hooks', () => {
  test('[3.hook-context] context gives what the handler finds, later too, and nothing is as good as an empty object', async () => {
    const ask = (context?: (input: { a: string }) => object | Promise<object>) =>
      tool({
        ...minimal,
        input: z.object({ a: z.string() }),
        ...(context && { context: context as never }),
        run: (_input, ctx) => ctx.context,
      })
    await expect(ask(({ a }) => ({ from: a }))({ a: 'x' })).resolves.toEqual({ from: 'x' })
    await expect(ask(async ({ a }) => ({ from: a }))({ a: 'x' })).resolves.toEqual({ from: 'x' })
    await expect(ask()({ a: 'x' })).resolves.toEqual({})
    await expect(ask(() => undefined as never)({ a: 'x' })).resolves.toEqual({})
    expect(
      await call(
        ask(() => {
          throw new Error('no database')
        }),
        { a: 'x' },
      ),
    ).toMatchObject({ ok: false, error: { message: 'no database' } })
  })

  test('[3.hook-pre-validate] preValidate sees the checked input and the context, and may refuse by throwing anything', async () => {
    const seen = vi.fn()
    const checked = tool({
      ...minimal,
      input: z.object({ a: z.number().default(1) }),
      context: () => ({ db: 'x' }),
      preValidate: async (input, ctx) => {
        seen(input, ctx.context, ctx.dryRun)
        await ctx.checkpoint('a').load()
      },
      run: () => 1,
    })
    expect(await call(checked, {}, { dryRun: true })).toMatchObject({ ok: true })
    expect(seen).toHaveBeenCalledWith({ a: 1 }, { db: 'x' }, true)
    expect(
      await call(
        tool({
          ...minimal,
          preValidate: () => {
            throw 'no' as unknown
          },
          run: () => 1,
        }),
      ),
    ).toMatchObject({ ok: false, error: { code: 'INTERNAL', message: 'no' } })
  })

  test('[3.hook-redact] events and dry runs show what redact leaves', async () => {
    const onEvent = vi.fn()
    const login = tool({
      ...minimal,
      input: z.object({ user: z.string(), password: z.string() }),
      redact: ({ user }) => ({ user, password: '…' }),
      run: () => 'in',
    })
    expect(
      await call(login, { user: 'me', password: 'hunter2' }, { dryRun: true, onEvent }),
    ).toMatchObject({ result: { dry_run: true, would_execute: { user: 'me', password: '…' } } })
    await call(login, { user: 'me', password: 'hunter2' }, { onEvent })
    expect(JSON.stringify(onEvent.mock.calls)).not.toContain('hunter2')
    expect(onEvent).toHaveBeenLastCalledWith(
      expect.objectContaining({ type: 'tool_invoked', input: { user: 'me', password: '…' } }),
    )
  })

  test('[3.hook-redact] a redact that breaks, or an input that it did not expect, shows nothing', async () => {
    const onEvent = vi.fn()
    const login = tool({
      ...minimal,
      input: z.object({ inner: z.object({ key: z.string() }) }),
      redact: ({ inner }) => ({ length: inner.key.length }),
      run: () => 'in',
    })
    expect(await call(login, { inner: 'secret' } as never, { onEvent })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    expect(onEvent).toHaveBeenLastCalledWith(
      expect.objectContaining({ input: '[cannot be shown]' }),
    )
  })

  test('[3.hook-redact] the record of a refused call does not repeat the input as a repaired one', async () => {
    const onEvent = vi.fn()
    const login = tool({
      ...minimal,
      input: z.object({ user: z.string(), password: z.string() }),
      redact: () => ({}),
      run: () => 'in',
    })
    const outcome = await call(login, { usr: 'me', password: 'hunter2' } as never, { onEvent })
    expect(outcome).toMatchObject({
      error: { code: 'INVALID_INPUT', suggestion: { input: { user: 'me', password: 'hunter2' } } },
    })
    expect(JSON.stringify(onEvent.mock.calls)).not.toContain('hunter2')
  })

  test('an input that JSON cannot carry is still recorded', async () => {
    const onEvent = vi.fn()
    const counts = tool({
      ...minimal,
      input: z.object({
        day: z.string().transform((text) => new Date(text)),
        more: z
          .string()
          .transform(() => 5n)
          .optional(),
      }),
      run: () => 1,
    })
    await call(counts, { day: '2020-01-01' }, { onEvent })
    expect(onEvent).toHaveBeenLastCalledWith(
      expect.objectContaining({ input: { day: '2020-01-01T00:00:00.000Z' } }),
    )
    expect(
      await call(counts, { day: '2020-01-01', more: 'x' }, { onEvent, dryRun: true }),
    ).toMatchObject({ ok: true, result: { would_execute: '[cannot be shown]' } })
  })
})

test('[4.state-rolls-back] the state of a call that preValidate refused is untouched', async () => {
  const state = createState()
  const notes = slice<string>('notes')
  await call(
    tool({
      ...minimal,
      preValidate: (_input, ctx) => {
        ctx.state.get(notes).append('x')
        fail('CONFLICT', 'no')
      },
      run: () => 1,
    }),
    {},
    { state },
  )
  expect(state.get(notes).all()).toEqual([])
})

test('[3.tool-without-run] a tool without run is advertised, and calling it is a failed result', async () => {
  const described = tool({ ...minimal, input: z.object({ a: z.string() }) })
  expect((await described.manifest()).inputSchema).toMatchObject({ required: ['a'] })
  expect(await call(described, { a: 'x' })).toMatchObject({
    ok: false,
    error: {
      code: 'PRECONDITION',
      recoverable: false,
      message: "tool 'step' is described here but cannot be run: it has no handler",
      suggestion: { action: 'use_different_tool' },
    },
  })
  await expect(described({ a: 'x' })).rejects.toMatchObject({ code: 'PRECONDITION' })
})
