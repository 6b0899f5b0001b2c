import { describe, expect, test, vi } from 'vitest'
import { call, createBudget, createState, slice, tool } from 'toolable'
import type { Budget, Context, TokenUsage } from 'toolable'

const run = vi.fn(() => 'ran')
const act = tool({ name: 'act', summary: 'Acts', run })
const notes = slice<string>('notes')
const spender = (usage: TokenUsage) =>
  tool({
    name: 'spender',
    summary: 's',
    run: (_input: unknown, ctx: Context) => {
      ctx.state.get(notes).append('x')
      ctx.budget!.spend(usage)
    },
  } as never)
const waiting = () => {
  let arrived = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    arrived = resolve
  })
  return {
    begun,
    waits: tool({
      name: 'waits',
      summary: 'w',
      run: (_input, ctx) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(new Error('ended')))
          arrived()
        }),
    }),
  }
}
const expired = async (budget: Budget) => {
  while (budget.remaining('time')! > 0) await new Promise((resolve) => setTimeout(resolve, 1))
}

describe('a budget', () => {
  test.each<[string, object, TokenUsage, object]>([
    ['input_tokens', { inputTokens: 10 }, { input: 11 }, { limit: 10, used: 11 }],
    ['output_tokens', { outputTokens: 10 }, { output: 11, input: 100 }, { limit: 10, used: 11 }],
    [
      'total_tokens',
      { totalTokens: 10, inputTokens: 100 },
      { input: 6, output: 6 },
      { limit: 10, used: 12 },
    ],
  ])(
    '[8.budget-dimensions] [8.budget-during] a handler that spends past %s is ended, told the dimension, and rolled back',
    async (dimension, limits, usage, details) => {
      const budget = createBudget(limits)
      const state = createState()
      expect(await call(spender(usage), {}, { budget, state })).toMatchObject({
        ok: false,
        error: {
          code: 'E_BUDGET_EXCEEDED',
          recoverable: false,
          retryable: false,
          message: expect.stringContaining(dimension.replace('_', ' ')),
          details: { dimension, ...details },
          suggestion: { action: 'abort' },
        },
      })
      expect(state.get(notes).all()).toEqual([])
      run.mockClear()
      expect(await call(act, {}, { budget })).toMatchObject({
        ok: false,
        error: { code: 'E_BUDGET_EXCEEDED', details: { dimension } },
      })
      expect(run).not.toHaveBeenCalled()
      expect(() => budget.check()).toThrow(expect.objectContaining({ code: 'E_BUDGET_EXCEEDED' }))
    },
  )

  test('[8.budget-dimensions] exactly the limit is within it, and what is left is told', async () => {
    const budget = createBudget({ inputTokens: 10, calls: 5 })
    expect(await call(spender({ input: 10 }), {}, { budget })).toMatchObject({ ok: true })
    expect([
      budget.remaining('input_tokens'),
      budget.remaining('calls'),
      budget.remaining('output_tokens'),
      budget.remaining('time'),
    ]).toEqual([0, 4, undefined, undefined])
    expect(budget.used).toMatchObject({
      inputTokens: 10,
      outputTokens: 0,
      totalTokens: 10,
      calls: 1,
    })
    expect(budget.remaining('tokens' as never)).toBeUndefined()
  })

  test('[8.budget-dimensions] calls: no more begin than there are, also in parallel; those that are refused do not count', async () => {
    const budget = createBudget({ calls: 3 })
    expect(await call(act, { odd: 1 } as never, { budget })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    run.mockClear()
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => call(act, {}, { budget })))
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, false, false, false])
    expect(outcomes[5]).toMatchObject({
      error: {
        code: 'E_BUDGET_EXCEEDED',
        message: 'the budget of 3 calls is used up',
        details: { dimension: 'calls', limit: 3, used: 3 },
      },
    })
    expect([run.mock.calls.length, budget.used.calls]).toEqual([3, 3])
  })

  test('[8.budget-dimensions] calls inside a call count where they are given the budget', async () => {
    const budget = createBudget({ calls: 2 })
    const outer = tool({
      name: 'outer',
      summary: 'o',
      run: async (_input, ctx) => [
        (await call(act, {}, { budget: ctx.budget! })).ok,
        (await call(act, {}, { budget: ctx.budget! })).ok,
      ],
    })
    expect(await call(outer, {}, { budget })).toMatchObject({ ok: true, result: [true, false] })
  })

  test('[8.budget-during] parallel calls that share it are ended when one spends too much, and a handler that hides the error is ended too', async () => {
    const budget = createBudget({ totalTokens: 10 })
    const { begun, waits } = waiting()
    const other = call(waits, {}, { budget })
    await begun
    const hides = tool({
      name: 'hides',
      summary: 'h',
      run: (_input, ctx) => {
        try {
          ctx.budget!.spend({ output: 11 })
        } catch {
          return 'fine'
        }
      },
    })
    expect(await call(hides, {}, { budget })).toMatchObject({
      ok: false,
      error: { code: 'E_BUDGET_EXCEEDED' },
    })
    expect(await other).toMatchObject({
      ok: false,
      error: { code: 'E_BUDGET_EXCEEDED', details: { dimension: 'total_tokens' } },
    })
  })

  test('[8.budget-during] time ends what runs, names the dimension, and tells the handler when', async () => {
    const budget = createBudget({ time: '2s' })
    let left: number | undefined
    const slow = tool({
      name: 'slow',
      summary: 's',
      run: (_input, ctx) => {
        left = ctx.deadline?.remaining()
        return new Promise(() => undefined)
      },
    })
    const outcomes = await Promise.all([
      call(slow, {}, { budget }),
      call(slow, {}, { budget, timeout: 60 }),
    ])
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        ok: false,
        error: {
          code: 'TIMEOUT',
          message: 'the budget of 2 seconds is used up',
          details: { dimension: 'time', limit: 2 },
        },
      })
    expect(left).toBeLessThanOrEqual(2)
  })

  test('[8.budget-dimensions] an expired deadline is refused before the handler', async () => {
    const budget = createBudget({ time: 0.001 })
    await expired(budget)
    run.mockClear()
    expect(await call(act, {}, { budget })).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT', details: { dimension: 'time' } },
    })
    expect(run).not.toHaveBeenCalled()
    expect(() => budget.spend({})).toThrow(expect.objectContaining({ code: 'TIMEOUT' }))
  })

  test('[8.budget-during] its time goes on while somebody is asked, that of a deadline does not', async () => {
    const asks = tool({
      name: 'asks',
      summary: 'a',
      run: (_input, ctx) => ctx.ask({ kind: 'confirm', prompt: 'Well?' }),
    })
    const answer = () => new Promise((resolve) => setTimeout(() => resolve(true), 150))
    expect(await call(asks, {}, { timeout: 0.05, answer })).toMatchObject({ ok: true })
    expect(
      await call(
        asks,
        {},
        { budget: createBudget({ time: 0.05 }), answer: () => new Promise(() => undefined) },
      ),
    ).toMatchObject({ ok: false, error: { code: 'TIMEOUT', details: { dimension: 'time' } } })
  })

  test('[8.budget-config] limits that make no sense are CONFIG, and so is what createBudget did not make', async () => {
    for (const odd of [
      {},
      { calls: 0 },
      { calls: -1 },
      { inputTokens: 1.5 },
      { outputTokens: NaN },
      { totalTokens: '5' },
      { time: 0 },
      { time: 'soon' },
      { tokens: 5 },
      { time: undefined },
      undefined,
      5,
    ])
      expect(() => createBudget(odd as never)).toThrow(expect.objectContaining({ code: 'CONFIG' }))
    expect(() => createBudget({ inputToken: 5 } as never)).toThrow("did you mean 'inputTokens'?")
    expect(await call(act, {}, { budget: { check: () => undefined } as never })).toMatchObject({
      ok: false,
      error: { code: 'CONFIG' },
    })
  })

  test('[8.budget-config] what is spent must be a number, and what was given cannot be changed afterwards', () => {
    const limits = { inputTokens: 10 }
    const budget = createBudget(limits)
    limits.inputTokens = 1000
    for (const odd of [-1, NaN, Infinity, '5'])
      expect(() => budget.spend({ input: odd as number })).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT' }),
      )
    expect([budget.used.inputTokens, budget.limits]).toEqual([0, { inputTokens: 10 }])
    expect(() => {
      ;(budget.limits as { inputTokens: number }).inputTokens = 5
    }).toThrow(TypeError)
  })
})
