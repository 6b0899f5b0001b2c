import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fail, ToolError } from '../../../src/protocol/tool-error.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import type { SchemaCheckResult, SchemaSource } from '../../../src/define/schema/source.ts'

const check = async (
  source: unknown,
  value: unknown,
  direction: 'input' | 'output' = 'input',
): Promise<SchemaCheckResult> => await compileSchema(source as SchemaSource, direction).check(value)
const valueOf = async (
  source: unknown,
  value: unknown,
  direction: 'input' | 'output' = 'input',
) => {
  const checked = await check(source, value, direction)
  if (!checked.ok) throw new Error(JSON.stringify(checked.issues))
  return checked.value
}
const messagesOf = async (
  source: unknown,
  value: unknown,
  direction: 'input' | 'output' = 'input',
) => {
  const checked = await check(source, value, direction)
  return checked.ok
    ? []
    : checked.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
}

describe('zod', () => {
  test('applies defaults and transforms', async () => {
    const schema = z.object({
      root: z.string().default('.'),
      name: z.string().transform((text) => text.toUpperCase()),
      deep: z.object({ n: z.number().default(1) }).prefault({}),
    })
    expect(await valueOf(schema, { name: 'a' })).toEqual({ root: '.', name: 'A', deep: { n: 1 } })
  })

  test('answers at once unless a rule is async', () => {
    expect(compileSchema(z.object({ a: z.string() }), 'input').check({ a: 'x' })).toEqual({
      ok: true,
      value: { a: 'x' },
    })
    expect(
      compileSchema(
        z.object({ a: z.string().refine(async (text) => text !== 'x') }),
        'input',
      ).check({ a: 'x' }),
    ).toBeInstanceOf(Promise)
  })

  test('rules of authors keep their own words, sync and async', async () => {
    expect(
      await messagesOf(
        z.object({ a: z.string().refine((text) => text === 'q', 'must be the letter q') }),
        { a: 'x' },
      ),
    ).toEqual(['a: must be the letter q'])
    expect(
      await messagesOf(
        z.object({ a: z.string().refine(async (text) => text === 'q', 'is already taken') }),
        { a: 'x' },
      ),
    ).toEqual(['a: is already taken'])
    expect(
      await messagesOf(z.object({ a: z.string().min(2, 'Name is too short') }), { a: 'x' }),
    ).toEqual(['a: Name is too short'])
    expect(
      await messagesOf(
        z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b, 'a must be below b'),
        { a: 2, b: 1 },
      ),
    ).toEqual([': a must be below b'])
  })

  test('a missing field with a message of its own is still missing', async () => {
    const checked = await check(z.object({ name: z.string({ error: 'Tell me your name' }) }), {})
    expect(checked).toEqual({
      ok: false,
      issues: [{ path: ['name'], kind: 'missing', message: 'Tell me your name' }],
    })
  })

  test('JSON is never coerced', async () => {
    expect(
      await messagesOf(z.object({ n: z.number(), b: z.boolean(), s: z.string() }), {
        n: '1',
        b: 'true',
        s: 1,
      }),
    ).toEqual([
      'n: must be a number, got "1"',
      'b: must be true or false, got "true"',
      's: must be text, got 1',
    ])
  })

  test('unknown keys are refused at every depth although zod would strip them', async () => {
    const schema = z.object({ list: z.array(z.object({ inner: z.object({ a: z.string() }) })) })
    expect(await messagesOf(schema, { list: [{ inner: { a: 'x', b: 1 } }] })).toEqual([
      "list.0.inner.b: unknown key 'b'; known keys are a",
    ])
  })

  test('explicitly open objects stay open', async () => {
    expect(await valueOf(z.looseObject({ a: z.string() }), { a: 'x', b: 1 })).toEqual({
      a: 'x',
      b: 1,
    })
    expect(
      await valueOf(z.object({ a: z.string() }).catchall(z.number()), { a: 'x', b: 1 }),
    ).toEqual({ a: 'x', b: 1 })
    expect(
      await valueOf(z.object({ bag: z.record(z.string(), z.number()) }), { bag: { x: 1 } }),
    ).toEqual({ bag: { x: 1 } })
    expect(await valueOf(z.object({ any: z.unknown() }), { any: { deep: { x: 1 } } })).toEqual({
      any: { deep: { x: 1 } },
    })
  })

  test('a strict object is told once', async () => {
    expect(
      await messagesOf(z.strictObject({ pattern: z.string() }), { pattern: 'x', patern: 'y' }),
    ).toEqual(["patern: unknown key 'patern'; known keys are pattern"])
  })

  test('a record over an enumeration', async () => {
    expect(
      await messagesOf(z.object({ r: z.partialRecord(z.enum(['width', 'height']), z.number()) }), {
        r: { widht: 1 },
      }),
    ).toEqual(["r.widht: unknown key 'widht'; did you mean 'width'?"])
  })

  test('recursive data', async () => {
    type Tree = { name: string; kids: Tree[] }
    const Tree: z.ZodType<Tree> = z.object({
      name: z.string(),
      get kids() {
        return z.array(Tree)
      },
    })
    const value = {
      tree: {
        name: 'a',
        kids: [
          {
            name: 'b',
            kids: [{ name: 'c', kids: [{ name: 'd', kids: [{ name: 5, kids: [], nam: 1 }] }] }],
          },
        ],
      },
    }
    expect(await messagesOf(z.object({ tree: Tree }), value)).toEqual([
      "tree.kids.0.kids.0.kids.0.kids.0.nam: unknown key 'nam'; known keys are name, kids",
      'tree.kids.0.kids.0.kids.0.kids.0.name: must be text, got 5',
    ])
  })

  test('intersections take the keys of both sides', async () => {
    const schema = z.object({
      both: z.intersection(
        z.object({ a: z.string() }).describe('one'),
        z.object({ b: z.string() }).describe('two'),
      ),
    })
    expect(await valueOf(schema, { both: { a: 'x', b: 'y' } })).toEqual({
      both: { a: 'x', b: 'y' },
    })
    expect(await messagesOf(schema, { both: { a: 'x', b: 'y', c: 'z' } })).toEqual([
      "both.c: unknown key 'c'; known keys are a, b",
    ])
  })

  test('a transform that throws is an issue; what the author raised with fail passes', async () => {
    const broken = z.object({
      a: z.string().transform(() => {
        throw new Error('boom')
      }),
    })
    expect(await messagesOf(broken, { a: 'x' })).toEqual([': cannot be checked: boom'])
    const failing = z.object({ a: z.string().transform((): string => fail('CONFLICT', 'taken')) })
    await expect(
      (async () => compileSchema(failing, 'input').check({ a: 'x' }))(),
    ).rejects.toSatisfy((error) => ToolError.is(error) && error.code === 'CONFLICT')
  })
})

