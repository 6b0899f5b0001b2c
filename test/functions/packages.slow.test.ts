import { expect, test } from 'vitest'
import '../support/without-coverage.ts'
import { cleanEnvironment, makeFolder } from '../support/run-program.ts'
import { sdk } from '../mcp/clients/drivers.mjs'
import { packages, toolable } from './support.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

const run = (...args: string[]) => toolable(args, { cwd: packages })

test('date-fns: every function is a tool [3.functions-packages]', async () => {
  const told = await run('date-fns', '--verbose', '--tools')
  expect(told.json.tools).toHaveLength(245)
  expect(told.stderr.split('\n').filter((line) => line.startsWith('warning'))).toEqual([])
  expect(
    (await run('date-fns', 'add', '2026-01-31T00:00:00Z', '--months', '1', '--days', '2')).json,
  ).toMatchObject({
    result: '2026-03-02T00:00:00.000Z',
    meta: { tool: 'date-fns.add', version: '4.1.0' },
  })
})

test('semver: types of @types, classes are refused [3.functions-packages]', async () => {
  const told = await run('semver', '--verbose', '--tools')
  expect(told.json.tools).toHaveLength(37)
  expect(
    told.stderr
      .split('\n')
      .filter((line) => line.startsWith('warning'))
      .map((line) => /'(\w+)' is a class/.exec(line)?.[1]),
  ).toEqual(['Comparator', 'Range', 'SemVer'])
  for (const name of ['SemVer', 'sem-ver'])
    expect(await run('semver', name)).toMatchObject({
      status: 78,
      json: { error: { code: 'CONFIG', message: expect.stringContaining("'SemVer' is a class") } },
    })
  expect((await run('semver', 'inc', '1.2.3', 'minor')).json).toMatchObject({ result: '1.3.0' })
  expect((await run('semver', 'parse', '1.2.3')).json).toMatchObject({
    result: { major: 1, minor: 2, patch: 3 },
  })
})

test('picomatch: an export that is one function with members [3.functions-packages]', async () => {
  const told = await run('picomatch', '--verbose', '--tools')
  expect(told.json.tools).toHaveLength(8)
  expect(told.stderr).toContain('it returns a function, which JSON cannot carry')
  expect((await run('picomatch', 'is-match', 'src/a.ts', 'src/*.ts')).json).toMatchObject({
    result: true,
  })
})

test.each([
  ['date-fns', 245, 'add', { date: '2026-01-31T00:00:00Z', months: 1 }, '2026-02-28'],
  ['semver', 37, 'inc', { version: '1.2.3', release: 'minor' }, '1.3.0'],
  ['picomatch', 8, 'is_match', { str: 'src/a.ts', patterns: 'src/*.ts' }, 'true'],
] as const)(
  '%s: a client of MCP lists and calls it [3.functions-packages] [3.functions-clients]',
  async (name, count, tool, input, answer) => {
    const client = await sdk('legacy')({
      command: process.execPath,
      args: [TOOLABLE_PATH, name, 'mcp', 'serve', '--no-progressive'],
      cwd: packages,
      env: cleanEnvironment({ XDG_CACHE_HOME: makeFolder() }),
    })
    try {
      expect(await client.list()).toHaveLength(count)
      expect(JSON.stringify(await client.call(tool, input))).toContain(answer)
      expect(await client.call(tool, {})).toMatchObject({ isError: true })
    } finally {
      await client.close()
    }
  },
)
