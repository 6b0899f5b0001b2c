import { describe, expect, test } from 'vitest'
import { runProgram } from '../support/run-program.ts'

describe.concurrent('a handler that misbehaves', () => {
  test.each<[how: string, exit: number, code: string, words: string]>([
    ['throws-error', 1, 'INTERNAL', 'broken inside'],
    ['throws-string', 1, 'INTERNAL', 'just words'],
    ['throws-null', 1, 'INTERNAL', 'null'],
    ['throws-undefined', 1, 'INTERNAL', 'undefined'],
    ['throws-object', 1, 'INTERNAL', 'odd'],
    ['throws-enoent', 66, 'NOT_FOUND', '/nonexistent/file'],
    ['rejects-later', 1, 'INTERNAL', 'late'],
    ['never-settles', 1, 'INTERNAL', 'never happen'],
    ['exits', 1, 'INTERNAL', 'process.exit(0)'],
    ['exits-after-await', 1, 'INTERNAL', 'process.exit(0)'],
    ['exits-in-timer', 1, 'INTERNAL', 'process.exit(0)'],
    ['floats-rejection', 1, 'INTERNAL', 'nobody caught me'],
    ['throws-in-timer', 1, 'INTERNAL', 'thrown in a timer'],
    ['throws-string-in-timer', 1, 'INTERNAL', 'words in a timer'],
    ['returns-circular', 1, 'INTERNAL', 'result.self'],
    ['returns-bigint', 1, 'INTERNAL', 'result.deep[0]'],
    ['returns-map', 1, 'INTERNAL', 'result.map'],
    ['returns-function', 1, 'INTERNAL', 'a function'],
    ['returns-throwing-json', 1, 'INTERNAL', 'no JSON of me'],
    ['returns-throwing-getter', 1, 'INTERNAL', 'a trap'],
    ['returns-deep', 1, 'INTERNAL', ''],
    ['runs-out-of-stack', 1, 'INTERNAL', 'stack'],
  ])(
    '%s exits %i as %s [4.failure-is-a-value] [5.stderr-error-line] [4.envelope-error]',
    async (how, exit, code, words) => {
      const { status, json, stderr } = await runProgram('misbehaves.mjs', [how])
      expect(status).toBe(exit)
      expect(Object.keys(json)).toEqual(['ok', 'status', 'error', 'meta'])
      expect(json).toMatchObject({
        ok: false,
        status: 'error',
        error: { code, message: expect.stringContaining(words) },
      })
      expect(stderr).toBe(`${JSON.stringify({ error: json.error })}\n`)
      expect(stderr).not.toContain('    at ')
    },
  )

  test.each<[how: string, result: unknown]>([
    ['sets-exit-code', 'fine'],
    ['blocks-then-returns', 'done'],
    ['floats-rejection-at-end', 'done'],
    ['returns-nan', { value: null, list: [null] }],
    ['returns-undefined-inside', { kept: 1, list: [null] }],
    ['returns-date', { at: '1970-01-01T00:00:00.000Z' }],
    ['returns-proto-key', JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')],
    ['returns-lone-surrogate', { text: 'a\ud800b' }],
    ['closes-stdin', 'done'],
    ['changes-directory', '/'],
    ['removes-stdout', 'done'],
  ])(
    '%s is a success all the same [4.envelope-success] [4.prototype-keys]',
    async (how, result) => {
      const { status, json, stderr } = await runProgram('misbehaves.mjs', [how])
      expect(json).toMatchObject({ ok: true, status: 'success' })
      expect(Object.keys(json)).toEqual(['ok', 'status', 'result', 'meta'])
      expect(JSON.stringify(json.result)).toBe(JSON.stringify(result))
      expect([status, stderr]).toEqual([0, ''])
      if (how === 'returns-nan') expect(json.meta.warnings).toHaveLength(2)
    },
  )

  test.each(['never-settles', 'never-settles-but-lives', 'blocks-then-returns'])(
    '%s ends on time with --timeout [5.timeout-flag] [4.deadline-while-running]',
    async (how) => {
      const { status, json } = await runProgram('misbehaves.mjs', [
        how,
        '--timeout',
        how === 'blocks-then-returns' ? '1s' : '100ms',
      ])
      if (how === 'blocks-then-returns') return expect([status, json.result]).toEqual([0, 'done'])
      expect([status, json.error.code, json.error.retryable]).toEqual([124, 'TIMEOUT', false])
    },
  )

  test('the environment sets a timeout too, and the flag wins [5.timeout-flag] [5.settings-order]', async () => {
    const [byEnv, byFlag] = await Promise.all([
      runProgram('misbehaves.mjs', ['never-settles-but-lives'], {
        env: { TOOLABLE_TIMEOUT: '0.1' },
      }),
      runProgram('misbehaves.mjs', ['blocks-then-returns', '--timeout', '20'], {
        env: { TOOLABLE_TIMEOUT: '0.001' },
      }),
    ])
    expect(byEnv.status).toBe(124)
    expect(byFlag.status).toBe(0)
  })

  test('-v shows where an unforeseen error came from, and only then [5.quiet-verbose]', async () => {
    const [plain, verbose, text] = await Promise.all([
      runProgram('misbehaves.mjs', ['throws-error']),
      runProgram('misbehaves.mjs', ['throws-error', '-v']),
      runProgram('misbehaves.mjs', ['throws-error', '-v', '-o', 'text']),
    ])
    expect(plain.stdout + plain.stderr).not.toContain('misbehaves.mjs:')
    expect(verbose.json.error.message).toBe('broken inside')
    const notes = verbose.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(notes).toContainEqual({
      type: 'notification',
      kind: 'log',
      level: 'debug',
      message: expect.stringMatching(/misbehaves\S*:\d+:\d+/),
    })
    expect(text.stderr).toMatch(/misbehaves\S*:\d+:\d+/)
    expect(text.stderr).not.toContain('{')
  })
})
