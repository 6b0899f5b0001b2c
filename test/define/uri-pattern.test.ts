import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ToolError } from '../../src/protocol/tool-error.ts'
import { compileUriPattern } from '../../src/define/resource.ts'
import { rounds } from '../support/rounds.ts'

const matched = (pattern: string, uri: string) => {
  const values = compileUriPattern(pattern).match(uri)
  return values && { ...values }
}

const refusal = (action: () => unknown): ToolError => {
  try {
    action()
  } catch (error) {
    if (ToolError.is(error)) return error
  }
  throw new Error('nothing was refused')
}

describe('match', () => {
  test.each([
    ['notes://{id}', 'notes://42', { id: '42' }],
    ['notes://all', 'notes://all', {}],
    ['/files/{id}.json', '/files/12.json', { id: '12' }],
    ['/files/{id}.json', '/files/.json.json', { id: '.json' }],
    ['/a/{b}/c/{d}', '/a/x/c/y', { b: 'x', d: 'y' }],
    ['{name}.{ext}', 'archive.tar.gz', { name: 'archive.tar', ext: 'gz' }],
    ['{a}-{b}-{c}', 'p-q-r-s', { a: 'p-q', b: 'r', c: 's' }],
    ['{a}--{b}', 'x---y', { a: 'x-', b: 'y' }],
    ['v{a}v{b}v', 'vvvvv', { a: 'v', b: 'v' }],
    ['x://{a}', 'x://caf%C3%A9%20au', { a: 'café au' }],
    ['x://{a}', 'x://%252e%252e', { a: '%2e%2e' }],
    ['x://{a}', 'x://...', { a: '...' }],
    ['x://{a}', 'x://a?b=c#d', { a: 'a?b=c#d' }],
    ['a+b(c)*/{d}', 'a+b(c)*/e', { d: 'e' }],
  ])('%s reads %s', (pattern, uri, values) => {
    expect(matched(pattern, uri)).toEqual(values)
  })

  test.each([
    ['/files/{id}.json', '/files/12Xjson/extra'],
    ['/files/{id}.json', '/files/12Xjson'],
    ['/files/{id}.json', '/files/12.json/extra'],
    ['/files/{id}.json', '/prefix/files/12.json'],
    ['/files/{id}.json', '/files/12.json\n'],
    ['/files/{id}.json', '/files/.json'],
    ['/files/{id}.json', '/files/a/b.json'],
    ['/files/{id}.json', '/files/..%2Fetc.json'],
    ['notes://{id}', 'notes://'],
    ['notes://{id}', 'notes://.'],
    ['notes://{id}', 'notes://..'],
    ['notes://{id}', 'notes://%2e%2E'],
    ['notes://{id}', 'notes://%2e'],
    ['notes://{id}', 'notes://a%2Fb'],
    ['notes://{id}', 'notes://a%5cb'],
    ['notes://{id}', 'notes://a\\b'],
    ['notes://{id}', 'notes://a%00'],
    ['notes://{id}', 'notes://a\0'],
    ['notes://{id}', 'notes://a%'],
    ['notes://{id}', 'notes://a%zz'],
    ['notes://{id}', 'notes://%C3'],
    ['notes://{id}', 'notes://%C0%AF'],
    ['notes://{id}', 'notes://a/b'],
    ['notes://{id}', 'notes://a/'],
    ['notes://{id}', 'NOTES://a'],
    ['notes://{id}', ' notes://a'],
    ['notes://{id}', ''],
    ['ab{x}b', 'ab'],
    ['ab{x}bc', 'abc'],
    ['{a}-{b}', '-x'],
    ['{a}-{b}', 'x-'],
    ['{a}-{b}', '-'],
    ['p{a}-{b}', 'p-x'],
    ['notes://all', 'notes://all2'],
  ])('%s does not read %j', (pattern, uri) => {
    expect(matched(pattern, uri)).toBeUndefined()
  })

  test('names like __proto__ are ordinary', () => {
    const values = compileUriPattern('x://{__proto__}/{constructor}').match('x://a/b')!
    expect(Object.entries(values)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
  })

  test('finds a match exactly when there is one, as an anchored greedy expression does', () => {
    const patterns = [
      '{a}',
      '{a}b',
      'a{a}',
      '{a}a{b}',
      '{a}ab{b}',
      'a{a}b{b}a',
      '{a}a{b}b{c}',
      '{a}/{b}a',
      'a/{a}ba{b}',
    ] as const
    fc.assert(
      fc.property(
        fc.constantFrom(...patterns),
        fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 }),
        (pattern, uri) => {
          const expression = new RegExp(`^${pattern.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
          const expected = expression.exec(uri)?.groups
          expect(matched(pattern, uri)).toEqual(expected && { ...expected })
        },
      ),
      { numRuns: rounds(2000) },
    )
  })

  // A matcher that goes back over the text needs minutes for these, not milliseconds.
  test.each([
    ['{a}-{b}-{c}-{d}-{e}-{f}!', '-'],
    ['{a}x{b}x{c}x{d}x{e}x{f}y', 'x'],
    ['{a}ab{b}ab{c}ab{d}!', 'ab'],
    ['/{a}/{b}/{c}', '/'],
    ['{a}.{b}', '%'],
  ])('%s gives up quickly on 100 kB of %j', (pattern, unit) => {
    for (const size of [10_000, 100_000])
      expect(matched(pattern, unit.repeat(size / unit.length))).toBeUndefined()
  })

  test('a value of 100 kB is read', () => {
    const value = 'a-'.repeat(50_000)
    expect(matched('x://{a}-{b}', `x://${value}b`)).toEqual({ a: value.slice(0, -1), b: 'b' })
  })
})

describe('definition', () => {
  test.each([
    ['', 'empty'],
    ['x://{}', 'is not a placeholder'],
    ['x://{ id }', 'is not a placeholder'],
    ['x://{+path}', 'is not a placeholder'],
    ['x://{a-b}', 'is not a placeholder'],
    ['x://{a{b}}', 'is not a placeholder'],
    ['x://{a', "a '{' has no '}'"],
    ['x://a}', "a '}' has no '{'"],
    ['x://{a}}', "a '}' has no '{'"],
    ['x://{a/b}', "a '{' has no '}'"],
    ['x://{a}/{a}', "'a' stands there twice"],
    ['x://{a}{b}', 'need text between them'],
    ['{a}{b}{c}', 'need text between them'],
  ])('%j is refused', (pattern, problem) => {
    const error = refusal(() => compileUriPattern(pattern))
    expect(error.code).toBe('CONFIG')
    expect(error.message).toContain(problem)
  })

  test('the names are known, in order', () => {
    expect(compileUriPattern('x://{b}/{a}.json').params).toEqual(['b', 'a'])
    expect(compileUriPattern('x://all').params).toEqual([])
  })
})

describe('expand', () => {
  test('values are escaped', () => {
    expect(compileUriPattern('x://{a}/{b}.json').expand({ a: 'café au', b: '50%' })).toBe(
      'x://caf%C3%A9%20au/50%25.json',
    )
  })

  test.each([[''], ['.'], ['..'], ['a/b'], ['a\\b'], ['a\0'], ['\ud800']])(
    '%j is refused as a value',
    (value) => {
      expect(refusal(() => compileUriPattern('x://{id}').expand({ id: value }))).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'id',
      })
    },
  )

  test('a missing value is named', () => {
    expect(refusal(() => compileUriPattern('x://{id}').expand({}))).toMatchObject({
      code: 'MISSING_PARAM',
      field: 'id',
    })
    expect(refusal(() => compileUriPattern('x://{toString}').expand({}))).toMatchObject({
      code: 'MISSING_PARAM',
    })
  })

  test('values that would be read back differently are refused', () => {
    expect(compileUriPattern('{name}.{ext}').expand({ name: 'a.tar', ext: 'gz' })).toBe('a.tar.gz')
    expect(
      refusal(() => compileUriPattern('{name}.{ext}').expand({ name: 'a', ext: 'tar.gz' })),
    ).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('what was expanded is read back', () => {
    const pattern = compileUriPattern('x://{a}/b/{c}')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (a, c) => {
        try {
          const values = pattern.match(pattern.expand({ a, c }))
          expect({ ...values }).toEqual({ a, c })
        } catch (error) {
          if (!ToolError.is(error)) throw error
        }
      }),
    )
  })
})
