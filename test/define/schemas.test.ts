import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, jsonSchema, tool } from 'toolable'
import type { LazySchema } from '../../src/define/schema/source.ts'
import { path } from 'toolable/zod'
import { makeFolder } from '../support/run-program.ts'

const minimal = { name: 'find', summary: 'Find' }

const libraries: [string, LazySchema][] = [
  [
    'zod',
    z.object({
      q: z.string(),
      deep: z.object({ n: z.number() }).optional(),
      k: z.number().default(5),
    }),
  ],
  ['arktype', type({ q: 'string', 'deep?': { n: 'number' }, k: 'number = 5' })],
  [
    'valibot',
    toStandardJsonSchema(
      v.object({
        q: v.string(),
        deep: v.optional(v.object({ n: v.number() })),
        k: v.optional(v.number(), 5),
      }),
    ),
  ],
  [
    'plain JSON Schema',
    {
      type: 'object',
      properties: {
        q: { type: 'string' },
        deep: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
        k: { type: 'number', default: 5 },
      },
      required: ['q'],
    },
  ],
]

describe.each(libraries)('%s', (_name, input) => {
  const echo = tool({ ...minimal, input, run: (given) => given })

  test('[3.standard-schema] [3.plain-json-schema] checks, and applies defaults', async () => {
    expect(await call(echo, { q: 'x', deep: { n: 1 } })).toMatchObject({
      ok: true,
      result: { q: 'x', deep: { n: 1 }, k: 5 },
    })
    expect(await call(echo, { q: 5 })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'q' },
    })
    expect(await call(echo, { deep: {} })).toMatchObject({
      ok: false,
      error: { code: 'MISSING_PARAM' },
    })
  })

  test('[3.unknown-keys-refused] refuses unknown keys at every depth with what was meant', async () => {
    expect(await call(echo, { q: 'x', kk: 1 })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', message: expect.stringContaining("unknown key 'kk'") },
    })
    expect(await call(echo, { q: 'x', deep: { n: 1, m: 2 } })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', message: expect.stringContaining('deep') },
    })
  })

  test('[4.json-never-coerced] texts are not read as numbers', async () => {
    expect(await call(echo, { q: 'x', k: '5' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'k' },
    })
  })

  test.each([[null], ['text'], [[]], [5], [() => 1], [Symbol('x')]])(
    'an input of %s is refused as a value',
    async (given) => {
      expect(await call(echo, given as never)).toMatchObject({
        ok: false,
        error: { code: 'INVALID_INPUT' },
      })
    },
  )

  test('[4.prototype-keys] hostile keys are ordinary unknown keys', async () => {
    const hostile = JSON.parse('{"q":"x","__proto__":{"polluted":true},"constructor":1}') as never
    expect(await call(echo, hostile)).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

test('[3.plain-json-schema] jsonSchema gives the schema itself', () => {
  const schema = { type: 'object' }
  expect(jsonSchema<{}>(schema)).toBe(schema)
})

test('[3.unknown-keys-refused] a schema that is explicitly open takes them', async () => {
  for (const input of [
    z.looseObject({ q: z.string() }),
    { type: 'object', properties: { q: { type: 'string' } }, additionalProperties: true },
  ]) {
    expect(
      await call(tool({ ...minimal, input: input, run: (given) => given }), { q: 'x', more: 1 }),
    ).toMatchObject({ ok: true, result: { q: 'x', more: 1 } })
  }
})

test('a tool without input takes none, and undefined is as good as an empty object', async () => {
  const plain = tool({ ...minimal, run: (input) => Object.keys(input) })
  expect(await call(plain)).toMatchObject({ ok: true, result: [] })
  expect(await call(plain, {})).toMatchObject({ ok: true, result: [] })
  expect(await call(plain, { a: 1 } as never)).toMatchObject({
    ok: false,
    error: { code: 'INVALID_INPUT' },
  })
})

test('transforms apply, and refinements may wait', async () => {
  const upper = tool({
    ...minimal,
    input: z.object({
      a: z
        .string()
        .transform((text) => text.toUpperCase())
        .refine(async (text) => text !== 'NO'),
    }),
    run: ({ a }) => a,
  })
  expect(await call(upper, { a: 'yes' })).toMatchObject({ ok: true, result: 'YES' })
  expect(await call(upper, { a: 'no' })).toMatchObject({
    ok: false,
    error: { code: 'INVALID_INPUT' },
  })
})

test('all problems of one input are told at once, each with its place', async () => {
  const many = tool({
    ...minimal,
    input: z.object({ a: z.string(), b: z.object({ c: z.number() }), d: z.enum(['x', 'y']) }),
    run: () => 1,
  })
  const outcome = await call(many, { a: 1, b: { c: 'x' }, d: 'z' } as never)
  expect(outcome).toMatchObject({
    ok: false,
    error: { details: { issues: [{ path: 'a' }, { path: 'b.c' }, { path: 'd' }] } },
  })
})

describe('paths', () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'sub', 'a.txt'), 'x')
  const open = tool({
    ...minimal,
    input: z.object({
      file: path({ exists: true, kind: 'file', resolve: true }),
      out: path({ direction: 'out' }).optional(),
    }),
    run: (input) => input,
  })

  test('[3.zod-path] a path is resolved against the directory of the caller and has to exist', async () => {
    expect(await call(open, { file: 'sub/a.txt', out: 'b' }, { cwd: folder })).toMatchObject({
      ok: true,
      result: { file: join(folder, 'sub', 'a.txt'), out: 'b' },
    })
    expect(await call(open, { file: 'sub/none.txt' }, { cwd: folder })).toMatchObject({
      ok: false,
      error: {
        code: 'INVALID_PATH',
        field: 'file',
        message: expect.stringContaining('does not exist'),
      },
    })
    expect(await call(open, { file: 'sub' }, { cwd: folder })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_PATH', message: expect.stringContaining('must be a file') },
    })
    expect(await call(open, { file: 'a\0b' }, { cwd: folder })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_PATH' },
    })
    expect(await call(open, { file: `${'x'.repeat(5000)}` }, { cwd: folder })).toMatchObject({
      ok: false,
    })
  })
})
