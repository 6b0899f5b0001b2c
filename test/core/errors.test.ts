import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, ERROR_TABLE, fail, tool, ToolError } from 'toolable'
import type { DeclaredError, ErrorObject, FailOptions } from 'toolable'
import { makeFolder } from '../support/run-program.ts'

const failing = async (
  run: () => unknown,
  errors: { [code: string]: DeclaredError | string } = {},
): Promise<ErrorObject> => {
  const outcome = await call(
    tool({ name: 'fails', summary: 'Fails', errors, run: run as () => never }),
  )
  if (outcome.ok) throw new Error('it did not fail')
  return outcome.error
}

describe('the table', () => {
  test.each(Object.entries(ERROR_TABLE))(
    '[4.error-table] [4.recoverable-retryable] fail(%s) has the facts of its row',
    async (code, row) => {
      expect(await failing(() => fail(code, 'x'))).toEqual({
        code,
        category: row.category,
        message: 'x',
        recoverable: row.recoverable,
        retryable: row.retryable,
      })
      expect((await failing(() => fail(code))).message).toBe(row.meaning)
    },
  )

  test.each([
    ['E1001', 'MISSING_PARAM'],
    ['E_INPUT_NOT_FOUND', 'NOT_FOUND'],
    ['E_SCHEMA_MISMATCH', 'INVALID_INPUT'],
    ['E_TIMEOUT', 'TIMEOUT'],
    ['E_DEADLINE', 'TIMEOUT'],
    ['E3001', 'NOT_FOUND'],
    ['E_UNKNOWN', 'INTERNAL'],
    ['E5001', 'CONFIG'],
    ['E_TRANSIENT_NET', 'DEPENDENCY'],
  ])('[4.seed-codes-read] fail(%s) is %s', async (alias, code) => {
    expect(await failing(() => fail(alias, 'x'))).toMatchObject({
      code,
      category: ERROR_TABLE[code as 'TIMEOUT'].category,
    })
  })
})

describe('fail', () => {
  test('[3.fail-options] takes every option', () => {
    const cause = new Error('why')
    const options: FailOptions = {
      recoverable: false,
      retryable: true,
      suggestion: {
        action: 'abort',
        fix: 'Stop',
        example: 'prog x',
        applicability: 'machine_applicable',
      },
      details: { a: 1 },
      field: 'name',
      cause,
    }
    expect(() => fail('CONFLICT', 'taken', options)).toThrow(
      expect.objectContaining({ code: 'CONFLICT', message: 'taken', ...options }),
    )
  })

  test('[4.recoverable-retryable] recoverable and retryable can be changed, the category of a code of ours cannot', async () => {
    expect(
      await failing(() =>
        fail('NOT_FOUND', 'x', { recoverable: false, retryable: true, category: 'auth' }),
      ),
    ).toMatchObject({ category: 'state', recoverable: false, retryable: true })
    expect(await failing(() => fail('E_MINE', 'x', { category: 'auth' }))).toMatchObject({
      category: 'auth',
      recoverable: false,
    })
  })

  test('[3.fail-string-suggestion] a text is the fix, and an input alone is completed', async () => {
    expect(
      (await failing(() => fail('CONFLICT', 'x', { suggestion: 'Choose another name' })))
        .suggestion,
    ).toEqual({
      action: 'retry_with_modified_input',
      fix: 'Choose another name',
      applicability: 'maybe_incorrect',
    })
    expect(
      (await failing(() => fail('CONFLICT', 'x', { suggestion: { input: { name: 'b' } } })))
        .suggestion,
    ).toEqual({
      action: 'retry_with_modified_input',
      fix: 'Call again with the repaired input',
      input: { name: 'b' },
      applicability: 'maybe_incorrect',
    })
  })

  test('what is absent is not there as undefined', () => {
    const error = new ToolError('CONFLICT', 'x')
    expect(
      Object.keys(error).filter(
        (key) => (error as unknown as Record<string, unknown>)[key] === undefined,
      ),
    ).toEqual([])
  })
})

