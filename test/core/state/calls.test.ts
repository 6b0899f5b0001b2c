import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, createState, partial, slice, stream, tool } from 'toolable'
import type { Context } from 'toolable'

const notes = slice<string>('notes')
const audit = slice<string>('audit', { kind: 'log' })
const writing = (run: (ctx: Context) => unknown, more: object = {}) =>
  tool({
    name: 'writes',
    summary: 'Writes',
    ...more,
    run: (_input: unknown, ctx: Context) => run(ctx),
  } as never)
const write = (ctx: Context) => {
  ctx.state.get(notes).append('new')
  ctx.state.get(audit).append('tried')
}
const prepared = () => {
  const state = createState()
  state.get(notes).append('old')
  return state
}

describe('a store', () => {
  test('[3.context-state] latest, all, where, append, replace', () => {
    const view = prepared().get(notes)
    view.append('a', 'b')
    expect([view.latest(), view.all(), view.where((note) => note < 'b')]).toEqual([
      'b',
      ['old', 'a', 'b'],
      ['a'],
    ])
    view.replace(['x'])
    expect(view.all()).toEqual(['x'])
    expect(createState().get(notes).latest()).toBeUndefined()
  })

  test('[4.prototype-keys] any key is an ordinary key', () => {
    const state = createState()
    state.get(slice('__proto__')).append(1)
    expect(state.get(slice('__proto__')).all()).toEqual([1])
    expect(state.get(slice('constructor')).all()).toEqual([])
  })

  test('snapshot and restore leave logs alone', () => {
    const state = prepared()
    const snapshot = state.snapshot()
    state.get(notes).append('new')
    state.get(slice('other')).append(1)
    state.get(audit).append('seen')
    state.restore(snapshot)
    expect([
      state.get(notes).all(),
      state.get(slice('other')).all(),
      state.get(audit).all(),
    ]).toEqual([['old'], [], ['seen']])
  })
})

