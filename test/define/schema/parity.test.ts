import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../../src/util/values.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import type { SchemaSource } from '../../../src/define/schema/source.ts'

const issuesOf = async (source: SchemaSource, value: unknown) => {
  const checked = await compileSchema(source, 'input').check(value)
  return checked.ok ? [] : checked.issues
}

const node: JsonSchema = {
  type: 'object',
  properties: { kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
  required: ['kids'],
}
type Node = { kids: Node[] }
const Node: z.ZodType<Node> = z.object({
  get kids() {
    return z.array(Node)
  },
})

const rows: [string, z.ZodType, JsonSchema, unknown, string[]][] = [
  ['a wrong type', z.int(), { type: 'integer' }, 'abc', ['must be a whole number, got "abc"']],
  ['a fraction', z.int(), { type: 'integer' }, 1.5, ['must be a whole number, got 1.5']],
  ['null', z.string(), { type: 'string' }, null, ['must be text, got null']],
  [
    'too small',
    z.number().min(1),
    { type: 'number', minimum: 1 },
    0,
    ['must be at least 1, got 0'],
  ],
  [
    'not above',
    z.number().gt(1),
    { type: 'number', exclusiveMinimum: 1 },
    1,
    ['must be more than 1, got 1'],
  ],
  ['too large', z.number().max(5), { type: 'number', maximum: 5 }, 6, ['must be at most 5, got 6']],
  [
    'not below',
    z.number().lt(5),
    { type: 'number', exclusiveMaximum: 5 },
    5,
    ['must be less than 5, got 5'],
  ],
  [
    'no multiple',
    z.number().multipleOf(5),
    { type: 'number', multipleOf: 5 },
    7,
    ['must be a multiple of 5, got 7'],
  ],
  ['empty text', z.string().min(1), { type: 'string', minLength: 1 }, '', ['must not be empty']],
  [
    'short text',
    z.string().min(3),
    { type: 'string', minLength: 3 },
    'ab',
    ['must be at least 3 characters long, got "ab"'],
  ],
  [
    'long text',
    z.string().max(2),
    { type: 'string', maxLength: 2 },
    'abc',
    ['must be at most 2 characters long, got "abc"'],
  ],
  [
    'a pattern',
    z.string().regex(/^a+$/),
    { type: 'string', pattern: '^a+$' },
    'b',
    ['must match the pattern ^a+$, got "b"'],
  ],
  [
    'a format',
    z.email(),
    { type: 'string', format: 'email' },
    'x',
    ['must be an email address, got "x"'],
  ],
  [
    'a choice',
    z.enum(['table', 'csv', 'markdown']),
    { type: 'string', enum: ['table', 'csv', 'markdown'] },
    'tabel',
    ['must be one of table, csv, markdown; got "tabel"; did you mean \'table\'?'],
  ],
  [
    'a choice of the wrong type',
    z.enum(['a', 'b']),
    { type: 'string', enum: ['a', 'b'] },
    5,
    ['must be one of a, b; got 5'],
  ],
  ['a literal', z.literal('on'), { const: 'on' }, 'off', ['must be "on", got "off"']],
  [
    'few items',
    z.array(z.string()).min(2),
    { type: 'array', items: { type: 'string' }, minItems: 2 },
    ['a'],
    ['must have at least 2 items, got 1'],
  ],
  [
    'many items',
    z.array(z.string()).max(1),
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    ['a', 'b'],
    ['must have at most 1 item, got 2'],
  ],
  [
    'a short tuple',
    z.tuple([z.string(), z.number()]),
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2 },
    ['a'],
    ['must have at least 2 items, got 1'],
  ],
  [
    'an item',
    z.array(z.number()),
    { type: 'array', items: { type: 'number' } },
    [1, 'x'],
    ['must be a number, got "x"'],
  ],
  [
    'a list instead of an object',
    z.object({ a: z.string() }),
    { type: 'object', properties: { a: {} } },
    [1],
    ['must be an object, got [1]'],
  ],
  [
    'a missing key',
    z.object({ a: z.string() }),
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    {},
    ['is required'],
  ],
  [
    'an unknown key',
    z.object({ pattern: z.string() }),
    { type: 'object', properties: { pattern: { type: 'string' } } },
    { patern: 'x', pattern: 'y' },
    ["unknown key 'patern'; known keys are pattern"],
  ],
  [
    'a misspelt key',
    z.object({ pattern: z.string().optional() }),
    { type: 'object', properties: { pattern: { type: 'string' } } },
    { patern: 'x' },
    ["unknown key 'patern'; did you mean 'pattern'?"],
  ],
  [
    'a record value',
    z.record(z.string(), z.number()),
    { type: 'object', additionalProperties: { type: 'number' } },
    { a: 'x' },
    ['must be a number, got "x"'],
  ],
  [
    'a record key',
    z.record(z.string().regex(/^x/), z.number()),
    { type: 'object', propertyNames: { pattern: '^x' }, additionalProperties: { type: 'number' } },
    { a: 1 },
    ['is not an allowed key; a key must match the pattern ^x, got "a"'],
  ],
  [
    'nullable',
    z.number().nullable(),
    { type: ['number', 'null'] },
    'x',
    ['must be a number or null, got "x"'],
  ],
  [
    'a union',
    z.union([z.number(), z.array(z.string())]),
    { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'string' } }] },
    [5],
    ['must be text, got 5'],
  ],
  ['recursion', Node, { $ref: '#/$defs/node' }, { kids: [{ kids: [{}] }] }, ['is required']],
]

describe('zod and plain JSON Schema say the same', () => {
  test.each(rows)('%s', async (_name, zodField, plainField, value, expected) => {
    const fromZod = await issuesOf(z.object({ field: zodField }), { field: value })
    const fromPlain = await issuesOf(
      { type: 'object', properties: { field: plainField }, required: ['field'], $defs: { node } },
      { field: value },
    )
    expect(fromZod.map((issue) => issue.message)).toEqual(expected)
    expect(fromPlain).toEqual(fromZod)
  })

  test('long values are cut', async () => {
    const [issue] = await issuesOf(z.object({ a: z.number() }), { a: 'x'.repeat(5000) })
    expect(issue!.message.length).toBeLessThan(120)
    const [other] = await issuesOf(z.object({ a: z.number() }), {
      a: Array.from({ length: 5000 }, () => ({ deep: 'x'.repeat(500) })),
    })
    expect(other!.message.length).toBeLessThan(120)
  })
})
