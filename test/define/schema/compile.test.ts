import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import { jsonSchema, resolveSchema } from '../../../src/define/schema/source.ts'
import type { SchemaSource } from '../../../src/define/schema/source.ts'
import { path } from '../../../src/zod.ts'

const failureOf = (make: () => unknown): ToolError => {
  try {
    make()
  } catch (error) {
    if (ToolError.is(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const propertyOf = (field: SchemaSource) => {
  const { json } = compileSchema(z.object({ field: field as z.ZodType }), 'input')
  return (json['properties'] as Record<string, unknown>)['field']
}

describe('the type table of the specification', () => {
  test.each([
    ['text', z.string(), { type: 'string' }],
    ['whole number', z.int(), { type: 'integer' }],
    ['number', z.number(), { type: 'number' }],
    ['boolean', z.boolean(), { type: 'boolean' }],
    ['path', path(), { type: 'string', format: 'path' }],
    ['enumeration', z.enum(['one', 'two']), { type: 'string', enum: ['one', 'two'] }],
    ['list', z.array(z.string()), { type: 'array', items: { type: 'string' } }],
    ['nullable', z.string().nullable(), { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [
      'nullable with a limit',
      z.string().min(2).nullable(),
      { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
    ],
    ['literals', z.literal(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    [
      'a union of literals',
      z.union([z.literal('a'), z.literal('b')]),
      { type: 'string', enum: ['a', 'b'] },
    ],
    [
      'model',
      z.object({ a: z.object({ b: z.string() }) }),
      {
        type: 'object',
        required: ['a'],
        additionalProperties: false,
        properties: {
          a: {
            type: 'object',
            required: ['b'],
            additionalProperties: false,
            properties: { b: { type: 'string' } },
          },
        },
      },
    ],
    ['date', z.date(), { type: 'string', format: 'date-time' }],
    ['coerced date', z.coerce.date(), { type: 'string', format: 'date-time' }],
    ['bigint', z.bigint(), { type: 'integer' }],
    ['email', z.email(), { type: 'string', format: 'email' }],
    [
      'record',
      z.record(z.string(), z.number()),
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    [
      'tuple',
      z.tuple([z.string(), z.number()]),
      {
        type: 'array',
        prefixItems: [{ type: 'string' }, { type: 'number' }],
        items: false,
        minItems: 2,
        maxItems: 2,
      },
    ],
    ['anything', z.unknown(), {}],
  ])('%s', (_name, schema, expected) => {
    expect(propertyOf(schema as unknown as SchemaSource)).toEqual(expected)
  })

  test('an optional field is not required, and a default is published', () => {
    expect(
      compileSchema(
        z.object({ a: z.string().optional(), b: z.number().default(3), c: z.boolean() }),
        'input',
      ).json,
    ).toEqual({
      type: 'object',
      required: ['c'],
      additionalProperties: false,
      properties: {
        a: { type: 'string' },
        b: { type: 'number', default: 3 },
        c: { type: 'boolean' },
      },
    })
  })

  test('limits that mean something stay', () => {
    expect(propertyOf(z.int().min(1).max(10) as unknown as SchemaSource)).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 10,
    })
    expect(propertyOf(z.string().regex(/^a+$/) as unknown as SchemaSource)).toEqual({
      type: 'string',
      pattern: '^a+$',
    })
  })

  test('every library publishes the same closed object', () => {
    const expected = {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
    }
    const sources: SchemaSource[] = [
      z.object({ name: z.string(), age: z.int().optional() }),
      type({ name: 'string', 'age?': 'number.integer' }),
      toStandardJsonSchema(
        v.object({ name: v.string(), age: v.optional(v.pipe(v.number(), v.integer())) }),
      ),
      {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, age: { type: 'integer' } },
      },
    ]
    for (const source of sources) {
      const json = compileSchema(source, 'input').json
      expect({ ...json, properties: { ...(json['properties'] as object) } }).toEqual(expected)
    }
  })

  test('a result is published as it leaves, after transforms', () => {
    const schema = z.object({
      at: z
        .string()
        .transform((text) => text.length)
        .pipe(z.number()),
    })
    expect(compileSchema(schema, 'input').json['properties']).toEqual({ at: { type: 'string' } })
    expect(compileSchema(schema, 'output').json['properties']).toEqual({ at: { type: 'number' } })
  })
})

describe('what is no usable schema is refused with the way out', () => {
  test('bare valibot', () => {
    const error = failureOf(() =>
      compileSchema(v.object({ a: v.string() }) as unknown as SchemaSource, 'input'),
    )
    expect(error.code).toBe('CONFIG')
    expect(error.suggestion?.fix).toContain('toStandardJsonSchema(')
    expect(error.suggestion?.fix).toContain('@valibot/to-json-schema')
  })

  test('zod/mini', () => {
    const error = failureOf(() =>
      compileSchema(mini.object({ a: mini.string() }) as unknown as SchemaSource, 'input'),
    )
    expect(error.code).toBe('CONFIG')
    expect(error.suggestion?.fix).toContain("from 'zod'")
  })

  test.each([
    [5],
    ['text'],
    [null],
    [undefined],
    [[]],
    [() => 1],
    [Promise.resolve({ type: 'object' })],
  ])('%s', (source) => {
    const error = failureOf(() => compileSchema(source as unknown as SchemaSource, 'input'))
    expect(error.code).toBe('CONFIG')
    expect(error.suggestion?.fix).toContain('z.object')
  })

  test('an object of schemas', () => {
    const error = failureOf(() => compileSchema({ name: z.string() }, 'input'))
    expect(error.message).toContain("'name'")
    expect(error.suggestion?.fix).toContain('z.object')
  })

  test.each([
    ['zod text', z.string()],
    ['zod list', z.array(z.string())],
    ['plain text', { type: 'string' }],
    ['an empty schema', {}],
    ['fields without properties', { pattern: { type: 'string' } }],
    ['a union with text', { anyOf: [{ type: 'object' }, { type: 'string' }] }],
  ] as [string, SchemaSource][])('%s is no input', (_name, source) => {
    expect(failureOf(() => compileSchema(source, 'input')).message).toContain(
      'must describe an object',
    )
    expect(() => compileSchema(source, 'output')).not.toThrow()
  })

  test.each([
    ['a union of objects', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ['properties without type', { properties: { a: {} } }],
    ['a reference to an object', { $ref: '#/$defs/A', $defs: { A: { type: 'object' } } }],
    ['an intersection', { allOf: [{ type: 'object' }, {}] }],
  ] as [string, SchemaSource][])('%s is an input, and says so', (_name, source) => {
    expect(compileSchema(source, 'input').json['type']).toBe('object')
  })
})

describe('thunks', () => {
  test('are called once', () => {
    let calls = 0
    const thunk = () => {
      calls += 1
      return z.object({ a: z.string() })
    }
    expect(resolveSchema(thunk)).toBe(resolveSchema(thunk))
    expect(calls).toBe(1)
  })

  test('schemas that are functions themselves are not called', () => {
    const schema = type({ a: 'string' }) as unknown as SchemaSource
    expect(resolveSchema(schema)).toBe(schema)
  })

  test('jsonSchema gives its schema back', () => {
    const schema = { type: 'object' }
    expect(jsonSchema<{ a: string }>(schema)).toBe(schema)
  })
})
