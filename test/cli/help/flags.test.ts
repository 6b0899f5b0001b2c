import { describe, expect, test } from 'vitest'
import { toFlagName } from '../../../src/define/argv.ts'
import { toFlagSpecs } from '../../../src/define/flag-specs.ts'
import { command, findFiles, withFields } from './fixtures.ts'

function specOf(schema: unknown) {
  return toFlagSpecs(withFields({ field: schema }))[0]!
}

describe('flagName', () => {
  test.each([
    ['maxDepth', 'max-depth'],
    ['max_depth', 'max-depth'],
    ['MAX_DEPTH', 'max-depth'],
    ['userID', 'user-id'],
    ['HTTPServer', 'http-server'],
    ['v2Api', 'v2-api'],
    ['x', 'x'],
    ['__proto__', 'proto'],
    ['a.b c', 'a-b-c'],
    ['größe', 'größe'],
    ['$', ''],
  ])('%s is --%s', (field, long) => {
    expect(toFlagName(field)).toBe(long)
  })
})

describe('kinds, choices and value names', () => {
  test.each([
    ['string', { type: 'string' }, 'value', 'text'],
    ['integer', { type: 'integer' }, 'value', 'integer'],
    ['number', { type: 'number' }, 'value', 'number'],
    ['optional integer', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'value', 'integer'],
    ['nullable by type list', { type: ['number', 'null'] }, 'value', 'number'],
    ['path', { type: 'string', format: 'path' }, 'value', 'path'],
    ['date', { type: 'string', format: 'date' }, 'value', 'date'],
    ['date-time', { type: 'string', format: 'date-time' }, 'value', 'date-time'],
    ['boolean', { type: 'boolean' }, 'boolean', 'text'],
    ['optional boolean', { anyOf: [{ type: 'boolean' }, { type: 'null' }] }, 'boolean', 'text'],
    ['list of texts', { type: 'array', items: { type: 'string' } }, 'list', 'text'],
    ['list of numbers', { type: 'array', items: { type: 'number' } }, 'list', 'number'],
    ['list of objects', { type: 'array', items: { type: 'object' } }, 'list', 'json'],
    [
      'tuple',
      { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] },
      'list',
      'number',
    ],
    ['object', { type: 'object', properties: {} }, 'object', 'json'],
    ['record without type', { additionalProperties: { type: 'string' } }, 'object', 'json'],
    [
      'union of objects',
      { oneOf: [{ type: 'object' }, { type: 'object', properties: {} }] },
      'object',
      'json',
    ],
    [
      'object with alternatives',
      { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      'object',
      'json',
    ],
    ['intersection', { allOf: [{ minProperties: 1 }, { type: 'object' }] }, 'object', 'json'],
    ['union of scalars', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 'value', 'text'],
    [
      'integer of two ranges',
      {
        anyOf: [
          { type: 'integer', maximum: 1 },
          { type: 'integer', minimum: 5 },
        ],
      },
      'value',
      'integer',
    ],
    ['scalar or list', { anyOf: [{ type: 'string' }, { type: 'array' }] }, 'value', 'json'],
    ['anything', {}, 'value', 'json'],
    ['anything, as true', true, 'value', 'json'],
  ])('%s', (_, schema, kind, valueName) => {
    const spec = specOf(schema)
    expect(spec.kind).toBe(kind)
    if (kind !== 'boolean') expect(spec.valueName).toBe(valueName)
    expect(spec.choices).toBeUndefined()
  })

  test.each([
    ['enum', { enum: ['a', 'b'] }, ['a', 'b'], 'a|b'],
    ['enum with null', { enum: ['a', null] }, ['a'], 'a'],
    ['const', { const: 'a' }, ['a'], 'a'],
    [
      'union of constants',
      { anyOf: [{ const: 'a' }, { const: 2 }, { type: 'null' }] },
      ['a', '2'],
      'a|2',
    ],
    [
      'enum beside a constant',
      { anyOf: [{ enum: ['a', 'b'] }, { const: 'b' }] },
      ['a', 'b'],
      'a|b',
    ],
    ['numbers', { type: 'integer', enum: [1, 2] }, ['1', '2'], '1|2'],
    ['items of a list', { type: 'array', items: { enum: ['x', 'y'] } }, ['x', 'y'], 'x|y'],
    [
      'many',
      { enum: ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc'] },
      ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc'],
      'choice',
    ],
  ])('choices: %s', (_, schema, choices, valueName) => {
    expect(specOf(schema)).toMatchObject({ choices, valueName })
  })

  test('a union of a constant and a free text has no choices', () => {
    expect(specOf({ anyOf: [{ const: 'auto' }, { type: 'string' }] }).choices).toBeUndefined()
  })

  test('description and default come through an optional', () => {
    expect(
      specOf({ anyOf: [{ type: 'string', description: 'inner' }, { type: 'null' }], default: 'x' }),
    ).toMatchObject({ description: 'inner', default: 'x' })
    expect(
      specOf({
        anyOf: [{ type: 'string', description: 'inner' }, { type: 'null' }],
        description: 'outer',
      }).description,
    ).toBe('outer')
    expect(
      specOf({ anyOf: [{ type: 'string', description: 'first' }, { type: 'number' }] }).description,
    ).toBe('first')
  })
})

describe('which fields there are', () => {
  test('positionals in declared order, then required, then the rest', () => {
    const specs = toFlagSpecs(
      withFields({ a: {}, b: {}, c: {}, d: {} }, { required: ['d'], positional: ['c', 'b'] }),
    )
    expect(specs.map(({ field, positional, required }) => [field, positional, required])).toEqual([
      ['c', true, false],
      ['b', true, false],
      ['d', false, true],
      ['a', false, false],
    ])
  })

  test('a field with a default is not required', () => {
    expect(
      toFlagSpecs(withFields({ a: { type: 'string', default: 'x' } }, { required: ['a'] }))[0],
    ).toMatchObject({ required: false, default: 'x' })
  })

  test('options of the author', () => {
    const specs = toFlagSpecs(
      withFields(
        { output: {} },
        { flags: { output: { name: 'out-file', short: 'f', env: 'OUT', hidden: true } } },
      ),
    )
    expect(specs[0]).toMatchObject({
      field: 'output',
      long: 'out-file',
      short: 'f',
      env: 'OUT',
      hidden: true,
    })
    expect(toFlagSpecs(findFiles).find((spec) => spec.field === 'root')).toMatchObject({
      short: 'r',
      env: 'FIND_ROOT',
      hidden: false,
    })
  })

  test('a union at the root: all fields, required where every branch requires it, constants become choices', () => {
    const specs = toFlagSpecs(
      command({
        name: 'tool',
        inputSchema: {
          type: 'object',
          anyOf: [
            {
              type: 'object',
              properties: { type: { const: 'file' }, path: { type: 'string' } },
              required: ['type', 'path'],
            },
            {
              type: 'object',
              properties: { type: { const: 'url' }, url: { type: 'string' } },
              required: ['type', 'url'],
            },
          ],
        },
      }),
    )
    expect(specs.map(({ field, required }) => [field, required])).toEqual([
      ['type', true],
      ['path', false],
      ['url', false],
    ])
    expect(specs[0]!.choices).toEqual(['file', 'url'])
  })

  test('an intersection at the root: everything that a part requires is required', () => {
    const specs = toFlagSpecs(
      command({
        name: 'tool',
        inputSchema: {
          allOf: [
            { type: 'object', properties: { a: {} }, required: ['a'] },
            { type: 'object', properties: { b: {}, never: false } },
          ],
        },
      }),
    )
    expect(specs.map(({ field, required }) => [field, required])).toEqual([
      ['a', true],
      ['b', false],
    ])
  })

  test('reserved fields are fed by their injected flag, unless they are renamed', () => {
    const specs = toFlagSpecs(withFields({ timeout: {}, dryRun: {}, verbose: {}, working_dir: {} }))
    expect(specs.map((spec) => spec.fedBy)).toEqual(['timeout', 'dry-run', 'verbose', undefined])
    expect(
      toFlagSpecs(withFields({ timeout: {} }, { flags: { timeout: { name: 'wait' } } }))[0]!.fedBy,
    ).toBeUndefined()
  })

  test('__proto__ is a field like any other', () => {
    const specs = toFlagSpecs(
      withFields(JSON.parse('{"__proto__":{"type":"integer"}}') as Record<string, unknown>),
    )
    expect(specs).toMatchObject([
      { field: '__proto__', long: 'proto', valueName: 'integer', hidden: false },
    ])
  })
})
