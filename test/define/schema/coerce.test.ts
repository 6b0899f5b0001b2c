import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../../src/util/values.ts'
import { coerceList, coerceText } from '../../../src/define/flag-input.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'

const read = (schema: JsonSchema, text: string) => {
  const coerced = coerceText(schema, text)
  return coerced.ok ? coerced.value : coerced.message
}
const refused = (schema: JsonSchema, text: string) => !coerceText(schema, text).ok

describe('coerceText', () => {
  test.each(['1.10', 'null', 'true', '', '007', '{"a":1}', ' x ', '[1]'])(
    'text %j stays text',
    (text) => {
      expect(read({ type: 'string' }, text)).toBe(text)
    },
  )

  test('dates stay text', () => {
    expect(read({ type: 'string', format: 'date-time' }, '2024-01-01T00:00:00Z')).toBe(
      '2024-01-01T00:00:00Z',
    )
  })

  test.each([
    ['5', 5],
    ['-5', -5],
    ['1e3', 1000],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['+2', 2],
    ['0', 0],
    ['9007199254740991', 9007199254740991],
  ])('number %s', (text, expected) => {
    expect(read({ type: 'number' }, text)).toBe(expected)
  })

  test.each([
    '',
    ' ',
    '0x10',
    'Infinity',
    '-Infinity',
    'NaN',
    '1e999',
    '1_000',
    '1,5',
    '5 ',
    '5.',
    '--5',
    'abc',
    '12345678901234567890',
  ])('%j is no number', (text) => {
    expect(refused({ type: 'number' }, text)).toBe(true)
    expect(refused({ type: 'integer' }, text)).toBe(true)
  })

  test('whole numbers', () => {
    expect(read({ type: 'integer' }, '1e3')).toBe(1000)
    expect(read({ type: 'integer' }, '1.5')).toBe('must be a whole number, got "1.5"')
    expect(read({ type: 'integer' }, '9007199254740993')).toBe(
      'is too large to be kept exactly, got "9007199254740993"',
    )
  })

  test.each([
    ['true', true],
    ['FALSE', false],
    ['Yes', true],
    ['no', false],
    ['1', true],
    ['0', false],
    ['on', true],
    ['Off', false],
  ])('boolean %s', (text, expected) => {
    expect(read({ type: 'boolean' }, text)).toBe(expected)
  })

  test.each(['', 'y', 'maybe', '2', 'null'])('%j is no boolean', (text) => {
    expect(refused({ type: 'boolean' }, text)).toBe(true)
  })

  test('null only for null', () => {
    expect(read({ type: 'null' }, 'null')).toBe(null)
    expect(refused({ type: 'null' }, 'NULL')).toBe(true)
    expect(refused({ type: 'number' }, 'null')).toBe(true)
  })

  test('choices by their text', () => {
    expect(read({ enum: ['a', 1, null, true] }, '1')).toBe(1)
    expect(read({ enum: ['a', 1, null, true] }, 'null')).toBe(null)
    expect(read({ enum: [1, '1'] }, '1')).toBe('1')
    expect(read({ const: 5 }, '5')).toBe(5)
    expect(read({ type: 'string', enum: ['table', 'csv'] }, 'tabel')).toBe(
      'must be one of table, csv; got "tabel"; did you mean \'table\'?',
    )
    expect(refused({ enum: ['a'] }, 'A')).toBe(true)
  })

  test('structures are JSON, and a fault has a position', () => {
    expect(read({ type: 'object' }, '{"a":[1]}')).toEqual({ a: [1] })
    expect(read({ properties: {} }, '{"a":1}')).toEqual({ a: 1 })
    expect(read({ type: 'array' }, '[1,"x"]')).toEqual([1, 'x'])
    expect(read({ type: 'object' }, '[1]')).toBe('must be an object, got [1]')
    expect(read({ type: 'object' }, '{"a":1,}')).toBe(
      'must be an object as JSON: broken JSON at position 7: unexpected "}"',
    )
    expect(read({ type: 'object' }, '{"a":')).toBe(
      'must be an object as JSON: broken JSON at position 5: the text ends too early',
    )
    expect(read({ type: 'array' }, 'a,b')).toBe(
      'must be a list as JSON: broken JSON at position 0: unexpected "a"',
    )
  })

  test.each<[JsonSchema, string, unknown]>([
    [{ type: ['number', 'string'] }, '5', 5],
    [{ type: ['string', 'number'] }, '5', 5],
    [{ type: ['string', 'number'] }, '1.10', '1.10'],
    [{ type: ['string', 'number'] }, '007', '007'],
    [{ type: ['string', 'number'] }, '1e3', '1e3'],
    [{ type: ['string', 'boolean'] }, 'true', true],
    [{ type: ['string', 'boolean'] }, 'yes', 'yes'],
    [{ type: ['boolean', 'number'] }, '1', 1],
    [{ type: ['boolean', 'number'] }, 'yes', true],
    [{ type: ['number', 'null'] }, '1.10', 1.1],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'null', null],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'x', 'x'],
    [{ anyOf: [{ type: 'string' }, { type: 'object' }] }, '{"a":1}', { a: 1 }],
    [{ anyOf: [{ type: 'string' }, { type: 'object' }] }, '{a', '{a'],
    [{ oneOf: [{ const: 'auto' }, { type: 'integer' }] }, 'auto', 'auto'],
    [{ oneOf: [{ const: 'auto' }, { type: 'integer' }] }, '3', 3],
    [
      { oneOf: [{ const: 'auto' }, { type: 'integer' }] },
      'x',
      'must be "auto" or a whole number, got "x"',
    ],
    [
      { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
      'c',
      'must be one of a, b, null; got "c"',
    ],
    [{ allOf: [{ type: 'integer' }, { minimum: 1 }] }, '5', 5],
    [{}, '5', 5],
    [{}, 'x', 'x'],
    [{}, '{"a":1}', { a: 1 }],
    [{}, '1e999', '1e999'],
  ])('%j reads %j', (schema, text, expected) => {
    expect(read(schema, text)).toEqual(expected)
  })

  test('never throws, and what it reads for a JSON value of a declared type is that value', () => {
    const schemas = fc.constantFrom<JsonSchema>(
      {},
      { type: 'string' },
      { type: 'integer' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'null' },
      { type: 'object' },
      { type: 'array' },
      { enum: ['a', 1] },
      { type: ['string', 'number', 'null'] },
      { anyOf: [{ type: 'object' }, { type: 'string' }] },
    )
    fc.assert(
      fc.property(schemas, fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (schema, text) => {
        const coerced = coerceText(schema, text)
        expect(typeof coerced.ok).toBe('boolean')
        if (schema['type'] === 'string') expect(coerced).toEqual({ ok: true, value: text })
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
        if (type === 'string' || (typeof value === 'number' && !Number.isSafeInteger(value))) return
        expect(coerceText({ type }, JSON.stringify(value))).toEqual({
          ok: true,
          value: JSON.parse(JSON.stringify(value)),
        })
      }),
    )
  })

  test('fits the published schemas of zod', () => {
    const { json } = compileSchema(
      z.object({
        n: z.int().nullable(),
        when: z.date(),
        choice: z.union([z.literal('a'), z.literal(2)]),
      }),
      'input',
    )
    const properties = json['properties'] as Record<string, JsonSchema>
    expect([
      read(properties['n']!, '5'),
      read(properties['n']!, 'null'),
      read(properties['when']!, '2024-01-01'),
      read(properties['choice']!, '2'),
    ]).toEqual([5, null, '2024-01-01', 2])
  })
})