describe('codes of tools', () => {
  test.each([
    ['E1101', 'input', true],
    ['E2101', 'auth', false],
    ['E3101', 'state', true],
    ['E4101', 'runtime', false],
    ['E5101', 'internal', false],
    ['E_MY_THING', 'runtime', false],
    ['MY_THING', 'runtime', false],
    ['E9101', 'runtime', false],
  ])('[4.own-codes] %s is %s without a declaration', async (code, category, recoverable) => {
    expect(await failing(() => fail(code, 'x'))).toMatchObject({
      code,
      category,
      recoverable,
      retryable: false,
    })
  })

  test('[4.own-codes] [3.declared-errors] a declaration decides what fail left open, text included', async () => {
    const errors = {
      E3101: { category: 'runtime', message: 'Closed on Sundays', retryable: true },
      E_SHORT: 'Only a text',
    } as const
    expect(await failing(() => fail('E3101'), errors)).toEqual({
      code: 'E3101',
      category: 'runtime',
      message: 'Closed on Sundays',
      recoverable: false,
      retryable: true,
    })
    expect(
      await failing(
        () =>
          fail('E3101', 'Closed today', { retryable: false, recoverable: true, category: 'state' }),
        errors,
      ),
    ).toEqual({
      code: 'E3101',
      category: 'state',
      message: 'Closed today',
      recoverable: true,
      retryable: false,
    })
    expect(await failing(() => fail('E3101', undefined, { field: 'day' }), errors)).toMatchObject({
      message: 'Closed on Sundays',
      field: 'day',
    })
    expect(await failing(() => fail('E_SHORT'), errors)).toMatchObject({
      message: 'Only a text',
      category: 'runtime',
    })
    expect(await failing(() => fail('E_OTHER'), errors)).toMatchObject({
      code: 'E_OTHER',
      message: 'E_OTHER',
    })
  })

  test('[3.declared-errors] the tool in which it happened decides, not the one that called it', async () => {
    const inner = tool({
      name: 'inner',
      summary: 'Inner',
      errors: { E3101: { category: 'auth', message: 'Inner text' } },
      run: () => fail('E3101'),
    })
    expect(
      await failing(() => inner(), { E3101: { category: 'runtime', message: 'Outer text' } }),
    ).toMatchObject({ category: 'auth', message: 'Inner text' })
  })

  test('[4.own-codes-text-only] of our own numbers a declaration changes the text only', async () => {
    const errors = {
      E3001: { category: 'auth', message: 'No such note', retryable: true },
      E1007: { category: 'auth', message: 'Odd', recoverable: false },
    } as const
    expect(await failing(() => fail('E3001'), errors)).toEqual({
      code: 'NOT_FOUND',
      category: 'state',
      message: 'No such note',
      recoverable: true,
      retryable: false,
    })
    expect(await failing(() => fail('NOT_FOUND'), errors)).toMatchObject({
      message: 'No such note',
    })
    expect(await failing(() => fail('NOT_FOUND', 'note 7'), errors)).toMatchObject({
      message: 'note 7',
    })
    expect(await failing(() => fail('E1007'), errors)).toEqual({
      code: 'E1007',
      category: 'input',
      message: 'Odd',
      recoverable: true,
      retryable: false,
    })
  })

  test('[4.prototype-keys] a code such as constructor is nobody’s', async () => {
    for (const code of ['constructor', '__proto__', 'toString'])
      expect(await failing(() => fail(code, 'x'), { E3101: 'x' })).toMatchObject({
        code,
        category: 'runtime',
        message: 'x',
      })
  })
})

describe('errors of the system', () => {
  test.each([
    ['ENOENT', 'NOT_FOUND'],
    ['ENOTDIR', 'NOT_FOUND'],
    ['EEXIST', 'CONFLICT'],
    ['EACCES', 'PERMISSION'],
    ['EPERM', 'PERMISSION'],
    ['EROFS', 'PERMISSION'],
    ['ENOSPC', 'DISK_FULL'],
    ['ECONNREFUSED', 'DEPENDENCY'],
    ['ENOTFOUND', 'DEPENDENCY'],
    ['ETIMEDOUT', 'DEPENDENCY'],
    ['EOTHER', 'INTERNAL'],
    ['constructor', 'INTERNAL'],
  ])('%s is %s', async (errno, code) => {
    expect(
      (
        await failing(() => {
          throw Object.assign(new Error('x'), { code: errno })
        })
      ).code,
    ).toBe(code)
  })

  test('real ones say what and where', async () => {
    const missing = join(makeFolder(), 'none')
    for (const read of [() => readFileSync(missing), () => readFile(missing)]) {
      expect(await failing(read)).toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('no such file'),
        details: { name: 'Error', errno: 'ENOENT', syscall: 'open', path: missing },
      })
    }
    const file = join(makeFolder(), 'file')
    writeFileSync(file, '')
    expect((await failing(() => mkdtempSync(join(file, 'x')))).code).toBe('NOT_FOUND')
  })

  test('fetch that finds nobody is a dependency that failed', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(await failing(() => fetch(`http://127.0.0.1:${port}/`))).toMatchObject({
      code: 'DEPENDENCY',
      retryable: true,
      message: expect.stringMatching(/^fetch failed: .*ECONNREFUSED/),
      details: { errno: 'ECONNREFUSED' },
    })
  })
})
