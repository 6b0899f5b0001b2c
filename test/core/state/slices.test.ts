import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { call, createState, slice } from 'toolable'
import { doing } from './support.ts'
import { rounds } from '../../support/rounds.ts'

type Task = { readonly id: number; readonly title: string; readonly tags?: string[] }
const tasks = slice<Task>('tasks', { by: ({ id }) => id })
const numbers = slice<number>('numbers')
const audit = slice<number>('audit', { kind: 'log' })

describe('the verbs of a slice', () => {
  test.each(['state', 'log'] as const)(
    '[8.state-slices] latest, all, where, append, replace, upsert, clear and reduce: %s',
    (kind) => {
      const view = createState().get(slice<Task>('tasks', { kind, by: ({ id }) => id }))
      expect([view.latest(), view.all(), view.where(() => true)]).toEqual([undefined, [], []])
      view.append({ id: 1, title: 'a' }, { id: 2, title: 'b' })
      view.append()
      view.upsert({ id: 1, title: 'A' })
      view.upsert({ id: 3, title: 'c' })
      expect(view.all()).toEqual([
        { id: 1, title: 'A' },
        { id: 2, title: 'b' },
        { id: 3, title: 'c' },
      ])
      view.clear(({ id }) => id === 2)
      expect([view.latest(), view.where(({ id }) => id < 3)]).toEqual([
        { id: 3, title: 'c' },
        [{ id: 1, title: 'A' }],
      ])
      view.reduce((all, title: string) => all.map((task) => ({ ...task, title })), 'same')
      expect(view.all().map(({ title }) => title)).toEqual(['same', 'same'])
      view.replace([{ id: 9, title: 'z' }])
      expect(view.all()).toEqual([{ id: 9, title: 'z' }])
      view.clear()
      expect(view.all()).toEqual([])
    },
  )

  test('[8.state-slices] a view shows what is there, not what was there when it was taken', async () => {
    const state = createState()
    const view = state.get(numbers)
    const before = view.all()
    await call(
      doing((ctx) => {
        const [one, other] = [ctx.state.get(numbers), ctx.state.get(numbers)]
        one.append(1)
        other.append(2)
        return one.all()
      }),
      {},
      { state },
    )
    expect([before, view.all()]).toEqual([[], [1, 2]])
  })

  test('[8.state-slices] what cannot be meant is a CONFIG error that names the slice', () => {
    const state = createState()
    expect(() => state.get(numbers).upsert(1)).toThrow(
      "slice 'numbers' cannot tell which items are the same",
    )
    expect(() => state.get(numbers).reduce(() => 5 as never, 1)).toThrow(
      "a reducer of slice 'numbers' gave no list",
    )
    expect(() => state.get(numbers).replace('abc' as never)).toThrow(
      "replace() of slice 'numbers' needs a list",
    )
    state.get(numbers)
    expect(() => state.get(slice('numbers', { kind: 'log' }))).toThrow(
      "'numbers' is the key of a state slice and of a log slice",
    )
    for (const key of ['', 5, undefined])
      expect(() => slice(key as never)).toThrow(expect.objectContaining({ code: 'CONFIG' }))
    expect(() => slice('numbers', { kind: 'lgo' as never })).toThrow(
      "slice 'numbers' must be of the kind 'state' or 'log', got lgo",
    )
  })

  test('[8.state-slices] only what snapshot() gave is restored, and anything else leaves the state as it is', async () => {
    const state = createState()
    state.get(numbers).append(1)
    const before = state.snapshot()
    state.get(numbers).append(2)
    for (const odd of [
      undefined,
      null,
      {},
      { slices: 5 },
      { slices: {} },
      { slices: new Map([['numbers', [7]]]) },
      state.toJSON(),
    ]) {
      expect(() => state.restore(odd as never)).toThrow(expect.objectContaining({ code: 'CONFIG' }))
      expect(
        await call(
          doing((ctx) => ctx.state.restore(odd as never)),
          {},
          { state },
        ),
      ).toMatchObject({ ok: false, error: { code: 'CONFIG' } })
    }
    expect(state.get(numbers).all()).toEqual([1, 2])
    state.restore(before)
    expect(state.get(numbers).all()).toEqual([1])
  })

  test('[8.state-slices] lists that share what they have in common never see what others appended', () => {
    const step = fc.record({
      count: fc.integer({ min: 0, max: 100 }),
      back: fc.option(fc.nat()),
      looks: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const state = createState()
        const view = state.get(numbers)
        const known = [{ snapshot: state.snapshot(), items: [] as readonly number[] }]
        let next = 0
        for (const { count, back, looks } of steps) {
          const from = known[(back ?? known.length - 1) % known.length]!
          if (back !== null) state.restore(from.snapshot)
          const added = Array.from({ length: count }, () => next++)
          view.append(...added)
          const items = [...from.items, ...added]
          expect(view.latest()).toBe(items.at(-1))
          if (looks) expect(view.all()).toEqual(items)
          known.push({ snapshot: state.snapshot(), items })
        }
        for (const { snapshot, items } of known) {
          state.restore(snapshot)
          expect(view.all()).toEqual(items)
        }
      }),
      { numRuns: rounds(200) },
    )
  })

  test('[8.state-slices] a key is of one kind, also where two calls find it at the same time', async () => {
    const state = createState()
    const both = await Promise.all(
      (['state', 'log'] as const).map((kind) =>
        call(
          doing(async (ctx) => {
            ctx.state.get(slice('x', { kind })).append(kind)
            await Promise.resolve()
          }),
          {},
          { state },
        ),
      ),
    )
    expect(both).toMatchObject([{ ok: true }, { ok: false, error: { code: 'CONFIG' } }])
    expect(JSON.parse(JSON.stringify(state))).toMatchObject({
      slices: { x: { kind: 'state', items: ['state'] } },
    })
  })

  test('[8.state-frozen] items are frozen all the way down, and nobody changes them in their place', () => {
    const state = createState()
    const inner = { tags: ['a'] }
    const given = Object.freeze({ id: 1, title: 'a', deep: inner, self: undefined })
    const round: { id: number; title: string; self?: unknown } = { id: 2, title: 'b' }
    round.self = round
    state.get(tasks).append(given, round)
    expect(() => inner.tags.push('b')).toThrow(TypeError)
    expect(() => {
      round.title = 'c'
    }).toThrow(TypeError)
    expect(() => (state.get(tasks).all() as Task[]).push(round)).toThrow(TypeError)
    state.get(tasks).reduce((all) => all.map((task) => ({ ...task, tags: ['x'] })), 0)
    expect(() => state.get(tasks).latest()!.tags!.push('y')).toThrow(TypeError)
    state.get(tasks).upsert({ id: 2, title: 'd', tags: [] })
    expect(() => state.get(tasks).latest()!.tags!.push('y')).toThrow(TypeError)
  })

  test('[8.state-frozen] what has a class of its own is left to its owner', () => {
    const day = new Date(0)
    const map = new Map([[1, 2]])
    createState()
      .get(slice<unknown>('things'))
      .append({ day, map }, new Uint8Array(2), null, undefined, 'text')
    day.setTime(1)
    map.set(3, 4)
    expect([day.getTime(), map.size]).toEqual([1, 2])
  })

  test('[8.state-shared] lists that grew apart from one list do not see each other, short and long', () => {
    for (const length of [0, 1, 63, 64, 65, 200]) {
      const state = createState()
      state.get(numbers).append(...Array.from({ length }, (_, index) => index))
      const base = state.snapshot()
      const grown = [1, 70, 130].map((more) => {
        state.restore(base)
        for (let index = 0; index < more; index++) state.get(numbers).append(1000 * more + index)
        return [state.snapshot(), more] as const
      })
      for (const [snapshot, more] of grown) {
        state.restore(snapshot)
        expect(state.get(numbers).all()).toEqual([
          ...Array.from({ length }, (_, index) => index),
          ...Array.from({ length: more }, (_, index) => 1000 * more + index),
        ])
        expect(state.get(numbers).latest()).toBe(1000 * more + more - 1)
      }
    }
  })

  test('[8.state-slices] logs are written at once, whatever becomes of the call, and not by what it leaves running', async () => {
    const state = createState()
    let view = state.get(audit)
    await call(
      doing((ctx) => {
        view = ctx.state.get(audit)
        view.append(1)
        expect(state.get(audit).all()).toEqual([1])
        throw new Error('x')
      }),
      {},
      { state },
    )
    view.append(2)
    view.clear()
    expect(state.get(audit).all()).toEqual([1])
  })
})
