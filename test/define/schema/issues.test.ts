import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import { describeIssues, issuesToError } from '../../../src/define/schema/issues.ts'
import type { SchemaIssue } from '../../../src/define/schema/source.ts'
import { formatPath } from '../../../src/define/schema/walk.ts'

const schema = compileSchema(
  z.object({
    pattern: z.string(),
    format: z.enum(['table', 'csv']).default('table'),
    filter: z.object({ max: z.array(z.number()), unit: z.string().optional() }).optional(),
  }),
  'input',
)

const errorFor = async (input: unknown) => {
  const checked = await schema.check(input)
  if (checked.ok) throw new Error('it is valid')
  return issuesToError(checked.issues, { what: 'the input', input }).toObject()
}

describe('issuesToError', () => {
  test('only missing fields', async () => {
    expect(await errorFor({})).toEqual({
      code: 'MISSING_PARAM',
      category: 'input',
      message: 'pattern is required',
      recoverable: true,
      retryable: false,
      field: 'pattern',
      suggestion: {
        action: 'retry_with_modified_input',
        fix: 'Add pattern',
        applicability: 'maybe_incorrect',
      },
      details: { issues: [{ path: 'pattern', message: 'is required' }] },
    })
  })

  test('a misspelt key is repaired, and what it was to fill is not asked for again', async () => {
    const error = await errorFor({ patern: '*.ts', format: 'csv' })
    expect(error).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'patern',
      message: "unknown key 'patern' (did you mean 'pattern'?); pattern is required",
    })
    expect(error.suggestion).toEqual({
      action: 'retry_with_modified_input',
      fix: 'Rename patern to pattern',
      input: { pattern: '*.ts', format: 'csv' },
      applicability: 'maybe_incorrect',
    })
  })

  test('a misspelt value is repaired', async () => {
    const given = { pattern: 'x', format: 'tabel' }
    const { suggestion } = await errorFor(given)
    expect(suggestion).toMatchObject({
      fix: "Set format to 'table'",
      input: { pattern: 'x', format: 'table' },
    })
    expect(given.format).toBe('tabel')
  })

  test('deep paths are dotted', async () => {
    const error = await errorFor({ pattern: 'x', filter: { max: ['y'] } })
    expect(error).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'filter.max[0]',
      message: 'filter.max[0] must be a number, got "y"',
    })
    expect(await errorFor({ pattern: 'x', filter: { max: [], unti: 'm' } })).toMatchObject({
      field: 'filter.unti',
      message: "unknown key 'unti' in filter; did you mean 'unit'?",
      suggestion: {
        fix: 'Rename filter.unti to filter.unit',
        input: { pattern: 'x', filter: { max: [], unit: 'm' } },
      },
    })
  })

  test('no repaired input while something else is wrong', async () => {
    expect((await errorFor({ patern: 'x', filter: 5 })).suggestion).not.toHaveProperty('input')
  })

  test('the whole value has a name and no field', async () => {
    const error = await errorFor('x')
    expect(error.message).toBe('the input must be an object, got "x"')
    expect(error).not.toHaveProperty('field')
  })

  test('five are told, the rest is counted', () => {
    const issues: SchemaIssue[] = Array.from({ length: 8 }, (_, index) => ({
      path: [`f${index}`],
      kind: 'invalid',
      message: 'must be text, got 1',
    }))
    const error = issuesToError(issues)
    expect(error.message.split('; ')).toHaveLength(6)
    expect(error.message).toMatch(/; and 3 more$/)
    expect((error.details as { issues: unknown[] }).issues).toHaveLength(8)
  })

  test('sentences of authors stand behind a colon', () => {
    expect(describeIssues([{ path: ['a'], kind: 'invalid', message: 'Name is too short' }])).toBe(
      'a: Name is too short',
    )
  })

  test.each([
    [['a', 'b', 0, 'c'], 'a.b[0].c'],
    [[0], '[0]'],
    [[], ''],
    [['odd key', 'x'], '["odd key"].x'],
    [['max-depth', 'größe'], 'max-depth.größe'],
  ])('path %j', (path, expected) => {
    expect(formatPath(path)).toBe(expected)
  })
})
