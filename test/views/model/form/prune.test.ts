import { describe, expect, test } from 'vitest'
import {
  findVariant,
  parsePath,
  problemsInside,
  problemsOutside,
  pruneDraft,
} from '../../../../src/views/model/form-values.ts'

const schema = {
  type: 'object',
  required: ['pattern', 'version', 'where', 'tags'],
  properties: {
    pattern: { type: 'string' },
    version: { const: 2 },
    limit: { type: 'integer' },
    where: { type: 'object', properties: { root: { type: 'string' } } },
    filter: {
      type: 'object',
      properties: { max: { type: 'integer' }, names: { type: 'array', items: { type: 'string' } } },
    },
    tags: { type: 'array', items: { type: 'string' } },
    note: { type: ['string', 'null'] },
  },
}

describe('[10.form-leaves-out] what is not filled in is left out', () => {
  test('a form begins with what can be only one thing', () => {
    expect(pruneDraft(schema, schema, undefined)).toEqual({ version: 2, where: {}, tags: [] })
  })

  test('empty fields, lists and objects are left out, null and false and what the form does not know stay', () => {
    const draft = {
      pattern: '*.ts',
      limit: undefined,
      filter: { max: undefined, names: [undefined, 'a', undefined] },
      tags: [undefined],
      note: null,
      other: false,
    }
    expect(pruneDraft(schema, schema, draft)).toEqual({
      pattern: '*.ts',
      version: 2,
      where: {},
      filter: { names: ['a'] },
      tags: [],
      note: null,
      other: false,
    })
    expect(pruneDraft(schema, schema, { filter: { max: undefined, names: [] } })).toEqual({
      version: 2,
      where: {},
      tags: [],
    })
  })

  test('a value of another kind than the schema wants stays, for the server to refuse', () => {
    expect(pruneDraft(schema, schema, { limit: 'abc', filter: 'x', tags: 'y' })).toEqual({
      version: 2,
      limit: 'abc',
      where: {},
      filter: 'x',
      tags: 'y',
    })
    expect(pruneDraft({ type: 'string' }, {}, undefined)).toBeUndefined()
    expect(pruneDraft({ type: 'string' }, {}, 'a')).toBe('a')
  })

  test('a schema that demands itself without end is given up', () => {
    const root = {
      $defs: {
        node: {
          type: 'object',
          required: ['next'],
          properties: { next: { $ref: '#/$defs/node' } },
        },
      },
      $ref: '#/$defs/node',
    }
    expect(pruneDraft(root, root, undefined)).toHaveProperty('next.next.next')
  })

  test('a key that every object inherits is an ordinary one', () => {
    const odd = {
      type: 'object',
      properties: { toString: { type: 'string' }, constructor: { type: 'string' } },
    }
    expect(pruneDraft(odd, odd, {})).toEqual({})
  })
})

describe('[10.form-fields] the variant of a value', () => {
  const variants = [
    { type: 'string' },
    { type: 'integer' },
    { type: 'object', required: ['kind'], properties: { kind: { const: 'a' }, x: {} } },
    { type: 'object', required: ['kind'], properties: { kind: { const: 'b' } } },
    { type: 'array', items: { type: 'string' } },
  ].map((one) => ({ schema: one }))
  test.each([
    ['x', 0],
    [3, 1],
    [{ kind: 'a' }, 2],
    [{ kind: 'b' }, 3],
    [['a'], 4],
    [undefined, 0],
    [true, 0],
  ])('%j', (value, index) => expect(findVariant(variants, {}, value)).toBe(index))

  test('its members are left out by its own rules', () => {
    const either = { oneOf: variants.map(({ schema: one }) => one) }
    expect(pruneDraft(either, either, { kind: 'a', x: undefined })).toEqual({ kind: 'a' })
    expect(pruneDraft({ oneOf: [either.oneOf[2]] }, {}, {})).toEqual({ kind: 'a' })
  })
})

describe('[10.form-problems] problems by path', () => {
  test.each([
    ['', []],
    ['a', ['a']],
    ['filter.max[0]', ['filter', 'max', 0]],
    ['["a b"].c', ['a b', 'c']],
    ['list[2]["x\\"y"]', ['list', 2, 'x"y']],
  ])('%s', (text, parts) => expect(parsePath(text)).toEqual(parts))

  test('each part sees its own, and the rest is for the whole', () => {
    const problems = [
      { path: ['a', 0], message: 'one' },
      { path: [], message: 'two' },
      { path: ['z'], message: 'three' },
    ]
    expect(problemsInside(problems, 'a')).toEqual([{ path: [0], message: 'one' }])
    expect(problemsOutside(problems, ['a']).map(({ message }) => message)).toEqual(['two', 'three'])
  })
})
