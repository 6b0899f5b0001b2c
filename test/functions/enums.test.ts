import { join } from 'node:path'
import { toolset } from 'toolable'
import { runCli } from 'toolable/testing'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { fixtures } from './support.ts'

process.env['XDG_CACHE_HOME'] = makeFolder()

describe('numeric enums', () => {
  test('are chosen by name or number, and the function gets the number [3.functions-enums]', async () => {
    const set = await toolset({
      module: join(fixtures, 'signatures.ts'),
      name: 'signatures',
      version: '1.0.0',
    })
    const run = async (...words: string[]) => JSON.parse((await runCli(set, words)).stdout)
    for (const word of ['High', '10'])
      expect(await run('numeric-enum', word)).toMatchObject({ ok: true, result: 10 })
    expect(await set.call('numeric_enum', { level: 'Low' })).toMatchObject({ ok: true, result: 0 })
    expect(await set.call('numeric_enum', { level: 0 })).toMatchObject({ ok: true, result: 0 })
    // The name that TypeScript gives to the number is no name of the enum.
    expect(await set.call('numeric_enum', { level: '10' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    expect(await run('numeric-enum', 'Medium')).toMatchObject({
      error: {
        code: 'INVALID_INPUT',
        message: '<level> must be one of Low, High, 0, 10; got "Medium"',
        suggestion: { fix: 'Use one of Low, High' },
      },
    })
    expect(await set.call('imported_enum', {})).toMatchObject({ result: 2 })
    expect(await set.call('imported_enum', { priority: 'High' })).toMatchObject({ result: 10 })
    expect(await set.call('mixed_enum', { answer: 'No' })).toMatchObject({ result: '0' })
    expect(await set.call('mixed_enum', { answer: 'yes' })).toMatchObject({ result: 'yes' })
    expect(await set.call('mixed_enum', { answer: 'Yes' })).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
    expect(await set.call('computed_enum', { length: 'Line' })).toMatchObject({ result: 80 })
    expect(await set.call('computed_enum', { length: 4 })).toMatchObject({ result: 4 })
    expect(await set.call('one_member', { only: 'One', first: 'Low' })).toMatchObject({ result: 4 })
  })

  test('at every depth, and beside other types [3.functions-enums]', async () => {
    const set = await toolset({
      module: join(fixtures, 'signatures.ts'),
      name: 'signatures',
      version: '1.0.0',
    })
    expect(
      JSON.parse(
        (await runCli(set, ['enums-inside', '--many', 'High', '--many', '1', '--maybe', 'Low']))
          .stdout,
      ),
    ).toMatchObject({ result: { level: 0, many: [10, 1], maybe: 0 } })
    expect(await set.call('enums_inside', { level: 'High', maybe: null })).toMatchObject({
      result: { level: 10, maybe: null },
    })
    // A text that another alternative takes as it is stays what the caller wrote.
    expect(await set.call('enum_or_else', { value: 'Low', text: 'Low' })).toMatchObject({
      result: [0, 'Low'],
    })
    expect(await set.call('enum_or_else', { value: '2026-01-31', text: 10 })).toMatchObject({
      result: ['2026-01-31T00:00:00.000Z', 10],
    })
    expect(await set.call('enum_or_else', { value: 'low', text: '' })).toMatchObject({
      result: ['low', ''],
    })
    expect(
      await set.call('enum_keys', {
        byColour: { red: 1, blue: 2 },
        levels: [['High', 'a']],
        colours: { red: 'https://example.org' },
      }),
    ).toMatchObject({ result: [{ red: 1, blue: 2 }, [[10, 'a']], { red: 'https://example.org/' }] })
  })
})
