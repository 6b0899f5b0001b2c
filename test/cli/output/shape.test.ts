import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/protocol/outcome.ts'
import { checkShapeOptions, shapeOutcome } from '../../../src/cli/result-shape.ts'
import type { ShapeOptions } from '../../../src/cli/result-shape.ts'
import { failure, meta, success } from './outcomes.ts'

const people = [
  { name: 'Ada', age: 36, home: { city: 'London', zip: '1' }, tags: ['math', 'code'] },
  { name: 'Bob', age: 7, home: { city: 'Berlin', zip: '2' }, tags: [] },
  { name: 'Cleo', age: 70, home: null, active: true },
]
const shape = (result: unknown, options: Omit<ShapeOptions, 'callKey'>, callKey = 'call') =>
  shapeOutcome(success(result), { ...options, callKey })
const resultOf = (outcome: Outcome) => (outcome.ok ? outcome.result : outcome.error)
const names = (outcome: Outcome) =>
  (resultOf(outcome) as { name: string }[]).map(({ name }) => name)

describe('--fields', () => {
  test.each([
    [['name'], [{ name: 'Ada' }, { name: 'Bob' }, { name: 'Cleo' }]],
    [
      ['home.city,name'],
      [
        { home: { city: 'London' }, name: 'Ada' },
        { home: { city: 'Berlin' }, name: 'Bob' },
        { home: null, name: 'Cleo' },
      ],
    ],
    [
      ['home', 'home.city'],
      [{ home: people[0]!.home }, { home: people[1]!.home }, { home: null }],
    ],
    [['active'], [{}, {}, { active: true }]],
  ])('%j', (fields, expected) => expect(resultOf(shape(people, { fields }))).toEqual(expected))

  test('selects on objects, through lists, and keys with dots', () => {
    expect(resultOf(shape(people[0], { fields: ['home.zip'] }))).toEqual({ home: { zip: '1' } })
    expect(
      resultOf(
        shape(
          [
            {
              files: [
                { path: 'a', size: 1 },
                { path: 'b', size: 2 },
              ],
            },
          ],
          { fields: ['files.path'] },
        ),
      ),
    ).toEqual([{ files: [{ path: 'a' }, { path: 'b' }] }])
    expect(resultOf(shape([{ 'a.b': 1, c: 2 }], { fields: ['a.b'] }))).toEqual([{ 'a.b': 1 }])
  })

  test('an object around one list: names mean the items first, then the object', () => {
    const page = { total: 3, next: null, people }
    expect(resultOf(shape(page, { fields: ['name'] }))).toEqual({
      total: 3,
      next: null,
      people: [{ name: 'Ada' }, { name: 'Bob' }, { name: 'Cleo' }],
    })
    expect(resultOf(shape(page, { fields: ['name', 'total'] }))).toEqual({
      total: 3,
      people: [{ name: 'Ada' }, { name: 'Bob' }, { name: 'Cleo' }],
    })
    expect(resultOf(shape(page, { fields: ['total'] }))).toEqual({ total: 3 })
    expect(resultOf(shape(page, { fields: ['people.age'] }))).toEqual({
      people: [{ age: 36 }, { age: 7 }, { age: 70 }],
    })
  })

  test('an unknown field is refused with the near one', () => {
    expect(shape(people, { fields: ['nmae'] })).toMatchObject({
      ok: false,
      error: {
        code: 'INVALID_INPUT',
        field: 'fields',
        message: "The result has no field 'nmae', did you mean 'name'?",
        details: { call_succeeded: true },
      },
      meta,
    })
    expect(shape(people, { fields: ['city'] })).toMatchObject({
      error: { message: "The result has no field 'city', did you mean 'home.city'?" },
    })
    expect(shape({ total: 1, people }, { fields: ['totl'] })).toMatchObject({
      error: { message: "The result has no field 'totl', did you mean 'total'?" },
    })
    expect(shape(people, { fields: ['constructor'] })).toMatchObject({ ok: false })
  })

  test('__proto__ is a field like any other', () => {
    const selected = resultOf(
      shape(JSON.parse('[{"__proto__":{"x":1},"a":2}]'), { fields: ['__proto__'] }),
    ) as object[]
    expect(JSON.stringify(selected)).toBe('[{"__proto__":{"x":1}}]')
    expect(shape(people, { fields: ['__proto__'] })).toMatchObject({ ok: false })
  })

  test('an empty list is fine, scalars give a warning', () => {
    expect(shape([], { fields: ['x'] })).toEqual(success([]))
    expect(shape(['a'], { fields: ['x'] })).toMatchObject({
      result: ['a'],
      meta: { warnings: ['--fields had no effect: the result has no fields'] },
    })
  })
})

