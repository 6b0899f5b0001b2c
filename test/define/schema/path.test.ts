import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import { checkPaths } from '../../../src/define/schema/path.ts'
import type { SchemaSource } from '../../../src/define/schema/source.ts'
import { path } from '../../../src/zod.ts'

const files: Record<string, 'file' | 'directory' | 'other'> = {
  '/home/a.txt': 'file',
  '/home/src': 'directory',
  '/dev/null': 'other',
  '/home': 'directory',
}
const stat = (name: string) => files[name]

const check = async (source: SchemaSource, value: unknown) => {
  const schema = compileSchema(source, 'input')
  const checked = await schema.check(value)
  if (!checked.ok) throw new Error(JSON.stringify(checked.issues))
  return checkPaths(schema.json, checked.value, '/home', stat)
}
const propertyOf = (field: z.ZodType) =>
  (compileSchema(z.object({ field }), 'input').json['properties'] as Record<string, unknown>)[
    'field'
  ]

describe('path()', () => {
  test('is a string with the format path', () => {
    expect(propertyOf(path())).toEqual({ type: 'string', format: 'path' })
    expect(
      propertyOf(path({ exists: true, kind: 'file', resolve: true, direction: 'in' })),
    ).toEqual({
      type: 'string',
      format: 'path',
      'x-toolable-path': { exists: true, kind: 'file', resolve: true, direction: 'in' },
    })
  })

  test('keeps its rules through describe, default, optional, limits and lists', () => {
    const rules = { format: 'path', 'x-toolable-path': { exists: true } }
    expect(propertyOf(path({ exists: true }).describe('Where'))).toEqual({
      type: 'string',
      description: 'Where',
      ...rules,
    })
    expect(propertyOf(path({ exists: true }).default('.').describe('Where'))).toEqual({
      type: 'string',
      default: '.',
      description: 'Where',
      ...rules,
    })
    expect(propertyOf(path({ exists: true }).optional())).toEqual({ type: 'string', ...rules })
    expect(propertyOf(path({ exists: true }).min(1))).toEqual({
      type: 'string',
      minLength: 1,
      ...rules,
    })
    expect(propertyOf(z.array(path({ exists: true })))).toEqual({
      type: 'array',
      items: { type: 'string', ...rules },
    })
  })

  test('does not look at the disk itself', () => {
    expect(path({ exists: true }).parse('no/such/file')).toBe('no/such/file')
  })
})

describe('checkPaths', () => {
  test('resolves where asked, in lists, unions and defaults too', async () => {
    const schema = z.object({
      one: path({ resolve: true }),
      many: z.array(path({ resolve: true })),
      maybe: path({ resolve: true }).nullable(),
      root: path({ resolve: true }).default('.'),
      raw: path(),
      text: z.string(),
    })
    const { value, issues } = await check(schema, {
      one: 'a.txt',
      many: ['src', '/dev/null'],
      maybe: '../x',
      raw: 'a.txt',
      text: 'a.txt',
    })
    expect(issues).toEqual([])
    expect(value).toEqual({
      one: '/home/a.txt',
      many: ['/home/src', '/dev/null'],
      maybe: '/x',
      root: '/home',
      raw: 'a.txt',
      text: 'a.txt',
    })
  })

  test('reports what is missing or of the wrong kind', async () => {
    const schema = z.object({
      a: path({ exists: true }),
      b: path({ kind: 'file' }),
      c: path({ kind: 'directory', exists: true }),
      d: path({ kind: 'file' }),
      e: z.array(path({ exists: true, kind: 'file' })),
    })
    const { issues } = await check(schema, {
      a: 'nope',
      b: 'src',
      c: '/dev/null',
      d: 'not-there-yet',
      e: ['a.txt', 'gone'],
    })
    expect(issues).toEqual([
      { path: ['a'], message: 'must be an existing path, and "nope" does not exist' },
      { path: ['b'], message: 'must be a file, and "src" is a directory' },
      {
        path: ['c'],
        message: 'must be a directory, and "/dev/null" is neither file nor directory',
      },
      { path: ['e', 1], message: 'must be an existing file, and "gone" does not exist' },
    ])
  })

  test('works for plain JSON Schema', async () => {
    const schema = {
      type: 'object',
      properties: {
        deep: {
          type: 'object',
          properties: {
            file: {
              type: 'string',
              format: 'path',
              'x-toolable-path': { exists: true, resolve: true },
            },
          },
        },
      },
    }
    expect(await check(schema, { deep: { file: 'a.txt' } })).toEqual({
      value: { deep: { file: '/home/a.txt' } },
      issues: [],
    })
    expect((await check(schema, { deep: { file: 'b.txt' } })).issues).toEqual([
      { path: ['deep', 'file'], message: 'must be an existing path, and "b.txt" does not exist' },
    ])
  })

  test('a transform may have made something else of the text', async () => {
    expect(
      await check(z.object({ a: path({ exists: true }).transform((text) => text.length) }), {
        a: 'nope',
      }),
    ).toEqual({ value: { a: 4 }, issues: [] })
  })
})
