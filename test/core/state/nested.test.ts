import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, createState, memoryFiles, partial, slice, stream, toolset } from 'toolable'
import { doing, gate, settle } from './support.ts'

const notes = slice<string>('notes')
const writes = (text: string, more: object = {}) =>
  doing((ctx) => ctx.state.get(notes).append(text), more)

describe('calls inside a call', () => {
  test('[8.state-nested] work on its changes, whichever way they got the state', async () => {
    const state = createState()
    await call(
      doing(async (ctx) => {
        ctx.state.get(notes).append('outer')
        for (const given of [state, ctx.state])
          expect(
            await call(
              doing((inner) => inner.state.get(notes).all().length),
              {},
              { state: given },
            ),
          ).toMatchObject({ ok: true })
        expect(
          await call(
            doing((inner) => {
              const seen = inner.state.get(notes).all()
              inner.state.get(notes).append('inner')
              return seen
            }),
            {},
            { state },
          ),
        ).toMatchObject({ result: ['outer'] })
        expect(ctx.state.get(notes).all()).toEqual(['outer', 'inner'])
        expect(state.get(notes).all()).toEqual([])
      }),
      {},
      { state },
    )
    expect(state.get(notes).all()).toEqual(['outer', 'inner'])
  })

  test('[8.state-nested] also through one without the state, a generator, a subscriber of progress and a few levels', async () => {
    const state = createState()
    const outer = doing(async () => {
      await call(doing(() => call(writes('through'), {}, { state })))
      await call(
        doing(async function* (ctx) {
          yield stream.progress('x')
          await call(writes('generated'), {}, { state: ctx.state })
        }),
        {},
        { state },
      )
      await call(
        doing((ctx) => ctx.progress('x')),
        {},
        {
          onEvent: async (event) => {
            if (event.type === 'progress') await call(writes('heard'), {}, { state })
          },
        },
      )
      await call(
        doing(() =>
          call(
            doing(() => call(writes('deep'), {}, { state })),
            {},
            { state },
          ),
        ),
        {},
        { state },
      )
      expect(state.get(notes).all()).toEqual([])
      throw new Error('x')
    })
    expect(await call(outer, {}, { state })).toMatchObject({ error: { message: 'x' } })
    expect(state.get(notes).all()).toEqual([])
  })

  test('[8.state-nested] at the same time are apart from each other, and both stay', async () => {
    const state = createState()
    const outcome = await call(
      doing(async () => {
        const both = gate()
        let arrived = 0
        const one = (text: string, broken: boolean) =>
          call(
            doing(async (ctx) => {
              ctx.state.get(notes).append(text)
              if (++arrived === 3) both.open()
              await both.passed
              if (broken) throw new Error('x')
              return ctx.state.get(notes).all()
            }),
            {},
            { state },
          )
        return (await Promise.all([one('a', false), one('b', true), one('c', false)])).map(
          (outcome) => (outcome.ok ? outcome.result : null),
        )
      }),
      {},
      { state },
    )
    expect(outcome).toMatchObject({ result: [['a'], null, ['c']] })
    expect(state.get(notes).all()).toEqual(['a', 'c'])
  })

  test('[8.state-nested] of a toolset join too', async () => {
    const state = createState()
    const set = toolset({ name: 'set', tools: [writes('by the set')] })
    await call(
      doing(async () => {
        expect(await set.call('does', {}, { state })).toMatchObject({ ok: true })
        throw new Error('x')
      }),
      {},
      { state },
    )
    expect(state.get(notes).all()).toEqual([])
    await set.call('does', {}, { state })
    expect(state.get(notes).all()).toEqual(['by the set'])
  })
})

