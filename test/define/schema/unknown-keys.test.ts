import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../../src/util/values.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import { createExplainer } from '../../../src/define/schema/explain.ts'
import { createRefs } from '../../../src/define/schema/refs.ts'
import { findUnknownKeys } from '../../../src/define/schema/unknown-keys.ts'

const find = (schema: JsonSchema, value: unknown) =>
  findUnknownKeys(createExplainer(createRefs(schema)), schema, value)
const pathsOf = (schema: JsonSchema, value: unknown) =>
  find(schema, value).map((issue) => issue.path.join('.'))

const a = { properties: { a: { type: 'string' } } }
const b = { properties: { b: { type: 'string' } } }

describe('unknown keys', () => {
  test.each<[string, JsonSchema, unknown, string[]]>([
    [
      'in lists and tuples',
      { prefixItems: [a], items: b },
      [{ a: 'x', q: 1 }, { b: 'x' }, { a: 'x' }],
      ['0.q', '2.a'],
    ],
    [
      'below additionalProperties',
      { additionalProperties: a },
      { any: { a: 'x' }, other: { z: 1 } },
      ['other.z'],
    ],
    [
      'below patternProperties',
      { patternProperties: { '^x': a } },
      { xy: { z: 1 }, free: 1 },
      ['xy.z'],
    ],
    [
      'patterns beside closed properties',
      { ...a, patternProperties: { '^x-': {} }, additionalProperties: false },
      { a: 'x', 'x-1': 1, y: 1 },
      ['y'],
    ],
    ['allOf knows the keys of all members', { allOf: [a, b] }, { a: 'x', b: 'x', c: 1 }, ['c']],
    [
      'references',
      { properties: { n: { $ref: '#/$defs/A' } }, $defs: { A: a } },
      { n: { a: 'x', z: 1 } },
      ['n.z'],
    ],
    [
      'a branch by its tag',
      {
        oneOf: [
          { properties: { k: { const: 1 }, x: {} } },
          { properties: { k: { const: 2 }, y: {} } },
        ],
      },
      { k: 2, x: 1 },
      ['x'],
    ],
    [
      'any branch that takes them all',
      { anyOf: [a, { properties: { a: {}, b: {} } }] },
      { a: 'x', b: 1 },
      [],
    ],
    [
      'branches that add to properties',
      { properties: { c: {} }, anyOf: [a, b] },
      { a: 'x', b: 'x', c: 1, d: 1 },
      ['d'],
    ],
    ['open objects', { type: 'object' }, { x: 1 }, []],
    ['no keys at all', { type: 'object', properties: {} }, { x: 1 }, ['x']],
    [
      'if decides',
      {
        properties: { k: {} },
        if: { properties: { k: { const: 1 } } },
        then: { properties: { x: {} } },
        else: { properties: { y: {} } },
      },
      { k: 2, x: 1, y: 1 },
      ['x'],
    ],
    ['not inside anything', { properties: { a: {} } }, { a: { b: { c: 1 } } }, []],
  ])('%s', (_name, schema, value, expected) => {
    expect(pathsOf(schema, value)).toEqual(expected)
  })

  test('say what was meant, but not what is there already', () => {
    const schema = { properties: { pattern: {}, root: {} } }
    expect(find(schema, { patern: 1 })).toEqual([
      {
        path: ['patern'],
        kind: 'unknown_key',
        message: "unknown key 'patern'; did you mean 'pattern'?",
        meant: 'pattern',
      },
    ])
    expect(find(schema, { patern: 1, pattern: 2 })[0]).not.toHaveProperty('meant')
  })

  test('names of the prototype are keys like any other', async () => {
    const value: unknown = JSON.parse(
      '{"__proto__": {"polluted": true}, "constructor": 1, "toString": 2, "a": "x"}',
    )
    const schemas = [z.object({ a: z.string() }), { type: 'object', ...a }]
    for (const schema of schemas) {
      const checked = await compileSchema(schema, 'input').check(value)
      expect(checked.ok ? [] : checked.issues.map((issue) => [issue.path, issue.kind])).toEqual([
        [['__proto__'], 'unknown_key'],
        [['constructor'], 'unknown_key'],
        [['toString'], 'unknown_key'],
      ])
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('declared, they are allowed and kept', async () => {
    const schema: JsonSchema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"string","default":"c"}}}',
    )
    expect(await compileSchema(schema, 'input').check(JSON.parse('{"__proto__": 5}'))).toEqual({
      ok: true,
      value: JSON.parse('{"__proto__": 5, "constructor": "c"}'),
    })
    const bad = await compileSchema(schema, 'input').check(JSON.parse('{"__proto__": "x"}'))
    expect(bad.ok ? [] : bad.issues).toEqual([
      { path: ['__proto__'], kind: 'invalid', message: 'must be a whole number, got "x"' },
    ])
  })

  test('circles in the value end', () => {
    const value: Record<string, unknown> = { z: 1 }
    value['next'] = value
    expect(pathsOf({ properties: { next: { $ref: '#' } } }, value)).toEqual(['z'])
  })

  test('unions that fit in many ways at every depth do not explode', () => {
    const branch = { properties: { next: { $ref: '#' }, n: {} } }
    const schema = { anyOf: [branch, { ...branch }, { ...branch }] }
    let value: Record<string, unknown> = { z: 1 }
    for (let depth = 0; depth < 60; depth += 1) value = { next: value, n: depth }
    expect(pathsOf(schema, value)).toHaveLength(1)
  })
})
