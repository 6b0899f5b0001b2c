import { describe, expect, test } from 'vitest'
import { call, createState, member, slice } from 'toolable'
import type { Member, Resources, Transactional, TransactionPart } from 'toolable'
import { counter, doing, gate, settle } from './support.ts'

const notes = slice<string>('notes')
const steps = (): {
  readonly said: string[]
  named(key: string, scope: 'singleton' | 'call', ...needs: Member<string>[]): Member<string>
} => {
  const said: string[] = []
  return {
    said,
    named: (key, scope, ...needs) =>
      member<string>(key, {
        scope,
        async open(resources) {
          for (const needed of needs) await resources.get(needed)
          said.push(`open ${key}`)
          return key
        },
        close: () => void said.push(`close ${key}`),
      }),
  }
}

describe('members', () => {
  test('[8.state-members] a singleton is opened once for the state, at the first look, and closed with it', async () => {
    const { said, named } = steps()
    const database = named('database', 'singleton')
    const state = createState()
    const uses = doing((ctx) => ctx.resources.get(database))
    expect(said).toEqual([])
    await Promise.all([call(uses, {}, { state }), call(uses, {}, { state })])
    expect(await call(uses, {}, { state })).toMatchObject({ result: 'database' })
    expect(said).toEqual(['open database'])
    await state.close()
    expect(said).toEqual(['open database', 'close database'])
    expect(await call(uses, {}, { state })).toMatchObject({
      ok: false,
      error: { code: 'PRECONDITION' },
    })
  })

  test('[8.state-members] one of a call is opened once for the call, and closed when it ends, also by a failure', async () => {
    const { said, named } = steps()
    const connection = named('connection', 'call')
    const state = createState()
    await call(
      doing(async (ctx) => [
        await ctx.resources.get(connection),
        await ctx.resources.get(connection),
      ]),
      {},
      { state },
    )
    await call(
      doing(async (ctx) => {
        await ctx.resources.get(connection)
        throw new Error('x')
      }),
      {},
      { state },
    )
    expect(said).toEqual([
      'open connection',
      'close connection',
      'open connection',
      'close connection',
    ])
  })

  test('[8.state-members] they are closed in the reverse of the order in which they were opened', async () => {
    const { said, named } = steps()
    const settings = named('settings', 'singleton')
    const database = named('database', 'singleton', settings)
    const connection = named('connection', 'call', database)
    const cursor = named('cursor', 'call', connection)
    const state = createState()
    await call(
      doing((ctx) => ctx.resources.get(cursor)),
      {},
      { state },
    )
    await state.close()
    expect(said).toEqual([
      'open settings',
      'open database',
      'open connection',
      'open cursor',
      'close cursor',
      'close connection',
      'close database',
      'close settings',
    ])
  })

  test('[8.state-members] without a state they live as long as the call', async () => {
    const { said, named } = steps()
    const alone = named('alone', 'singleton')
    await call(doing((ctx) => ctx.resources.get(named('own', 'call', alone))))
    expect(said).toEqual(['open alone', 'open own', 'close own', 'close alone'])
    const shared = counter()
    const counting = member('counting', { open: () => shared })
    for (const broken of [false, true])
      await call(
        doing(async (ctx) => {
          ;(await ctx.resources.get(counting)).count++
          if (broken) throw new Error('x')
        }),
      )
    expect(shared.count).toBe(1)
  })

  test('[8.state-members] one that could not be opened is tried again, and one that cannot be closed keeps no other open', async () => {
    const { said, named } = steps()
    let attempts = 0
    const flaky = member('flaky', {
      open: () => {
        if (++attempts === 1) throw new Error('not yet')
        return 'there'
      },
    })
    const state = createState()
    const uses = doing((ctx) => ctx.resources.get(flaky))
    expect(await call(uses, {}, { state })).toMatchObject({
      ok: false,
      error: { message: 'not yet' },
    })
    expect(await call(uses, {}, { state })).toMatchObject({ result: 'there' })
    const stuck = member('stuck', {
      scope: 'call',
      open: () => 'x',
      close: () => {
        throw new Error('stuck')
      },
    })
    const outcome = await call(
      doing(async (ctx) => {
        await ctx.resources.get(named('first', 'call'))
        await ctx.resources.get(stuck)
        ctx.state.get(notes).append('kept')
      }),
      {},
      { state },
    )
    expect(outcome).toMatchObject({
      ok: true,
      meta: { warnings: [expect.stringContaining('stuck')] },
    })
    expect([said, state.get(notes).all()]).toEqual([['open first', 'close first'], ['kept']])
  })

  test.each(['singleton', 'call'] as const)(
    '[8.state-circles] a circle of members is a CONFIG error that shows it: %s',
    async (scope) => {
      const a: Member<unknown> = member<unknown>('a', {
        scope,
        open: (resources) => resources.get(b),
      })
      const b = member<unknown>('b', { scope, open: (resources) => resources.get(a) })
      const outcome = await call(
        doing((ctx) => ctx.resources.get(a)),
        {},
        { state: createState() },
      )
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'CONFIG', message: expect.stringContaining('a → b → a') },
      })
    },
  )

  test.each(['singleton', 'call'] as const)(
    '[8.state-circles] also where both ends of it are opened at the same time: %s',
    async (scope) => {
      const later = (get: () => Member<unknown>) => async (resources: Resources) => {
        await settle()
        return resources.get(get())
      }
      const a: Member<unknown> = member<unknown>('a', { scope, open: later(() => b) })
      const b = member<unknown>('b', { scope, open: later(() => a) })
      const outcome = await call(
        doing((ctx) => Promise.all([ctx.resources.get(a), ctx.resources.get(b)])),
        {},
        { state: createState(), timeout: '20s' },
      )
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'CONFIG', message: expect.stringContaining('circle') },
      })
    },
  )

  test('[8.state-circles] one that lives as long as the state cannot hold one of a call, and two cannot share a key', async () => {
    const { named } = steps()
    const state = createState()
    const inner = named('inner', 'call')
    expect(
      await call(
        doing((ctx) => ctx.resources.get(named('outer', 'singleton', inner))),
        {},
        { state },
      ),
    ).toMatchObject({
      error: {
        code: 'CONFIG',
        message: expect.stringContaining("'inner', which lives for one call"),
      },
    })
    await expect(state.resources.get(inner)).rejects.toMatchObject({ code: 'CONFIG' })
    await state.resources.get(named('twice', 'singleton'))
    await expect(state.resources.get(named('twice', 'singleton'))).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('two members'),
    })
  })

  test('[8.state-members] a call ends on time although a member never opens, and what opens later is closed', async () => {
    for (const [state, scope] of [
      [createState(), 'call'],
      [createState(), 'singleton'],
      [undefined, 'call'],
      [undefined, 'singleton'],
    ] as const) {
      const ready = gate()
      const said: string[] = []
      const slow = member('slow', {
        scope,
        async open() {
          await ready.passed
          said.push('open')
          return 'late'
        },
        close: () => void said.push('close'),
      })
      const controller = new AbortController()
      const outcome = await call(
        doing((ctx) => {
          const got = ctx.resources.get(slow)
          controller.abort()
          return got
        }),
        {},
        { ...(state && { state }), signal: controller.signal },
      )
      expect(outcome).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
      ready.open()
      await settle()
      await state?.close()
      expect(said).toEqual(['open', 'close'])
    }
  })
})

