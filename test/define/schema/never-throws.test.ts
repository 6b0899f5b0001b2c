import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import { issuesToError } from '../../../src/define/schema/issues.ts'
import type { SchemaSource } from '../../../src/define/schema/source.ts'
import { rounds } from '../../support/rounds.ts'

type Tree = { name: string; kids?: Tree[] | undefined }
const Tree: z.ZodType<Tree> = z.object({
  name: z.string(),
  get kids() {
    return z.array(Tree).optional()
  },
})

const sources: Record<string, SchemaSource> = {
  zod: z.object({
    a: z.string().optional(),
    d: z.date().optional(),
    u: z.union([z.object({ k: z.literal(1) }), z.array(z.string())]).optional(),
    tree: Tree.optional(),
    r: z.record(z.string(), z.unknown()).optional(),
  }),
  valibot: toStandardJsonSchema(
    v.object({
      a: v.optional(v.string()),
      d: v.optional(v.date()),
      u: v.optional(v.array(v.number())),
    }),
  ),
  arktype: type({ 'a?': 'string', 'd?': 'Date', 'u?': 'number[]' }),
  plain: {
    type: 'object',
    properties: {
      a: { type: 'string', format: 'email' },
      u: {
        oneOf: [
          { type: 'object', properties: { k: { const: 1 } } },
          { type: 'array', items: { type: 'string' }, uniqueItems: true },
        ],
      },
      tree: { $ref: '#' },
      r: { type: 'object' },
    },
  },
}

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withTypedArray: true,
})
const nearMiss = fc.record(
  { a: anything, d: anything, u: anything, tree: fc.object(), r: anything },
  { requiredKeys: [] },
)

describe.each(Object.entries(sources))('%s', (_name, source) => {
  const schema = compileSchema(source, 'input')

  test('checks arbitrary values without throwing, and every refusal can be told', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anything, nearMiss, fc.jsonValue()), async (value) => {
        const checked = await schema.check(value)
        if (checked.ok) return
        expect(checked.issues.length).toBeGreaterThan(0)
        const error = issuesToError(checked.issues, { input: value })
        expect(['INVALID_INPUT', 'MISSING_PARAM']).toContain(error.code)
        expect(error.message).not.toBe('')
      }),
      { numRuns: rounds(150) },
    )
  })
})

test.each(['zod', 'plain'])(
  'a table full of faults is told by its first ones (%s)',
  async (kind) => {
    const rows =
      kind === 'zod'
        ? z.object({ rows: z.array(z.object({ n: z.number() })) })
        : {
            type: 'object',
            properties: {
              rows: {
                type: 'array',
                items: { type: 'object', properties: { n: { type: 'number' } } },
              },
            },
          }
    for (const size of [150, 200_000]) {
      const checked = await compileSchema(rows, 'input').check({
        rows: Array.from({ length: size }, () => ({ n: 'x' })),
      })
      expect(checked.ok ? [] : checked.issues[0]).toEqual({
        path: ['rows', 0, 'n'],
        kind: 'invalid',
        message: 'must be a number, got "x"',
      })
      expect(checked.ok ? 0 : checked.issues.length).toBeLessThanOrEqual(100)
    }
  },
)
