import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { call, tool } from 'toolable'

const minimal = { name: 'waits', summary: 'Waits' }
const hang = () => new Promise<never>(() => undefined)

describe('the deadline', () => {
  test('[4.deadline-while-running] [3.timeout-option] ends a handler that never settles', async () => {
    const outcome = await call(tool({ ...minimal, timeout: '20ms', run: hang }))
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'TIMEOUT',
        message: 'the call took longer than 0.02 seconds',
        recoverable: false,
        retryable: false,
      },
    })
  })

  test.each<[string, object]>([
    ['preValidate', { preValidate: hang, run: () => 1 }],
    ['context', { context: hang, run: () => 1 }],
    ['validation', { input: z.object({ a: z.string().default('x').refine(hang) }), run: () => 1 }],
    ['the check of the output', { output: z.number().refine(hang), run: () => 1 }],
    [
      'a generator',
      {
        async *run() {
          await hang()
          yield null
        },
      },
    ],
  ])('[4.deadline-while-running] ends a call that hangs in %s', async (_where, options) => {
    expect(await call(tool({ ...minimal, ...options }), {}, { timeout: '20ms' })).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT' },
    })
  })

  test('[3.durations] the earliest of tool, call and input counts', async () => {
    const input = z.object({ timeout: z.number().optional() })
    const remaining = (
      timeout: number | undefined,
      forCall: string | number | undefined,
      given: { timeout?: number },
    ) =>
      call(
        tool({
          ...minimal,
          input,
          ...(timeout !== undefined && { timeout }),
          run: (_input, ctx) => Math.ceil(ctx.deadline?.remaining() ?? -1),
        }),
        given,
        forCall === undefined ? {} : { timeout: forCall },
      )
    expect(await remaining(undefined, undefined, {})).toMatchObject({ result: -1 })
    expect(await remaining(50, '1h', { timeout: 100 })).toMatchObject({ result: 50 })
    expect(await remaining(50, '30s', { timeout: 100 })).toMatchObject({ result: 30 })
    expect(await remaining(50, '1m', { timeout: 20 })).toMatchObject({ result: 20 })
    expect(await remaining(1e12, undefined, {})).toMatchObject({ ok: true })
  })

  test('[3.context-signal-deadline] the handler sees when it has to be over, and its signal aborts with the reason', async () => {
    const reasons: unknown[] = []
    const watches = tool({
      ...minimal,
      timeout: '300ms',
      run: (_input, ctx) =>
        new Promise((resolve) => {
          expect(ctx.deadline!.at.getTime()).toBeGreaterThan(Date.now() - 1000)
          expect(ctx.deadline!.remaining()).toBeLessThanOrEqual(0.3)
          ctx.signal.addEventListener('abort', () => {
            reasons.push(ctx.signal.reason)
            resolve(ctx.deadline?.remaining())
          })
        }),
    })
    expect(await call(watches)).toMatchObject({ error: { code: 'TIMEOUT' } })
    expect(reasons).toMatchObject([{ name: 'ToolError', code: 'TIMEOUT' }])
  })

  test('[4.deadline-at-entry] a call that is cancelled or late before its turn does not run', async () => {
    const run = vi.fn()
    expect(
      await call(tool({ ...minimal, run }), {}, { signal: AbortSignal.abort() }),
    ).toMatchObject({ error: { code: 'CANCELLED' } })
    expect(
      await call(tool({ ...minimal, preValidate: hang, run }), {}, { timeout: '10ms' }),
    ).toMatchObject({ error: { code: 'TIMEOUT' } })
    let release = (): void => undefined
    const slow = tool({
      ...minimal,
      preValidate: () =>
        new Promise<void>((resolve) => {
          release = resolve
        }),
      run,
    })
    expect(await call(slow, {}, { timeout: '10ms' })).toMatchObject({ error: { code: 'TIMEOUT' } })
    release()
    await new Promise((resolve) => setImmediate(resolve))
    expect(run).not.toHaveBeenCalled()
  })

  test('stands still while somebody is asked', async () => {
    const later = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 600, value))
    const asks = tool({
      ...minimal,
      timeout: '500ms',
      annotations: { destructive: true },
      run: async (_input, ctx) => {
        const left = ctx.deadline!.remaining()
        const answers = await Promise.all([
          ctx.ask({ kind: 'confirm', prompt: '?' }),
          ctx.sample('?'),
          ctx.ask({ kind: 'input', prompt: '?' }),
        ])
        return [...answers, left > 0]
      },
    })
    const outcome = await call(
      asks,
      {},
      {
        confirm: () => later(true),
        answer: ({ kind }) => later(kind === 'confirm' ? true : 'in'),
        sample: () => later('text'),
      },
    )
    expect(outcome).toMatchObject({ ok: true, result: [true, 'text', 'in', true] })
  })

  test('goes on after the answer', async () => {
    const asks = tool({
      ...minimal,
      timeout: '20ms',
      run: async (_input, ctx) => {
        await ctx.ask({ kind: 'confirm', prompt: '?' })
        await hang()
      },
    })
    expect(await call(asks, {}, { answer: () => true })).toMatchObject({
      error: { code: 'TIMEOUT' },
    })
  })
})