describe('members that can be put back', () => {
  test('[8.state-snapshotable] are as they were when a call failed, and as it left them when it succeeded', async () => {
    const shared = counter()
    const counting = member('counting', { open: () => shared })
    const state = createState()
    const count = (broken: boolean) =>
      call(
        doing(async (ctx) => {
          ;(await ctx.resources.get(counting)).count += 1
          if (broken) throw new Error('x')
        }),
        {},
        { state },
      )
    await count(false)
    await count(true)
    await count(false)
    expect(shared.count).toBe(2)
  })

  test('[8.state-snapshotable] are used by one call at a time, in the order of asking', async () => {
    const shared = counter()
    const counting = member('counting', { open: () => shared })
    const state = createState()
    const one = (broken: boolean) =>
      call(
        doing(async (ctx) => {
          const mine = await ctx.resources.get(counting)
          const before = mine.count
          await settle()
          mine.count = before + 1
          if (broken) throw new Error('x')
        }),
        {},
        { state },
      )
    await Promise.all(Array.from({ length: 10 }, (_, index) => one(index % 2 === 1)))
    expect(shared.count).toBe(5)
  })

  test('[8.state-snapshotable] a call that only reads them waits for nobody', async () => {
    const shared = counter()
    const counting = member('counting', { open: () => shared })
    const state = createState()
    const reached = gate()
    const done = gate()
    const holding = call(
      doing(async (ctx) => {
        await ctx.resources.get(counting)
        reached.open()
        await done.passed
      }),
      {},
      { state },
    )
    await reached.passed
    expect(
      await call(
        doing(async (ctx) => (await ctx.resources.get(counting)).count, {
          annotations: { readOnly: true },
        }),
        {},
        { state },
      ),
    ).toMatchObject({ result: 0 })
    done.open()
    await holding
  })

  test('[8.state-snapshotable] a call that is cancelled while it waits for its turn leaves the queue', async () => {
    const counting = member('counting', { open: () => counter() })
    const state = createState()
    const reached = gate()
    const done = gate()
    const uses = doing((ctx) => ctx.resources.get(counting).then(({ count }) => count))
    const holding = call(
      doing(async (ctx) => {
        await ctx.resources.get(counting)
        reached.open()
        await done.passed
      }),
      {},
      { state },
    )
    await reached.passed
    const controller = new AbortController()
    const waiting = call(uses, {}, { state, signal: controller.signal })
    await settle()
    controller.abort()
    expect(await waiting).toMatchObject({ error: { code: 'CANCELLED' } })
    done.open()
    await holding
    expect(await call(uses, {}, { state })).toMatchObject({ ok: true })
  })

  test('[8.state-snapshotable] a call that failed does not wait for a turn that it asked for and nobody needs any more', async () => {
    const counting = member('counting', { open: () => counter() })
    const state = createState()
    const reached = gate()
    const done = gate()
    const holding = call(
      doing(async (ctx) => {
        await ctx.resources.get(counting)
        reached.open()
        await done.passed
      }),
      {},
      { state },
    )
    await reached.passed
    const failed = await call(
      doing(async (ctx) => {
        ctx.resources.get(counting).catch(() => undefined)
        await settle()
        throw new Error('at once')
      }),
      {},
      { state },
    )
    expect(failed).toMatchObject({ error: { message: 'at once' } })
    done.open()
    await holding
    expect(
      await call(
        doing((ctx) => ctx.resources.get(counting).then(() => 'free')),
        {},
        { state },
      ),
    ).toMatchObject({ result: 'free' })
  })

  test('[8.state-snapshotable] one whose snapshot cannot be taken is not handed out', async () => {
    const shared = counter({
      snapshot: () => {
        throw new Error('no room')
      },
    })
    const counting = member('counting', { open: () => shared })
    const state = createState()
    expect(
      await call(
        doing(async (ctx) => {
          ;(await ctx.resources.get(counting)).count++
        }),
        {},
        { state },
      ),
    ).toMatchObject({ ok: false, error: { message: 'no room' } })
    expect(shared.count).toBe(0)
    expect(
      await call(
        doing(() => 'next'),
        {},
        { state },
      ),
    ).toMatchObject({ ok: true })
  })

  test('[8.state-snapshotable] one that cannot be put back is told as a warning, and everything else is put back', async () => {
    const broken = counter({
      restore: () => {
        throw new Error('gone')
      },
    })
    const sound = counter()
    const [first, second] = [
      member('first', { open: () => sound }),
      member('second', { open: () => broken }),
    ]
    const state = createState()
    const outcome = await call(
      doing(async (ctx) => {
        ctx.state.get(notes).append('lost')
        for (const one of [first, second]) (await ctx.resources.get(one)).count++
        throw new Error('x')
      }),
      {},
      { state },
    )
    expect(outcome).toMatchObject({
      ok: false,
      error: { message: 'x' },
      meta: { warnings: [expect.stringContaining('gone')] },
    })
    expect([sound.count, state.get(notes).all()]).toEqual([0, []])
    expect(
      await call(
        doing((ctx) => ctx.resources.get(first).then(() => 'free')),
        {},
        { state },
      ),
    ).toMatchObject({ result: 'free' })
  })

  test('[8.state-over] a call that is over gets no member and holds nobody up, also when it had none before', async () => {
    const counting = member('counting', { open: () => counter() })
    const state = createState()
    const controller = new AbortController()
    const later = gate()
    let leftover: Promise<unknown> | undefined
    await call(
      doing((ctx) => {
        leftover = later.passed
          .then(() => ctx.resources.get(counting))
          .then(
            () => 'got it',
            (error: { code: string }) => error.code,
          )
        controller.abort()
        return new Promise(() => undefined)
      }),
      {},
      { state, signal: controller.signal },
    )
    later.open()
    expect(await leftover).toBe('CANCELLED')
    expect(
      await call(
        doing((ctx) => ctx.resources.get(counting).then(() => 'free')),
        {},
        { state, timeout: '20s' },
      ),
    ).toMatchObject({ result: 'free' })
  })

  test('[8.state-nested] what a call inside changed goes with the outer call that never looked at it', async () => {
    for (const annotations of [{}, { readOnly: true }]) {
      const shared = counter()
      const counting = member('counting', { open: () => shared })
      const state = createState()
      const counts = doing(async (ctx) => {
        ;(await ctx.resources.get(counting)).count++
      })
      await call(
        doing(
          async () => {
            expect(await call(counts, {}, { state })).toMatchObject({ ok: true })
            throw new Error('x')
          },
          { annotations },
        ),
        {},
        { state },
      )
      expect(shared.count).toBe(0)
      await call(
        doing(() => call(counts, {}, { state })),
        {},
        { state },
      )
      expect(shared.count).toBe(1)
    }
  })

  test('[8.state-nested] a call inside that fails puts back its own changes alone', async () => {
    const shared = counter()
    const counting = member('counting', { open: () => shared })
    const state = createState()
    await call(
      doing(async (ctx) => {
        ;(await ctx.resources.get(counting)).count = 5
        await call(
          doing(async (inner) => {
            ;(await inner.resources.get(counting)).count = 9
            throw new Error('x')
          }),
          {},
          { state },
        )
      }),
      {},
      { state },
    )
    expect(shared.count).toBe(5)
  })
})

