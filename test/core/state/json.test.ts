import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { call, createState, slice } from 'toolable'
import type { StateJson } from 'toolable'
import { doing } from './support.ts'
import { rounds } from '../../support/rounds.ts'

const notes = slice<unknown>('notes')
const audit = slice<unknown>('audit', { kind: 'log' })
const empty: StateJson = { version: 1, id: 'one', slices: {} }

describe('a state as JSON', () => {
  test('[8.state-json] comes back as it was: slices of both kinds, their order and the id', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.array(fc.jsonValue()),
        fc.string({ minLength: 1 }),
        (items, log, key) => {
          const state = createState({ id: 'session-1' })
          state.get(notes).append(...items)
          state.get(audit).append(...log)
          state.get(slice(`other ${key}`)).append(key)
          const json = JSON.parse(JSON.stringify(state)) as StateJson
          const again = createState({ from: json })
          expect(again.id).toBe('session-1')
          expect(again.get(notes).all()).toEqual(JSON.parse(JSON.stringify(items)))
          expect(again.get(audit).all()).toEqual(JSON.parse(JSON.stringify(log)))
          expect(JSON.stringify(again)).toBe(JSON.stringify(json))
          expect(createState({ from: json, id: 'session-2' }).id).toBe('session-2')
        },
      ),
      { numRuns: rounds(50) },
    )
  })

  test('[8.state-json] any key is an ordinary key', () => {
    const state = createState({
      from: JSON.parse(
        '{"version":1,"id":"x","slices":{"__proto__":{"kind":"state","items":[{"__proto__":1}]}}}',
      ) as StateJson,
    })
    expect(JSON.stringify(state)).toBe(
      '{"version":1,"id":"x","slices":{"__proto__":{"kind":"state","items":[{"__proto__":1}]}}}',
    )
    expect(({} as { kind?: unknown }).kind).toBeUndefined()
  })

  test('[8.state-json] a call may make one, of the state as it sees it', async () => {
    const outcome = await call(
      doing((ctx) => {
        ctx.state.get(notes).append('mine')
        return ctx.state.toJSON()
      }),
      {},
      { state: createState({ id: 'a' }) },
    )
    expect(outcome).toMatchObject({
      result: { version: 1, id: 'a', slices: { notes: { kind: 'state', items: ['mine'] } } },
    })
  })

  test('[8.state-json] a call that went back to a snapshot without a slice leaves a state that can be kept', async () => {
    const state = createState()
    const before = state.snapshot()
    state.get(notes).append('x')
    await call(
      doing((ctx) => ctx.state.restore(before)),
      {},
      { state },
    )
    expect(state.get(notes).all()).toEqual([])
    const beside = call(
      doing(async (ctx) => {
        ctx.state.get(slice('beside')).append(1)
        await Promise.resolve()
        ctx.state.restore(before)
      }),
      {},
      { state },
    )
    state.get(slice('another')).append(2)
    expect(await beside).toMatchObject({ ok: true })
    expect(JSON.parse(JSON.stringify(state))).toMatchObject({ slices: { another: { items: [2] } } })
  })

  test.each<[unknown, string]>([
    [{ ...empty, version: 2 }, 'version 2'],
    [{ id: 'x', slices: {} }, 'version none'],
    [{ ...empty, id: '' }, 'id must be a text'],
    [{ version: 1, id: 'x' }, 'this is no state'],
    ['{}', 'this is no state'],
    [null, 'this is no state'],
    [{ ...empty, slices: { notes: [] } }, "slice 'notes'"],
    [{ ...empty, slices: { notes: { kind: 'other', items: [] } } }, "slice 'notes'"],
    [{ ...empty, slices: { notes: { kind: 'log', items: {} } } }, "slice 'notes'"],
  ])('[8.state-json-refused] %j is refused as CONFIG, saying why', (from, message) => {
    expect(() => createState({ from: from as StateJson })).toThrow(
      expect.objectContaining({ code: 'CONFIG', message: expect.stringContaining(message) }),
    )
  })

  test.each<[unknown, string]>([
    [undefined, 'undefined'],
    [[undefined], 'undefined'],
    [Number.NaN, 'NaN'],
    [1n, 'a bigint'],
    [() => 1, 'a function'],
    [{ at: new Date(0) }, 'the class Date'],
    [new Map(), 'the class Map'],
    [Array(2), 'undefined'],
  ])(
    '[8.state-json-refused] an item that JSON would change without a word is refused by its place: %s',
    (item, what) => {
      const state = createState()
      state.get(notes).append('good', item)
      expect(() => state.toJSON()).toThrow(
        expect.objectContaining({
          code: 'CONFIG',
          message: expect.stringMatching(`item 2 of slice 'notes'.*${what}`),
        }),
      )
    },
  )

  test('[8.state-json-refused] items that hold themselves, or are too deep, are refused', () => {
    const round: { self?: unknown } = {}
    round.self = round
    let deep: unknown = 0
    for (let level = 0; level < 100_000; level++) deep = [deep]
    for (const [item, what] of [
      [round, 'itself'],
      [deep, 'more than 200 levels'],
    ] as const) {
      const state = createState()
      state.get(notes).append(item)
      expect(() => state.toJSON()).toThrow(what)
    }
  })

  test('[8.state-json-refused] a slice checks what came from outside when it is first looked at, and what calls wrote no more', async () => {
    let reads = 0
    const checked = slice<number>('checked', {
      read: (value) => {
        reads++
        if (typeof value !== 'number') throw new Error('no number')
        return value
      },
    })
    const state = createState({
      from: { ...empty, slices: { checked: { kind: 'state', items: [1, 2] } } },
    })
    await call(
      doing((ctx) => ctx.state.get(checked).append(3)),
      {},
      { state },
    )
    expect([state.get(checked).all(), reads]).toEqual([[1, 2, 3], 2])
    const wrong = createState({
      from: { ...empty, slices: { checked: { kind: 'state', items: [1, 'two'] } } },
    })
    expect(() => wrong.get(checked).latest()).toThrow(
      expect.objectContaining({
        code: 'CONFIG',
        message: expect.stringContaining("slice 'checked'"),
      }),
    )
  })
})
