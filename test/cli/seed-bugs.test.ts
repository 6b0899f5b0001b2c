import { describe, expect, test } from 'vitest'
import { runProgram, startProgram } from '../support/run-program.ts'

describe.concurrent('bugs of the specifications that must not come back', () => {
  test('search --query --discover searches [12.search-query-discover] [5.control-flags-position]', async () => {
    const { status, json } = await runProgram('workbench.mjs', ['search', '--query', '--discover'])
    expect(status).toBe(0)
    expect(json.result).toEqual({ found: '--discover' })
  })

  test('--config with JSON is one flag, not the whole input [12.config-json-is-one-flag] [5.object-flags]', async () => {
    const { status, json } = await runProgram('workbench.mjs', [
      'search',
      '--query',
      'x',
      '--config',
      '{"a":1}',
    ])
    expect(status).toBe(0)
    expect(json.result).toEqual({ found: 'x', config: { a: 1 } })
  })

  test.each(['1.10', 'null', 'true', '007', '1e3'])(
    '--query %s stays the text [12.query-1-10-stays-text] [4.argv-coerced-by-schema]',
    async (text) => {
      const { status, json } = await runProgram('workbench.mjs', ['search', '--query', text])
      expect(status).toBe(0)
      expect(json.result).toEqual({ found: text })
    },
  )

  test.each([
    [['nosuch'], 2],
    [['broken', '--code', 'NOT_FOUND'], 66],
    [['advertised'], 1],
    [['wrong-result'], 1],
    [['--resource', 'nosuch://x'], 66],
    [['--resource'], 2],
    [['--prompt', 'greet'], 2],
    [['--prompt', 'nosuch', '{}'], 66],
    [['search'], 2],
    [['search', '{'], 65],
    [['search', '--nosuch'], 2],
    [['none'], 66],
  ])(
    'errors exit non-zero and are one document: %j [12.errors-exit-non-zero] [5.document-failures] [5.one-document]',
    async (args, exit) => {
      const { status, json, stderr } = await runProgram('workbench.mjs', args)
      expect(status).toBe(exit)
      expect(json).toMatchObject({
        ok: false,
        status: 'error',
        error: { code: expect.any(String), message: expect.any(String) },
      })
      expect(JSON.parse(stderr)).toEqual({ error: json.error })
    },
  )

  test('--validate validates without hand-written model, preValidate included [12.validate-without-model] [5.validate]', async () => {
    const validate = (input: string) =>
      runProgram('workbench.mjs', ['register', '--validate', input])
    const [good, bad, taken, notJson] = await Promise.all(
      ['{"name":"a","age":3}', '{"name":5,"extra":1}', '{"name":"taken","age":3}', '{"name"'].map(
        validate,
      ),
    )
    expect([good!.status, good!.json]).toEqual([0, { valid: true }])
    expect(bad!.status).toBe(65)
    expect(bad!.json.valid).toBe(false)
    expect(bad!.json.errors.length).toBeGreaterThanOrEqual(3)
    expect([taken!.status, taken!.json]).toMatchObject([
      65,
      { valid: false, errors: [{ code: 'CONFLICT', message: 'the name is taken' }] },
    ])
    expect([notJson!.status, notJson!.json.valid]).toEqual([65, false])
  })

  test('a resource pattern is escaped and anchored [12.uri-escaped-anchored] [5.resource-flag]', async () => {
    const read = (uri: string) => runProgram('workbench.mjs', ['--resource', uri])
    const [right, wrong, ...outside] = await Promise.all(
      [
        '/files/12.json',
        '/files/12Xjson/extra',
        '/files/../x.json',
        '/files/a/b.json',
        '/files/%2e%2e%2fx.json',
        `/files/${'a/'.repeat(50_000)}.json`,
      ].map(read),
    )
    expect([right!.status, right!.json]).toEqual([0, { id: '12' }])
    expect([wrong!.status, wrong!.json.error.code]).toEqual([66, 'NOT_FOUND'])
    for (const { status, json } of outside) {
      expect([status, json.error.code]).toEqual([66, 'NOT_FOUND'])
      expect(json.error.message.length).toBeLessThan(300)
    }
  })

  test('EOF ends a session, even of a tool that ignores quit [12.eof-ends-session]', async () => {
    const [polite, stubborn] = await Promise.all([
      runProgram('talks.mjs', ['chat', '--session'], { input: '{"text":"hi"}\n' }),
      runProgram('talks.mjs', ['stubborn', '--session'], { input: '{"text":"hi"}\n' }),
    ])
    expect(polite.status).toBe(0)
    expect(polite.lines.at(-1)).toMatchObject({ ok: true, result: { said: ['hi'] } })
    expect(stubborn.status).toBe(0)
    expect(stubborn.lines.at(-1)).toMatchObject({ ok: true })
  })

  test('a bad line gets an error answer and does not end a session [12.bad-line-keeps-session]', async () => {
    const program = startProgram('talks.mjs', ['chat', '--session'], { input: 'open' })
    await program.said('session_start')
    program.write('this is no JSON\n[1]\n{"text":"still here"}\n{"action":"quit"}\n')
    const { status, lines } = await program.ended
    expect(status).toBe(0)
    expect(lines.filter(({ type }) => type === 'error').map(({ error }) => error.code)).toEqual([
      'INVALID_INPUT',
      'INVALID_INPUT',
    ])
    expect(lines.at(-1)).toMatchObject({ ok: true, result: { said: ['still here'] } })
  })

  test('a result with a field called status is a result [12.status-active-is-a-result]', async () => {
    const { status, json } = await runProgram('workbench.mjs', ['status'])
    expect(status).toBe(0)
    expect(json).toMatchObject({ ok: true, status: 'success', result: { status: 'active' } })
  })
})