describe('members that hold the changes of each call apart', () => {
  function ledger(
    faults: { readonly [key: string]: { commit?(): void; rollback?(): void; end?(): void } } = {},
  ) {
    const entries: string[] = []
    const said: string[] = []
    const open = (key: string): Transactional<string[]> => {
      const begin = (take: (added: string[]) => () => void): TransactionPart<string[]> => {
        const view: string[] = []
        let undo: (() => void) | undefined
        return {
          view,
          commit() {
            faults[key]?.commit?.()
            said.push(`commit ${key}`)
            undo = take(view)
          },
          rollback() {
            said.push(`rollback ${key}`)
            undo?.()
            faults[key]?.rollback?.()
          },
          end() {
            said.push(`end ${key}`)
            faults[key]?.end?.()
          },
          begin: () =>
            begin((added) => {
              view.push(...added)
              return () => void view.splice(-added.length)
            }),
        }
      }
      return {
        begin: () =>
          begin((added) => {
            entries.push(...added)
            return () => void entries.splice(-added.length)
          }),
      }
    }
    return {
      entries,
      said,
      named: (key: string) => member<string[]>(key, { open: () => open(key) }),
    }
  }
  const writes = (...members: Member<string[]>[]) =>
    doing(async (ctx) => {
      for (const one of members) (await ctx.resources.get(one)).push(one.key)
      ctx.state.get(notes).append('new')
    })

  test('[8.state-transactional] commit when the call succeeds, then end; roll back, the last first, when it fails', async () => {
    const { entries, said, named } = ledger()
    const [a, b] = [named('a'), named('b')]
    const state = createState()
    expect(await call(writes(a, b), {}, { state })).toMatchObject({ ok: true })
    expect([entries, said.splice(0)]).toEqual([
      ['a', 'b'],
      ['commit a', 'commit b', 'end a', 'end b'],
    ])
    await call(
      doing(async (ctx) => {
        for (const one of [a, b]) (await ctx.resources.get(one)).push('lost')
        throw new Error('x')
      }),
      {},
      { state },
    )
    expect([entries, said]).toEqual([
      ['a', 'b'],
      ['rollback b', 'rollback a'],
    ])
  })

  test('[8.state-transactional] where the second cannot commit, the first is taken back, and the slices too', async () => {
    const { entries, said, named } = ledger({
      b: {
        commit() {
          throw new Error('disk')
        },
      },
    })
    const state = createState()
    expect(await call(writes(named('a'), named('b')), {}, { state })).toMatchObject({
      ok: false,
      error: { message: 'disk' },
    })
    expect([entries, state.get(notes).all(), said]).toEqual([
      [],
      [],
      ['commit a', 'rollback b', 'rollback a'],
    ])
    expect(
      await call(
        doing(() => 'next'),
        {},
        { state, timeout: '20s', onEvent: () => undefined },
      ),
    ).toMatchObject({ ok: true })
  })

  test('[8.state-transactional] where one cannot be rolled back the others are, and the outcome tells', async () => {
    const { entries, named } = ledger({
      a: {
        rollback() {
          throw new Error('stuck')
        },
      },
      b: {
        commit() {
          throw new Error('disk')
        },
      },
    })
    const state = createState()
    expect(await call(writes(named('a'), named('b')), {}, { state })).toMatchObject({
      ok: false,
      error: { message: 'disk' },
      meta: { warnings: [expect.stringContaining('stuck')] },
    })
    expect([entries, state.get(notes).all()]).toEqual([[], []])
    expect(
      await call(
        doing(() => 'next'),
        {},
        { state, timeout: '20s', onEvent: () => undefined },
      ),
    ).toMatchObject({ ok: true })
  })

  test('[8.state-transactional] one that cannot end is a warning: what was done stays', async () => {
    const { entries, named } = ledger({
      a: {
        end() {
          throw new Error('sticky')
        },
      },
    })
    const state = createState()
    expect(await call(writes(named('a')), {}, { state })).toMatchObject({
      ok: true,
      meta: { warnings: [expect.stringContaining('sticky')] },
    })
    expect([entries, state.get(notes).all()]).toEqual([['a'], ['new']])
  })

  test('[8.state-nested] a call inside gives its changes to the outer one', async () => {
    const { entries, named } = ledger()
    const a = named('a')
    const state = createState()
    const outer = (broken: boolean) =>
      doing(async (ctx) => {
        await call(writes(a), {}, { state })
        expect([entries, await ctx.resources.get(a)]).toEqual([[], ['a']])
        if (broken) throw new Error('x')
      })
    await call(outer(true), {}, { state })
    expect(entries).toEqual([])
    await call(outer(false), {}, { state })
    expect(entries).toEqual(['a'])
  })

  test('[8.state-transactional] outside of a call there is no view of one', async () => {
    const { named } = ledger()
    await expect(createState().resources.get(named('a'))).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('ctx.resources'),
    })
  })
})