describe('what a call leaves running', () => {
  async function leaveRunning(failing: boolean) {
    const state = createState({ filesystem: memoryFiles() })
    const later = gate()
    let leftover: Promise<unknown> = Promise.resolve()
    const outcome = await call(
      doing((ctx) => {
        leftover = later.passed.then(async () => {
          ctx.state.get(notes).append('directly')
          const given = (await call(writes('given'), {}, { state: ctx.state })).ok
          const captured = (await call(writes('captured'), {}, { state })).ok
          const through = await call(
            doing(() => call(writes('through'), {}, { state }).then(({ ok }) => ok)),
          )
          const files = await (async () => ctx.filesystem.write('a', 'b'))().then(
            () => true,
            () => false,
          )
          return { given, captured, through: through.ok && through.result, files }
        })
        if (failing) throw new Error('x')
      }),
      {},
      { state },
    )
    expect(outcome.ok).toBe(!failing)
    later.open()
    return { state, said: await leftover }
  }

  test('[8.state-over] of a call that failed, changes nothing by any way', async () => {
    const { state, said } = await leaveRunning(true)
    expect(said).toEqual({ given: false, captured: false, through: false, files: false })
    expect(state.get(notes).all()).toEqual([])
  })

  test('[8.state-over] of a call that succeeded, makes calls of its own on the state, and nothing through the call', async () => {
    const { state, said } = await leaveRunning(false)
    expect(said).toEqual({ given: false, captured: true, through: true, files: false })
    expect(state.get(notes).all()).toEqual(['captured', 'through'])
  })

  test('[8.state-over] a call inside that ends after its outer one fails, instead of losing its changes without a word', async () => {
    for (const failing of [false, true]) {
      const state = createState()
      const later = gate()
      let inner: Promise<unknown> = Promise.resolve()
      await call(
        doing(() => {
          inner = call(
            doing(async (ctx) => {
              ctx.state.get(notes).append('late')
              await later.passed
            }),
            {},
            { state },
          )
          if (failing) throw new Error('x')
        }),
        {},
        { state },
      )
      later.open()
      expect(await inner).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
      expect(state.get(notes).all()).toEqual([])
    }
  })

  test('[8.state-over] the guards hear nothing of a success that came after the end', async () => {
    const heard: string[] = []
    const controller = new AbortController()
    const later = gate()
    const outcome = await call(
      doing(async () => {
        controller.abort()
        await later.passed
      }),
      {},
      {
        state: createState(),
        signal: controller.signal,
        guards: [
          { name: 'hears', check: () => undefined, passed: () => void heard.push('passed') },
        ],
      },
    )
    later.open()
    await settle()
    expect([outcome.ok, heard]).toEqual([false, []])
  })

  test('[8.state-over] whoever is told of a failure may call tools on the state', async () => {
    const state = createState()
    await call(
      doing(() => {
        throw new Error('x')
      }),
      {},
      {
        state,
        onEvent: async (event) => {
          if (event.type === 'tool_invoked') await call(writes('it failed'), {}, { state })
        },
      },
    )
    expect(state.get(notes).all()).toEqual(['it failed'])
  })
})

describe('other ends of a call', () => {
  test('[8.state-slices] a partial success keeps what was done, a generator too, a dry run nothing', async () => {
    const state = createState({ filesystem: memoryFiles() })
    const both = async (
      ctx: { state: typeof state; filesystem: typeof state.filesystem },
      text: string,
    ) => {
      ctx.state.get(notes).append(text)
      await ctx.filesystem.write(text, text)
    }
    expect(
      await call(
        doing(async (ctx) => {
          await both(ctx, 'partial')
          return partial([1], [new Error('x')])
        }),
        {},
        { state },
      ),
    ).toMatchObject({ ok: true, status: 'partial' })
    expect(
      await call(
        doing(async function* (ctx) {
          await both(ctx, 'generator')
          yield stream.progress('x')
        }),
        {},
        { state },
      ),
    ).toMatchObject({ ok: true })
    expect(
      await call(
        doing((ctx) => both(ctx, 'dry'), { dryRun: true }),
        {},
        { state, dryRun: true },
      ),
    ).toMatchObject({ ok: true })
    expect([
      state.get(notes).all(),
      (await state.filesystem.list()).items.map(({ path }) => path),
    ]).toEqual([
      ['partial', 'generator'],
      ['generator', 'partial'],
    ])
  })

  test('[8.state-slices] a repeat with the same idempotency key gets the answer and changes nothing', async () => {
    const state = createState()
    const home = mkdtempSync(join(tmpdir(), 'toolable-state-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const env = { HOME: home, XDG_STATE_HOME: home }
    for (let time = 0; time < 2; time++)
      expect(await call(writes('once'), {}, { state, env, idempotencyKey: 'k' })).toMatchObject({
        ok: true,
      })
    expect(state.get(notes).all()).toEqual(['once'])
    const failing = doing((ctx) => {
      ctx.state.get(notes).append('lost')
      throw new Error('x')
    })
    expect(await call(failing, {}, { state, env, idempotencyKey: 'f' })).toMatchObject({
      ok: false,
    })
    expect(state.get(notes).all()).toEqual(['once'])
  })

  test('[8.state-slices] what is no state is refused, and closing it belongs to the host', async () => {
    expect(await call(writes('x'), {}, { state: { id: 'x' } as never })).toMatchObject({
      error: { code: 'CONFIG', message: expect.stringContaining('createState()') },
    })
    expect(
      await call(
        doing((ctx) => ctx.state.close()),
        {},
        { state: createState() },
      ),
    ).toMatchObject({ error: { code: 'PRECONDITION' } })
    expect(
      await call(
        doing((ctx) => ctx.filesystem.stat('x')),
        {},
        { state: createState() },
      ),
    ).toMatchObject({ error: { code: 'CONFIG', message: expect.stringContaining('no files') } })
  })
})
