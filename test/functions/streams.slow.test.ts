import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolset } from 'toolable'
import { expect, test } from 'vitest'
import { cleanEnvironment, fixture, makeFolder, runShell } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { sdk } from '../mcp/clients/drivers.mjs'
import { fixtures, toolable } from './support.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

process.env['XDG_CACHE_HOME'] = makeFolder()

test('a generator that fails half-way has given what it gave, and fails [3.functions-streams]', async () => {
  const streamed = await toolable(['./streams.ts', 'breaks', '--stream'])
  expect(streamed.status).toBe(1)
  expect(streamed.lines).toMatchObject([
    { type: 'item', value: 1 },
    { type: 'item', value: 2 },
    { type: 'result', ok: false, error: { message: expect.stringContaining('broken half-way') } },
  ])
  expect((await toolable(['./streams.ts', 'letters', '2', '--stream'])).lines).toMatchObject([
    { type: 'item', value: 'a' },
    { type: 'item', value: 'b' },
    { type: 'result', ok: true, result: { count: 2 } },
  ])
})

test('a reader that leaves and a deadline end a generator that would go on for ever [3.functions-streams]', async () => {
  const left = join(makeFolder(), 'left')
  const late = join(makeFolder(), 'late')
  const { stdout } = await runShell(
    TOOLABLE,
    `$PROG ./streams.ts forever "${left}" --stream | head -n 4`,
    { cwd: fixtures, env: { XDG_CACHE_HOME: makeFolder() } },
  )
  expect(stdout.split('\n').filter((line) => line !== '')).toHaveLength(4)
  await expect.poll(() => readOrNothing(left)).toBe('cleaned up\n')
  expect((await toolable(['./streams.ts', 'forever', late, '--timeout', '1s'])).json).toMatchObject(
    { ok: false, error: { code: 'TIMEOUT' } },
  )
  expect(readFileSync(late, 'utf8')).toBe('cleaned up\n')
})

test('a generator that asks is a session [3.functions-streams]', async () => {
  const set = await toolset({
    module: join(fixtures, 'streams.ts'),
    name: 'streams',
    version: '1.0.0',
  })
  expect((await set.manifest()).tools.find(({ name }) => name === 'greets')).toMatchObject({
    session: true,
  })
  const { lines } = await toolable(['./streams.ts', 'greets', '--session'], {
    input: '{"type":"input","value":"Ada"}\n',
  })
  expect(lines[0]).toMatchObject({
    type: 'session_start',
    message: 'Hello',
    prompt: 'Who are you?',
  })
  expect(JSON.stringify(lines)).toContain('Goodbye')
})

test('a client of MCP gets the items as the result, hears of progress, and ends what it no longer wants [3.functions-streams]', async () => {
  const file = join(makeFolder(), 'cancelled')
  writeFileSync(file, '')
  const client = await sdk('legacy')({
    command: process.execPath,
    args: [fixture(TOOLABLE), './streams.ts', '--serve-mcp', 'stdio'],
    cwd: fixtures,
    env: cleanEnvironment({ XDG_CACHE_HOME: makeFolder() }),
  })
  try {
    expect(await client.call('letters', { to: 3 })).toMatchObject({
      structuredContent: { count: 3 },
    })
    expect(await client.call('breaks', {})).toMatchObject({ isError: true })
    const progress: { progress: number }[] = []
    const stop = new AbortController()
    const call = client
      .call('forever', { file }, { progress, signal: stop.signal })
      .catch((error: unknown) => error)
    await expect.poll(() => progress.length).toBeGreaterThan(2)
    stop.abort()
    expect(await call).toBeInstanceOf(Error)
    await expect.poll(() => readFileSync(file, 'utf8')).toBe('cleaned up\n')
    expect(await client.call('letters', { to: 1 })).toMatchObject({
      structuredContent: { count: 1 },
    })
  } finally {
    await client.close()
  }
})

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
