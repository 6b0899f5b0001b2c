import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runHere } from '../support/run-here.ts'
import { makeFolder, runProgram } from '../support/run-program.ts'
import type { RunOptions } from '../support/run-program.ts'

// Only what comes from outside needs a process.
async function refused(
  args: readonly string[],
  options?: RunOptions,
): Promise<{ exit: number | null; error: any }> {
  const { status, json, stderr } = options
    ? await runProgram('workbench.mjs', args, options)
    : await runHere('workbench.mjs', args)
  expect(json).toMatchObject({ ok: false, status: 'error' })
  expect(
    stderr
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  ).toEqual([{ error: json.error }])
  return { exit: status, error: json.error }
}

describe.concurrent('bad input', () => {
  test.each([
    ['{"name":"a","age":}', 'line 1, column 19'],
    ['{"name":"a",\n "age" 3}', 'line 2, column 8'],
    ['{"name":"a"', 'line 1, column 12'],
    ['{name:1}', 'line 1, column 2'],
  ])(
    'JSON that does not parse says where: %j [5.bad-json] [4.exit-invalid-input]',
    async (text, place) => {
      const byArgument = await refused(['register', text])
      const byStdin = await refused(['register', '-'], { input: text })
      for (const { exit, error } of [byArgument, byStdin]) {
        expect([exit, error.code, error.recoverable]).toEqual([65, 'INVALID_INPUT', true])
        expect(error.message).toContain(place)
        expect(error.suggestion.fix).toEqual(expect.any(String))
      }
    },
  )

  test.each(['null', '[]', '"text"', '5', 'true'])(
    'JSON that is no object: %s [5.bad-not-an-object]',
    async (text) => {
      const { exit, error } = await refused(['register', '-'], { input: text })
      expect([exit, error.code]).toEqual([65, 'INVALID_INPUT'])
      expect(error.message).toContain('must be a JSON object')
    },
  )

  test('input that is not UTF-8 [5.bad-utf8]', async () => {
    const folder = makeFolder()
    const bytes = Buffer.concat([
      Buffer.from('{"name":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('","age":1}'),
    ])
    writeFileSync(join(folder, 'bad.json'), bytes)
    const ended = await Promise.all([
      refused(['register', '-'], { input: bytes }),
      refused(['register'], { input: bytes }),
      refused(['register', '@bad.json'], { cwd: folder }),
    ])
    for (const { exit, error } of ended)
      expect([exit, error.code, error.message]).toEqual([
        65,
        'INVALID_INPUT',
        expect.stringContaining('UTF-8'),
      ])
  })

  test('empty stdin where input was wanted [5.bad-empty-stdin]', async () => {
    const [dash, piped, closed] = await Promise.all([
      refused(['register', '-'], { input: '' }),
      refused(['register'], { input: '' }),
      refused(['register'], { input: ' \n' }),
    ])
    expect([dash.exit, dash.error.code]).toEqual([65, 'INVALID_INPUT'])
    for (const { exit, error } of [piped, closed]) {
      expect([exit, error.code]).toEqual([2, 'MISSING_PARAM'])
      expect(error.suggestion.example).toBe('workbench register --name <text> --age <integer>')
    }
  })

  test('a missing @file or secret file [5.bad-missing-file]', async () => {
    const [file, folder, secret] = await Promise.all([
      refused(['register', '@nosuch.json']),
      refused(['register', '@/.json']),
      refused(['secret', '--secret-file', 'token=/nonexistent']),
    ])
    for (const { exit, error } of [file, folder, secret])
      expect([exit, error.code]).toEqual([66, 'INVALID_PATH'])
  })

  test('wrong types, ranges, missing and unknown keys, all told at once [5.bad-several-problems] [5.did-you-mean]', async () => {
    const { exit, error } = await refused([
      'register',
      '{"name":5,"age":200,"colour":"red","color":"gren"}',
    ])
    expect([exit, error.code]).toEqual([65, 'INVALID_INPUT'])
    const told = JSON.stringify(error)
    for (const words of ['name', 'age', 'colour', 'gren', '150', 'green'])
      expect(told).toContain(words)
    expect(error.details.issues.length).toBeGreaterThanOrEqual(4)
  })

  test.each<[string[], string, string | undefined]>([
    [['register', '--name', 'a'], 'MISSING_PARAM', 'age'],
    [['register', '--name', 'a', '--age', 'old'], 'INVALID_INPUT', 'age'],
    [['register', '--name', 'a', '--age', '-1'], 'INVALID_INPUT', 'age'],
    [['register', '--name', 'a', '--age', '1.5'], 'INVALID_INPUT', 'age'],
    [['register', '--name', 'a', '--age', ''], 'INVALID_INPUT', 'age'],
    [['register', '--name', 'a', '--age', '1', '--color', 'gren'], 'INVALID_INPUT', 'color'],
    [['echo', '--config', 'nojson'], 'INVALID_INPUT', 'config'],
    [['echo', '--config', '[1]'], 'INVALID_INPUT', 'config'],
    [['echo', '--config.nosuch', '1'], 'INVALID_INPUT', 'config.nosuch'],
    [['echo', '--numbers', '1', '--numbers', 'x'], 'INVALID_INPUT', 'numbers'],
    [['echo', '--loud=maybe'], 'INVALID_INPUT', 'loud'],
  ])('by flags: %j is %s [4.exit-invalid-input]', async (args, code, field) => {
    const { exit, error } = await refused(args)
    expect([exit, error.code]).toEqual([2, code])
    expect(error.field).toMatch(new RegExp(`^${field}`))
  })

  test.each<[string[], string]>([
    [['serch'], 'search'],
    [['pr', 'lst'], 'pr list'],
    [['search', '--qery', 'x'], '--query'],
    [['search', '--outptu', 'json'], '--output'],
    [['--discovr'], '--discover'],
    [['register', '{"nam":"a","age":1}'], 'name'],
    [['register', '--name', 'a', '--age', '1', '--color', 'gren'], 'green'],
    [['search', '--query', 'x', '--output', 'jsn'], 'json'],
    [['--prompt', 'gret', '{}'], 'greet'],
    [['completion', 'bsh'], 'bash'],
  ])('did you mean: %j → %s [5.did-you-mean] [5.bad-unknown-tool]', async (args, meant) => {
    const { error } = await refused(args)
    expect(
      `${error.message} ${error.suggestion?.fix} ${JSON.stringify(error.details ?? {})}`,
    ).toContain(meant)
  })

  test('an unknown tool lists what there is and how to see it [5.bad-unknown-tool]', async () => {
    const { exit, error } = await refused(['zzzzzz', '--flag', 'x'])
    expect([exit, error.code]).toEqual([2, 'USAGE'])
    expect(error.suggestion.fix).toContain('search')
    expect(error.suggestion.example).toBe('workbench --help')
  })

  test.each<[string[], string]>([
    [['search', '--query'], '--query'],
    [['echo', '-c'], '-c'],
    [['scalar', '--output'], '--output'],
    [['--prompt', 'greet'], '--prompt'],
    [['register', '--validate'], '--validate'],
    [['echo', '--config.name'], '--config.name'],
  ])(
    'a flag without its value names the flag: %j [5.bad-flag-without-value]',
    async (args, flag) => {
      const { exit, error } = await refused(args)
      expect([exit, error.code]).toEqual([2, 'USAGE'])
      expect(error.message).toContain(`${flag} needs a value`)
    },
  )

  test.each<[string[], number]>([
    [['echo', '---loud'], 64],
    [['echo', '--=x'], 64],
    [['echo', '-z'], 2],
    [['echo', '-lz'], 2],
    [['echo', '--no-text'], 2],
    [['echo', '--no-loud=true'], 2],
    [['scalar', 'too', 'much'], 2],
    [['scalar', '--json=maybe'], 2],
    [['scalar', '--limit', '0'], 2],
    [['scalar', '--limit', 'x'], 2],
    [['scalar', '--max-tokens', '-1'], 2],
    [['scalar', '--timeout', 'soon'], 2],
    [['scalar', '--filter', '???'], 2],
    [['scalar', '--cursor', 'garbage'], 2],
    [['scalar', '--dialect', 'klingon'], 2],
    [['scalar', '--sample-via', 'carrier-pigeon'], 2],
    [['secret', '--secret-file', 'nonsense'], 2],
    [['echo', '{"text":"a"}', '--count', '1'], 2],
    [['echo', '{"text":"a"}', 'more'], 2],
    [['pr'], 0],
    [['pr', 'nosuch'], 2],
    [['pr', '--list'], 2],
    [['completion'], 2],
  ])('unusable arguments: %j exit %i [4.error-table]', async (args, exit) => {
    const { status, stdout, stderr } = await runHere('workbench.mjs', args)
    expect(status).toBe(exit)
    expect(stdout + stderr).not.toMatch(/\n {4}at /)
    if (exit !== 0)
      expect(JSON.parse(stdout).error.code).toMatch(/^(USAGE|INVALID_INPUT|MISSING_PARAM)$/)
  })

  test.each<[string[], object | undefined]>([
    [['echo', '{"__proto__":{"polluted":1}}'], undefined],
    [['echo', '{"constructor":1}'], undefined],
    [['echo', '{"config":{"__proto__":{"polluted":1}}}'], undefined],
    [['echo', '--__proto__', '1'], undefined],
    [['echo', '--constructor', '1'], undefined],
    [['echo', '--to-string', '1'], undefined],
    [['echo', '--config.__proto__.x', '1'], undefined],
    [['echo', '--config.constructor.prototype.x', '1'], undefined],
    [['echo', '--config', '{}', '--config.__proto__.toJSON', '1'], undefined],
    [['__proto__'], undefined],
    [['constructor'], undefined],
    [['pr', '__proto__'], undefined],
    [['echo', '--open', '{"__proto__":{"x":1}}'], { open: JSON.parse('{"__proto__":{"x":1}}') }],
    [['echo', '--open.__proto__.x', '1'], { open: JSON.parse('{"__proto__":{"x":1}}') }],
    [
      ['echo', '--open', '{"a":1}', '--open.__proto__.x', '1'],
      { open: JSON.parse('{"a":1,"__proto__":{"x":1}}') },
    ],
    [
      ['echo', '--open', '{"a":{}}', '--open.a.__proto__.toJSON', '1'],
      { open: JSON.parse('{"a":{"__proto__":{"toJSON":1}}}') },
    ],
    [
      ['echo', '--open', '{"a":{}}', '--open.a.constructor.prototype.toJSON', '1'],
      { open: { a: { constructor: { prototype: { toJSON: 1 } } } } },
    ],
  ])(
    'keys of Object.prototype are ordinary keys: %j [4.prototype-keys]',
    async (args, expected) => {
      const { status, json, stdout } = await runProgram('workbench.mjs', args)
      if (expected === undefined) {
        expect(status).not.toBe(0)
        expect(json.error.code).toMatch(/^(USAGE|INVALID_INPUT|MISSING_PARAM)$/)
      } else {
        expect(status).toBe(0)
        expect(stdout).toContain(JSON.stringify(expected))
      }
    },
  )

  test.each([
    ['..', 66],
    ['/files/..', 66],
    ['/files/%2e%2e.json', 66],
    ['/files/a%2fb.json', 66],
    ['notes://a/..', 66],
    ['notes://../b', 66],
    ['', 66],
    ['notes://', 66],
    ['notes://ann/todo', 0],
    ['%', 66],
  ])(
    'the address %j of a resource [5.resource-flag] [12.uri-escaped-anchored]',
    async (uri, exit) => {
      const { status, json } = await runHere('workbench.mjs', ['--resource', uri])
      expect(status).toBe(exit)
      if (exit === 0) expect(json).toBe('ann wrote todo')
      else expect(json.error.code).toBe('NOT_FOUND')
    },
  )

  test('prompts and resources that fail are envelopes [5.prompt-flag] [5.document-failures]', async () => {
    const run = (...args: string[]) => runProgram('workbench.mjs', args)
    const [greet, missing, extra, notJson, moody, broken, slow] = await Promise.all([
      run('--prompt', 'greet', '{"who":"Ann"}'),
      run('--prompt', 'greet', '{}'),
      run('--prompt', 'greet', '{"who":"a","x":1}'),
      run('--prompt', 'greet', 'nope'),
      run('--prompt', 'moody', '{}'),
      run('--resource', 'broken://all'),
      run('--timeout', '200ms', '--resource', 'slow://all'),
    ])
    expect([greet.status, JSON.stringify(greet.json)]).toEqual([
      0,
      expect.stringContaining('Greet Ann.'),
    ])
    expect([missing.status, missing.json.error.code]).toEqual([2, 'MISSING_PARAM'])
    expect([extra.status, extra.json.error.code]).toEqual([65, 'INVALID_INPUT'])
    expect([notJson.status, notJson.json.error.code]).toEqual([65, 'INVALID_INPUT'])
    expect([moody.status, moody.json.error.code]).toEqual([1, 'INTERNAL'])
    expect([broken.status, broken.json.error.message]).toEqual([1, 'the shelf is empty'])
    expect([slow.status, slow.json.error.code]).toEqual([124, 'TIMEOUT'])
  })
})
