import { describe, expect, test } from 'vitest'
import { getField } from '../../../../src/views/model/form.ts'
import { getHints, parseJsonText, parseNumber } from '../../../../src/views/model/form-values.ts'

const field = (schema: object, root: object = schema) =>
  getField(schema, root as { readonly [keyword: string]: unknown })
const control = (schema: object, root?: object) => {
  const { schema: _, nullable: _nullable, ...rest } = field(schema, root)
  return rest
}

describe('[10.form-fields] a schema becomes a field', () => {
  test.each([
    [{ type: 'string' }, { kind: 'text', type: 'text' }],
    [
      { type: 'string', format: 'date' },
      { kind: 'text', type: 'date' },
    ],
    [
      { type: 'string', format: 'password' },
      { kind: 'text', type: 'password' },
    ],
    [
      { type: 'string', writeOnly: true },
      { kind: 'text', type: 'password' },
    ],
    [
      { type: 'string', maxLength: 5000 },
      { kind: 'text', type: 'long' },
    ],
    [
      { type: 'string', examples: ['one\ntwo'] },
      { kind: 'text', type: 'long' },
    ],
    [{ type: 'number' }, { kind: 'number', whole: false }],
    [{ type: 'integer' }, { kind: 'number', whole: true }],
    [{ type: 'boolean' }, { kind: 'boolean' }],
    [
      { enum: ['table', 3] },
      {
        kind: 'choice',
        options: [
          { value: 'table', label: 'table' },
          { value: 3, label: '3' },
        ],
      },
    ],
    [{ const: 'fixed' }, { kind: 'choice', options: [{ value: 'fixed', label: 'fixed' }] }],
    [
      {
        oneOf: [
          { const: 1, title: 'One' },
          { const: 2, description: 'The second' },
        ],
      },
      {
        kind: 'choice',
        options: [
          { value: 1, label: 'One' },
          { value: 2, label: 'The second' },
        ],
      },
    ],
    [
      { type: 'array', items: { type: 'string' } },
      { kind: 'list', items: { type: 'string' } },
    ],
    [
      { type: 'array', items: { enum: ['a', 'b'] } },
      {
        kind: 'many',
        options: [
          { value: 'a', label: 'a' },
          { value: 'b', label: 'b' },
        ],
      },
    ],
    [
      { properties: { a: {}, b: {} }, required: ['b'] },
      {
        kind: 'group',
        members: [
          { key: 'a', schema: {}, required: false },
          { key: 'b', schema: {}, required: true },
        ],
      },
    ],
    [
      { type: ['string', 'integer'] },
      {
        kind: 'variants',
        variants: [
          { label: 'string', schema: { type: 'string', title: 'string' } },
          { label: 'integer', schema: { type: 'integer', title: 'integer' } },
        ],
      },
    ],
    [{}, { kind: 'json' }],
    [{ type: 'object', additionalProperties: { type: 'string' } }, { kind: 'json' }],
    [{ type: 'array', prefixItems: [{}], items: { type: 'string' } }, { kind: 'json' }],
    [{ not: { type: 'string' } }, { kind: 'json' }],
  ])('%j', (schema, expected) => expect(control(schema)).toEqual(expected))

  test('what may be null is a field of the rest', () => {
    expect(field({ type: ['string', 'null'] })).toMatchObject({ kind: 'text', nullable: true })
    expect(
      field({
        anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }],
        description: 'How many',
      }),
    ).toMatchObject({
      kind: 'number',
      nullable: true,
      schema: { minimum: 1, description: 'How many' },
    })
    expect(field({ enum: ['a', null] })).toMatchObject({
      kind: 'choice',
      nullable: true,
      options: [{ value: 'a' }],
    })
    expect(field({ type: 'string' })).toMatchObject({ nullable: false })
  })

  test('variants are called by their title, their mark or their type', () => {
    const schema = {
      oneOf: [
        { title: 'By name', type: 'object', properties: {} },
        { type: 'object', properties: { kind: { const: 'id' } } },
        { type: 'string' },
      ],
    }
    expect(control(schema)).toMatchObject({
      kind: 'variants',
      variants: [{ label: 'By name' }, { label: 'id' }, { label: 'string' }],
    })
  })

  test('references and allOf are put together, what stands beside them wins, and a schema that contains itself is no trap', () => {
    const root = {
      $defs: {
        'a/b': { type: 'string', description: 'There' },
        node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } },
        endless: { $ref: '#/$defs/endless' },
      },
    }
    expect(field({ $ref: '#/$defs/a~1b', description: 'Here' }, root)).toMatchObject({
      kind: 'text',
      schema: { description: 'Here' },
    })
    expect(control({ $ref: '#/$defs/node' }, root)).toMatchObject({
      kind: 'group',
      members: [{ key: 'next' }],
    })
    expect(control({ $ref: '#/$defs/endless' }, root)).toEqual({ kind: 'json' })
    expect(control({ $ref: 'https://example.com/other.json' }, root)).toEqual({ kind: 'json' })
    expect(
      control({
        allOf: [
          { type: 'object', properties: { a: {} }, required: ['a'] },
          { properties: { b: {} }, required: ['b'] },
        ],
      }),
    ).toEqual({
      kind: 'group',
      members: [
        { key: 'a', schema: {}, required: true },
        { key: 'b', schema: {}, required: true },
      ],
    })
  })
})

describe('[10.form-fields] texts', () => {
  test('a text for a number is a number or nothing', () => {
    expect(['', ' ', '12', '-0.5', '1e3', '1.', 'abc', '1x', 'Infinity'].map(parseNumber)).toEqual([
      undefined,
      undefined,
      12,
      -0.5,
      1000,
      1,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('a text of JSON is a value or a problem', () => {
    expect(parseJsonText(' ')).toEqual({})
    expect(parseJsonText('{"a":1}')).toEqual({ value: { a: 1 } })
    expect(parseJsonText('{a')).toEqual({ problem: expect.stringContaining('This is no JSON') })
  })

  test('help tells description, limits, default and examples', () => {
    expect(
      getHints(
        field({
          type: 'integer',
          description: 'How many',
          minimum: 1,
          maximum: 9,
          default: 3,
          examples: [2],
        }),
      ),
    ).toEqual(['How many.', '1 to 9.', 'Default: 3.', 'For example 2.'])
    expect(
      getHints(
        field({
          type: 'integer',
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        }),
      ),
    ).toEqual([])
    expect(getHints(field({ type: 'number', exclusiveMinimum: 0, maximum: 1 }))).toEqual([
      'At most 1.',
      'More than 0.',
    ])
    expect(
      getHints(field({ type: 'string', minLength: 2, pattern: '^a', format: 'email' })),
    ).toEqual(['At least 2 characters.', 'Has to match "^a".', 'Format: email.'])
  })
})