describe('cancelling', () => {
  const signalled = (abort: (controller: AbortController) => void) => {
    const controller = new AbortController()
    const outcome = call(
      tool({
        ...minimal,
        run: () => {
          queueMicrotask(() => abort(controller))
          return hang()
        },
      }),
      {},
      { signal: controller.signal },
    )
    return outcome
  }

  test('[3.context-signal-deadline] while running, with or without a reason', async () => {
    expect(await signalled((controller) => controller.abort())).toMatchObject({
      error: { code: 'CANCELLED', message: 'the call was cancelled' },
    })
    expect(await signalled((controller) => controller.abort('not needed'))).toMatchObject({
      error: { code: 'CANCELLED', message: 'the call was cancelled: not needed' },
    })
    expect(await signalled((controller) => controller.abort(new Error('shutdown')))).toMatchObject({
      error: { code: 'CANCELLED', message: 'the call was cancelled: shutdown' },
    })
    expect(await signalled((controller) => controller.abort({ odd: 1 }))).toMatchObject({
      error: { code: 'CANCELLED', message: 'the call was cancelled' },
    })
  })

  test('AbortSignal.timeout is a timeout', async () => {
    expect(
      await call(tool({ ...minimal, run: hang }), {}, { signal: AbortSignal.timeout(10) }),
    ).toMatchObject({ error: { code: 'TIMEOUT' } })
  })

  test('a reason that is a ToolError is the failure', async () => {
    const { ToolError } = await import('toolable')
    expect(
      await signalled((controller) =>
        controller.abort(new ToolError('CONFLICT', 'somebody else was first')),
      ),
    ).toMatchObject({ error: { code: 'CONFLICT', message: 'somebody else was first' } })
  })

  test('after the end it changes nothing', async () => {
    const controller = new AbortController()
    let signal: AbortSignal | undefined
    const outcome = await call(
      tool({
        ...minimal,
        run: (_input, ctx) => {
          signal = ctx.signal
          return 1
        },
      }),
      {},
      { signal: controller.signal },
    )
    controller.abort()
    expect(outcome).toMatchObject({ ok: true, result: 1 })
    expect(signal?.aborted).toBe(false)
  })

  test('a handler may catch the abort and clean up, and the answer does not wait for it', async () => {
    const controller = new AbortController()
    let clean!: (value: string) => void
    const cleaned = new Promise<string>((resolve) => {
      clean = resolve
    })
    const tidy = tool({
      ...minimal,
      run: async (_input, ctx) => {
        try {
          await ctx.ask({ kind: 'confirm', prompt: '?' })
        } finally {
          clean('cleaned')
        }
      },
    })
    const outcome = call(
      tidy,
      {},
      {
        signal: controller.signal,
        answer: () => {
          queueMicrotask(() => controller.abort())
          return hang()
        },
      },
    )
    expect(await outcome).toMatchObject({ error: { code: 'CANCELLED' } })
    expect(await cleaned).toBe('cleaned')
  })
})