describe('a call', () => {
  test('[3.context-state] that succeeds keeps what it wrote, and sees it itself', async () => {
    const state = prepared()
    const outcome = await call(
      writing((ctx) => {
        write(ctx)
        return ctx.state.get(notes).all()
      }),
      {},
      { state },
    )
    expect(outcome).toMatchObject({ ok: true, result: ['old', 'new'] })
    expect([state.get(notes).all(), state.get(audit).all()]).toEqual([['old', 'new'], ['tried']])
  })

  test('[3.context-state] without a store has one of its own', async () => {
    expect(
      await call(
        writing((ctx) => {
          write(ctx)
          return ctx.state.get(notes).all()
        }),
      ),
    ).toMatchObject({ result: ['new'] })
    expect(await call(writing((ctx) => ctx.state.get(notes).all()))).toMatchObject({ result: [] })
  })

  test.each<[string, ReturnType<typeof writing>]>([
    [
      'throws',
      writing((ctx) => {
        write(ctx)
        throw new Error('x')
      }),
    ],
    [
      'rejects',
      writing(async (ctx) => {
        write(ctx)
        await Promise.resolve()
        throw new Error('x')
      }),
    ],
    [
      'returns what its output refuses',
      writing(
        (ctx) => {
          write(ctx)
          return 'x'
        },
        { output: z.number() },
      ),
    ],
    [
      'returns what JSON cannot carry',
      writing((ctx) => {
        write(ctx)
        return 1n
      }),
    ],
    [
      'has only failures',
      writing((ctx) => {
        write(ctx)
        return partial([], [new Error('x')])
      }),
    ],
    [
      'takes too long',
      writing(
        (ctx) => {
          write(ctx)
          return new Promise(() => undefined)
        },
        { timeout: '300ms' },
      ),
    ],
    [
      'breaks in the middle of a generator',
      writing(function* (ctx) {
        write(ctx)
        yield stream.progress('x')
        throw new Error('x')
      }),
    ],
    [
      'yields nonsense',
      writing(function* (ctx) {
        write(ctx)
        yield 5
      }),
    ],
    [
      'replaces and fails',
      writing((ctx) => {
        write(ctx)
        ctx.state.get(notes).replace([])
        throw new Error('x')
      }),
    ],
    [
      'restores and fails',
      writing((ctx) => {
        write(ctx)
        ctx.state.restore({ slices: new Map() })
        throw new Error('x')
      }),
    ],
  ])(
    '[4.state-rolls-back] that %s leaves the state as it was, and the log',
    async (_what, writes) => {
      const state = prepared()
      expect(await call(writes, {}, { state })).toMatchObject({ ok: false })
      expect([state.get(notes).all(), state.get(audit).all()]).toEqual([['old'], ['tried']])
    },
  )

  test('[4.state-rolls-back] that was cancelled writes nothing any more, however long it goes on', async () => {
    const state = prepared()
    const controller = new AbortController()
    let later = (): void => undefined
    const outcome = await call(
      writing(
        (ctx) =>
          new Promise((resolve) => {
            write(ctx)
            later = () => {
              write(ctx)
              resolve('late')
            }
            controller.abort()
          }),
      ),
      {},
      { state, signal: controller.signal },
    )
    expect(outcome).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
    expect(state.get(notes).all()).toEqual(['old'])
    state.get(notes).append('by somebody else')
    later()
    await new Promise((resolve) => setImmediate(resolve))
    expect([state.get(notes).all(), state.get(audit).all()]).toEqual([
      ['old', 'by somebody else'],
      ['tried'],
    ])
  })

  test('a dry run leaves the state as it was', async () => {
    const state = prepared()
    expect(
      await call(
        writing((ctx) => write(ctx), { dryRun: true }),
        {},
        { state, dryRun: true },
      ),
    ).toMatchObject({ ok: true })
    expect(state.get(notes).all()).toEqual(['old'])
  })

  test('may take its own writes back', async () => {
    const state = prepared()
    await call(
      writing((ctx) => {
        const before = ctx.state.snapshot()
        write(ctx)
        ctx.state.restore(before)
        ctx.state.get(notes).append('kept')
      }),
      {},
      { state },
    )
    expect(state.get(notes).all()).toEqual(['old', 'kept'])
  })

  test('may hand its state to another call, which then rolls back alone', async () => {
    const state = prepared()
    await call(
      writing(async (ctx) => {
        await call(
          writing((inner) => write(inner)),
          {},
          { state: ctx.state },
        )
        await call(
          writing((inner) => {
            inner.state.get(notes).append('lost')
            throw new Error('x')
          }),
          {},
          { state: ctx.state },
        )
        expect(state.get(notes).all()).toEqual(['old'])
      }),
      {},
      { state },
    )
    expect(state.get(notes).all()).toEqual(['old', 'new'])
  })

  test('appends very many items', async () => {
    const state = createState()
    await call(
      writing((ctx) => {
        for (let index = 0; index < 3; index++)
          ctx.state.get(notes).replace(Array.from({ length: 200_000 }, () => 'x'))
        ctx.state.get(notes).append('y')
      }),
      {},
      { state },
    )
    expect(state.get(notes).all().length).toBe(200_001)
  })
})

describe('calls at the same time', () => {
  test('[4.concurrent-calls] do not see what others wrote, and lose nothing to the failure of another', async () => {
    const state = prepared()
    const seen: (readonly string[])[] = []
    let meet = (): void => undefined
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    let arrived = 0
    const one = (name: string, broken = false) =>
      call(
        writing(async (ctx) => {
          ctx.state.get(notes).append(name)
          if (++arrived === 3) meet()
          await met
          seen.push(ctx.state.get(notes).all())
          if (broken) throw new Error('x')
        }),
        {},
        { state },
      )
    await Promise.all([one('a'), one('b', true), one('c')])
    expect(seen).toEqual([
      ['old', 'a'],
      ['old', 'b'],
      ['old', 'c'],
    ])
    expect(state.get(notes).all()).toEqual(['old', 'a', 'c'])
  })

  test('[4.concurrent-calls] have their own input, context, artifacts and deadline', async () => {
    const own = tool({
      name: 'own',
      summary: 'Own',
      input: z.object({ id: z.number() }),
      context: ({ id }) => ({ id }),
      run: async ({ id }, ctx) => {
        ctx.artifact(`a${id}`, 'x')
        await new Promise((resolve) => setImmediate(resolve))
        return [id, ctx.context['id'], ctx.caller, ctx.cwd]
      },
    })
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, id) => call(own, { id }, { caller: `c${id}`, cwd: `/${id}` })),
    )
    outcomes.forEach((outcome, id) => {
      expect(outcome).toMatchObject({
        ok: true,
        result: [id, id, `c${id}`, `/${id}`],
        meta: { caller: `c${id}`, artifacts: [{ name: `a${id}` }] },
      })
    })
  })
})
