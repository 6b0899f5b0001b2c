import { Validator } from '@cfworker/json-schema'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../../src/util/values.ts'
import { closeObjects } from '../../../src/define/schema/publish.ts'

const accepts = (schema: JsonSchema, value: unknown) =>
  new Validator(structuredClone(schema), '2020-12', false).validate(value).valid

const a = { properties: { a: { type: 'string' } } }
const b = { properties: { b: { type: 'string' } } }

describe('closing', () => {
  test('reaches every depth', () => {
    expect(
      closeObjects({ type: 'object', properties: { x: { type: 'array', items: a } } }),
    ).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: { x: { type: 'array', items: { ...a, additionalProperties: false } } },
    })
  })

  test.each([
    ['additionalProperties: true', { ...a, additionalProperties: true }],
    ['additionalProperties as a schema', { ...a, additionalProperties: { type: 'number' } }],
    ['patternProperties', { ...a, patternProperties: { '^x': {} } }],
    ['unevaluatedProperties', { ...a, unevaluatedProperties: true }],
    ['no properties', { type: 'object' }],
    ['not', { not: a }],
  ])('leaves %s alone', (_name, schema) => {
    expect(closeObjects(schema)).toEqual(schema)
  })

  test('does not change what it is given', () => {
    const schema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ properties: {} }) }),
    })
    expect(closeObjects(schema)).not.toBe(schema)
  })

  const def = { $defs: { A: { type: 'object', ...a } } }
  test.each<[string, JsonSchema, unknown[], unknown[]]>([
    ['allOf', { allOf: [a, b] }, [{ a: 'x', b: 'y' }, {}], [{ c: 1 }]],
    [
      'allOf beside properties',
      { properties: { c: {} }, allOf: [a, b] },
      [{ a: 'x', b: 'y', c: 1 }],
      [{ d: 1 }],
    ],
    ['allOf in allOf', { allOf: [{ allOf: [a] }, b] }, [{ a: 'x', b: 'y' }], [{ c: 1 }]],
    ['a plain reference', { $ref: '#/$defs/A', ...def }, [{ a: 'x' }], [{ b: 'x' }]],
    [
      'a reference in allOf',
      { allOf: [{ $ref: '#/$defs/A' }, b], ...def },
      [{ a: 'x', b: 'y' }],
      [{ c: 1 }],
    ],
    [
      'a reference beside properties',
      { $ref: '#/$defs/A', ...b, ...def },
      [{ a: 'x', b: 'y' }],
      [{ c: 1 }],
    ],
    [
      'a definition used alone and combined',
      {
        properties: { one: { $ref: '#/$defs/A' }, two: { allOf: [{ $ref: '#/$defs/A' }, b] } },
        ...def,
      },
      [{ one: { a: 'x' }, two: { a: 'x', b: 'y' } }],
      [{ one: { b: 'x' } }, { two: { c: 1 } }, { three: 1 }],
    ],
    [
      'anyOf',
      {
        anyOf: [
          { ...a, required: ['a'] },
          { ...b, required: ['b'] },
        ],
      },
      [{ a: 'x' }, { b: 'x' }],
      [{ a: 'x', c: 1 }],
    ],
    [
      'anyOf beside properties',
      {
        properties: { c: {} },
        anyOf: [
          { ...a, required: ['a'] },
          { ...b, required: ['b'] },
        ],
      },
      [{ a: 'x', c: 1 }, { b: 'x' }, { a: 'x', b: 'x' }],
      [{ a: 'x', d: 1 }],
    ],
    [
      'anyOf that only requires',
      { ...a, anyOf: [{ required: ['a'] }] },
      [{ a: 'x' }],
      [{ a: 'x', c: 1 }],
    ],
    [
      'if and then',
      {
        properties: { k: {} },
        if: { properties: { k: { const: 1 } }, required: ['k'] },
        then: { properties: { a: {} } },
      },
      [{ k: 1, a: 1 }, { k: 2 }],
      [{ k: 2, a: 1 }, { z: 1 }],
    ],
    [
      'dependentSchemas',
      { properties: { k: {} }, dependentSchemas: { k: a } },
      [{ k: 1, a: 'x' }],
      [{ z: 1 }],
    ],
    [
      'an open member of allOf',
      { allOf: [a, { ...b, additionalProperties: true }] },
      [{ c: 1 }],
      [],
    ],
  ])('%s stays satisfiable and closed', (_name, schema, good, bad) => {
    const closed = closeObjects(schema)
    for (const value of good) expect([value, accepts(closed, value)]).toEqual([value, true])
    for (const value of bad) expect([value, accepts(closed, value)]).toEqual([value, false])
  })
})