describe('coerceList', () => {
  const numbers = { type: 'array', items: { type: 'integer' } }
  const texts = { type: 'array', items: { type: 'string' } }

  test('each text by the schema of its item', () => {
    expect(coerceList(numbers, ['1', '2'])).toEqual({ ok: true, value: [1, 2] })
    expect(coerceList(texts, ['1', 'null'])).toEqual({ ok: true, value: ['1', 'null'] })
    expect(
      coerceList(
        {
          type: 'array',
          prefixItems: [{ type: 'string' }, { type: 'integer' }],
          items: { type: 'boolean' },
        },
        ['1', '2', 'yes'],
      ),
    ).toEqual({ ok: true, value: ['1', 2, true] })
    expect(coerceList({ anyOf: [numbers, { type: 'null' }] }, ['1'])).toEqual({
      ok: true,
      value: [1],
    })
    expect(coerceList(numbers, [])).toEqual({ ok: true, value: [] })
  })

  test('a single JSON list is the whole list', () => {
    expect(coerceList(numbers, ['[1,2]'])).toEqual({ ok: true, value: [1, 2] })
    expect(coerceList(texts, ['["a","b"]'])).toEqual({ ok: true, value: ['a', 'b'] })
    expect(coerceList(numbers, ['[1,'])).toEqual({
      ok: false,
      message: 'broken JSON at position 3: the text ends too early',
    })
    expect(coerceList(texts, ['[a-z]*.ts'])).toEqual({ ok: true, value: ['[a-z]*.ts'] })
    expect(coerceList(texts, ['[1]', 'b'])).toEqual({ ok: true, value: ['[1]', 'b'] })
  })

  test('a fault names its item', () => {
    expect(coerceList(numbers, ['1', 'x'])).toEqual({
      ok: false,
      message: 'item 2 must be a whole number, got "x"',
    })
    expect(coerceList(numbers, ['x'])).toEqual({
      ok: false,
      message: 'must be a whole number, got "x"',
    })
  })
})
