import { afterAll, describe, expect, test } from 'vitest'
import { openRaw } from './support/raw-stdio.ts'

describe('handlers that misbehave while others are served [5.mcp-crash]', () => {
  const raw = openRaw('misbehaves.mjs')
  afterAll(() => raw.end())
  const misbehave = (how: string) =>
    raw.ask('tools/call', { name: 'misbehave', arguments: { how } }, how)

  test.each<[how: string, code: string, words: string]>([
    ['throws-error', 'INTERNAL', 'broken inside'],
    ['throws-string', 'INTERNAL', 'just words'],
    ['throws-null', 'INTERNAL', 'null'],
    ['throws-undefined', 'INTERNAL', 'undefined'],
    ['throws-object', 'INTERNAL', 'odd'],
    ['throws-enoent', 'NOT_FOUND', '/nonexistent/file'],
    ['rejects-later', 'INTERNAL', 'late'],
    ['exits', 'INTERNAL', 'process.exit(0)'],
    ['exits-after-await', 'INTERNAL', 'process.exit(0)'],
    ['exits-in-timer', 'INTERNAL', 'process.exit(0)'],
    ['floats-rejection', 'INTERNAL', 'nobody caught me'],
    ['throws-in-timer', 'INTERNAL', 'thrown in a timer'],
    ['throws-string-in-timer', 'INTERNAL', 'words in a timer'],
    ['returns-circular', 'INTERNAL', 'result.self'],
    ['returns-bigint', 'INTERNAL', 'result.deep[0]'],
    ['returns-function', 'INTERNAL', 'a function'],
    ['returns-throwing-getter', 'INTERNAL', 'a trap'],
    ['returns-deep', 'INTERNAL', ''],
    ['runs-out-of-stack', 'INTERNAL', 'stack'],
  ])('%s fails its call alone', async (how, code, words) => {
    const { result } = await misbehave(how)
    expect(result.isError).toBe(true)
    expect(JSON.parse(result.content[0].text).error).toMatchObject({
      code,
      message: expect.stringContaining(words),
    })
    expect(result.content[0].text).not.toContain('    at ')
    expect((await raw.ask('ping', {}, `after ${how}`)).result).toEqual({})
  })

  test.each([
    'sets-exit-code',
    'floats-rejection-at-end',
    'returns-nan',
    'returns-proto-key',
    'returns-lone-surrogate',
    'changes-directory',
    'removes-stdout',
  ])('%s is a success all the same', async (how) => {
    expect((await misbehave(how)).result.isError ?? false).toBe(false)
    expect((await raw.ask('ping', {}, `after ${how}`)).result).toEqual({})
  })

  test('a call that never settles keeps nobody waiting but its caller', async () => {
    void misbehave('never-settles').catch(() => undefined)
    expect((await misbehave('returns-date')).result.structuredContent).toEqual({
      at: '1970-01-01T00:00:00.000Z',
    })
    raw.write(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never-settles"}}',
    )
    expect(raw.strays).toEqual([])
  })
})

test('[5.mcp-crash] the operator hears on stderr of tools that are broken, and not of callers that are wrong', async () => {
  const raw = openRaw('misbehaves.mjs')
  await raw.ask('tools/call', { name: 'misbehave', arguments: { how: 'throws-error' } })
  await raw.ask('tools/call', { name: 'misbehave', arguments: { how: 'throws-enoent' } })
  await raw.ask('tools/call', { name: 'misbehave', arguments: {} })
  const { stderr } = await raw.end()
  expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(/misbehave: .*broken inside/)])
})

const printing = {
  'prints-too-much.mjs': [
    'console-log',
    'console-table',
    'stdout-write',
    'stdout-callback',
    'write-sync',
    'write-async',
    'write-file',
    'write-stream',
    'spawn-inherit',
    'spawn-array',
    'spawn-stream',
    'spawn-sync',
    'exec-sync',
    'exec-piped',
    'fork',
    'worker',
    'library',
    'pipe-to-stdout',
  ],
  'prints-late.mjs': [
    'import-spawn',
    'import-exec-sync',
    'require-spawn-sync',
    'import-library',
    'worker',
  ],
} as const

describe.each(Object.entries(printing))('%s [5.mcp-pure-stdout]', (fixture, ways) => {
  test('whatever a handler or its library prints, stdout carries the protocol alone', async () => {
    const raw = openRaw(fixture)
    const answers = await Promise.all(
      ways.map((how) => raw.ask('tools/call', { name: 'print', arguments: { how } }, how)),
    )
    expect(answers.map(({ id, result }) => [id, result.structuredContent?.how])).toEqual(
      ways.map((how) => [how, how]),
    )
    const { status, stdout, stderr } = await raw.end()
    expect(status).toBe(0)
    expect(raw.strays).toEqual([])
    expect(stdout).not.toContain('STRAY')
    expect(stderr).toContain('STRAY')
  })
})