describe('--filter', () => {
  test.each([
    [['name=Ada'], ['Ada']],
    [['name!=Ada'], ['Bob', 'Cleo']],
    [['name~=o'], ['Bob', 'Cleo']],
    [['age>7'], ['Ada', 'Cleo']],
    [
      ['age>=7', 'age<=36'],
      ['Ada', 'Bob'],
    ],
    [['age<10'], ['Bob']],
    [['age=36.0'], ['Ada']],
    [['home.city=Berlin'], ['Bob']],
    [['home=null'], ['Cleo']],
    [['tags=code'], ['Ada']],
    [['tags!=code'], ['Bob', 'Cleo']],
    [['active=true'], ['Cleo']],
    [['active!=true'], ['Ada', 'Bob']],
    [['name = Ada'], ['Ada']],
  ])('%j', (filter, expected) => expect(names(shape(people, { filter }))).toEqual(expected))

  test('scalars answer to value; a list inside an object is found', () => {
    expect(resultOf(shape(['aa', 'ab', 'c'], { filter: ['value~=a'] }))).toEqual(['aa', 'ab'])
    expect(resultOf(shape({ total: 3, people }, { filter: ['name=Bob'] }))).toEqual({
      total: 3,
      people: [people[1]],
    })
  })

  test.each(['nonsense', '=x', 'age>old', ''])('%j is refused', (filter) => {
    expect(shape(people, { filter: [filter] })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'filter' },
    })
    expect(() => checkShapeOptions({ filter: [filter], callKey: 'c' })).toThrow()
  })

  test('a field that no item has is worth a warning', () => {
    expect(shape(people, { filter: ['nam=Ada'] })).toMatchObject({
      result: [],
      meta: { warnings: ["--filter: no item has the field 'nam', did you mean 'name'?"] },
    })
  })
})

describe('--limit and --cursor', () => {
  test('a page says that there is more', () => {
    const page = shape(people, { limit: 2 })
    expect(names(page)).toEqual(['Ada', 'Bob'])
    expect(page.meta).toEqual({
      ...meta,
      truncated: true,
      next_cursor: expect.stringMatching(/^[\w-]+$/) as string,
    })
    const rest = shape(people, { limit: 2, cursor: page.meta.next_cursor })
    expect(names(rest)).toEqual(['Cleo'])
    expect(rest.meta).toEqual(meta)
    expect(shape(people, { limit: 3 }).meta).toEqual(meta)
  })

  test('walking gives every item once, also filtered and inside an object', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        fc.boolean(),
        (length, limit, filtered, wrapped) => {
          const items = Array.from({ length }, (_, index) => ({ index }))
          const filter = filtered ? ['index>9'] : []
          const seen: number[] = []
          let cursor: string | undefined
          do {
            const page = shape(wrapped ? { total: length, items } : items, {
              limit,
              filter,
              cursor,
            })
            const result = resultOf(page)
            for (const { index } of (wrapped
              ? (result as { items: { index: number }[] }).items
              : result) as { index: number }[])
              seen.push(index)
            cursor = page.meta.next_cursor
          } while (cursor !== undefined)
          expect(seen).toEqual(
            items.map(({ index }) => index).filter((index) => !filtered || index > 9),
          )
        },
      ),
    )
  })

  test('a cursor of another call, another filter, or garbage is refused', () => {
    const cursor = shape(people, { limit: 1 }).meta.next_cursor!
    const refused = { ok: false, error: { code: 'INVALID_INPUT', field: 'cursor' }, meta }
    expect(shape(people, { cursor }, 'other')).toMatchObject(refused)
    expect(shape(people, { cursor, filter: ['age>1'] })).toMatchObject(refused)
    for (const garbage of [
      '',
      'x',
      '!!!',
      Buffer.from('[1]').toString('base64url'),
      Buffer.from('[-1,"a"]').toString('base64url'),
      `${cursor}A`,
    ]) {
      expect(shape(people, { cursor: garbage })).toMatchObject(refused)
    }
  })

  test.each([0, -1, 1.5, NaN])('limit %s is refused', (limit) => {
    expect(shape(people, { limit })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'limit' },
    })
  })
})

describe('what flags do not apply to', () => {
  test('a result that is not a list stays, with a warning', () => {
    expect(shape('text', { limit: 1, filter: ['a=b'] })).toEqual(
      success('text', {
        meta: { ...meta, warnings: ['--filter, --limit had no effect: the result is not a list'] },
      }),
    )
    expect(shape({ a: [1], b: [2] }, { limit: 1 })).toMatchObject({ result: { a: [1], b: [2] } })
  })

  test('failures and calls without flags pass untouched', () => {
    expect(shapeOutcome(failure, { limit: 0, cursor: 'x', callKey: 'c' })).toBe(failure)
    expect(shape(people, {})).toEqual(success(people))
  })
})