describe('dates and big integers', () => {
  test.each(['2024-02-29', '2024-12-31T23:59:59Z', '2024-12-31T23:59:59.123+02:00'])(
    '%s is decoded',
    async (text) => {
      expect(await valueOf(z.object({ at: z.date() }), { at: text })).toEqual({
        at: new Date(text),
      })
    },
  )

  test.each(['tomorrow', '2024-02-30', '2024-13-01', '', '1', '2024-12-31T25:00:00Z'])(
    '%j is no date',
    async (text) => {
      expect(await messagesOf(z.object({ at: z.date() }), { at: text })).toEqual([
        `at: must be a date, got ${JSON.stringify(text)}`,
      ])
    },
  )

  test('at any depth, in lists, unions and optional fields', async () => {
    const schema = z.object({
      list: z.array(z.object({ at: z.date().nullable() })),
      either: z.union([z.number(), z.date()]),
      no: z.date().optional(),
      text: z.iso.datetime(),
      soon: z.coerce.date(),
    })
    const day = '2024-01-01T00:00:00Z'
    expect(
      await valueOf(schema, {
        list: [{ at: day }, { at: null }],
        either: day,
        text: day,
        soon: day,
      }),
    ).toEqual({
      list: [{ at: new Date(day) }, { at: null }],
      either: new Date(day),
      text: day,
      soon: new Date(day),
    })
  })

  test('the given value is not changed', async () => {
    const given = { at: '2024-01-01' }
    await valueOf(z.object({ at: z.date() }), given)
    expect(given).toEqual({ at: '2024-01-01' })
  })

  test('results may hold Date objects', async () => {
    const at = new Date(0)
    expect(await valueOf(z.array(z.object({ at: z.date() })), [{ at }], 'output')).toEqual([{ at }])
    expect(await messagesOf(z.object({ at: z.date() }), { at: 5 }, 'output')).toEqual([
      'at: must be a date, got 5',
    ])
  })

  test('whole numbers become bigint', async () => {
    expect(await valueOf(z.object({ n: z.bigint() }), { n: 5 })).toEqual({ n: 5n })
    expect(await messagesOf(z.object({ n: z.bigint() }), { n: 1.5 })).toEqual([
      'n: must be a whole number, got 1.5',
    ])
  })

  test('valibot and arktype too', async () => {
    const at = '2024-01-01T00:00:00Z'
    expect(
      await valueOf(toStandardJsonSchema(v.object({ at: v.date(), n: v.bigint() })), { at, n: 5 }),
    ).toEqual({ at: new Date(at), n: 5n })
    expect(await valueOf(type({ at: 'Date', n: 'bigint' }), { at, n: 5 })).toEqual({
      at: new Date(at),
      n: 5n,
    })
  })
})

describe('unions are told by their best branch', () => {
  const shape = z.object({
    shape: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), radius: z.number() }),
      z.object({ kind: z.literal('square'), side: z.number() }),
    ]),
  })

  test.each([
    [
      'an unknown tag',
      { kind: 'circl', radius: 1 },
      ['shape.kind: must be one of circle, square; got "circl"; did you mean \'circle\'?'],
    ],
    ['a wrong field', { kind: 'square', side: 'x' }, ['shape.side: must be a number, got "x"']],
    ['a missing field', { kind: 'square' }, ['shape.side: is required']],
    [
      'a field of another branch',
      { kind: 'circle', radius: 1, side: 2 },
      ["shape.side: unknown key 'side'; known keys are kind, radius"],
    ],
    ['no object at all', 5, ['shape: must be an object, got 5']],
  ])('%s', async (_name, given, expected) => {
    expect(await messagesOf(shape, { shape: given })).toEqual(expected)
  })

  test('simple values', async () => {
    expect(
      await messagesOf(z.object({ a: z.union([z.number(), z.boolean()]) }), { a: 'x' }),
    ).toEqual(['a: must be a number or true or false, got "x"'])
    expect(
      await messagesOf(z.object({ a: z.enum(['table', 'csv']).nullable() }), { a: 'tabel' }),
    ).toEqual(['a: must be one of table, csv, null; got "tabel"; did you mean \'table\'?'])
  })

  test('a rule of the author inside a branch', async () => {
    const schema = z.object({
      a: z.union([z.string().refine(() => false, 'is no good'), z.number()]),
    })
    expect(await messagesOf(schema, { a: 'x' })).toEqual(['a: is no good'])
  })

  test('keys of two branches at once', async () => {
    expect(
      await messagesOf(z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]), {
        a: 'x',
        b: 1,
      }),
    ).toEqual(["b: unknown key 'b'; known keys are a"])
  })
})
