import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffJson } from '../../../src/views/model/json-diff.ts'

describe('what is different between two results [10.run-diff]', () => {
  test('names each place with both sides', () => {
    expect(
      diffJson(
        { a: 1, pages: [{ words: 3 }, { words: 4 }], gone: true },
        { a: 1, pages: [{ words: 3 }, { words: 5 }, { words: 6 }], new: null },
      ),
    ).toEqual([
      { path: 'pages[1].words', before: 4, after: 5 },
      { path: 'pages[2]', after: { words: 6 } },
      { path: 'gone', before: true },
      { path: 'new', after: null },
    ])
    expect(diffJson([1], { 0: 1 })).toEqual([{ path: '', before: [1], after: { 0: 1 } }])
    expect(diffJson({}, JSON.parse('{"__proto__": 1}'))).toEqual([{ path: '__proto__', after: 1 }])
  })

  test('a value is no different from itself, and any other is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const [one, other] = [JSON.stringify(left), JSON.stringify(right)]
        expect(diffJson(JSON.parse(one), JSON.parse(one))).toEqual([])
        const sorted = (text: string) =>
          JSON.stringify(JSON.parse(text), (_, value: unknown) =>
            typeof value === 'object' && value !== null && !Array.isArray(value)
              ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
              : value,
          )
        expect(diffJson(JSON.parse(one), JSON.parse(other)).length > 0).toBe(
          sorted(one) !== sorted(other),
        )
      }),
    )
  })

  test('does not go on for ever', () => {
    expect(
      diffJson(
        Array.from({ length: 5000 }, () => 1),
        Array.from({ length: 5000 }, () => 2),
      ),
    ).toHaveLength(500)
  })
})
