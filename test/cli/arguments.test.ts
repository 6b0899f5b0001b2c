import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runHere } from '../support/run-here.ts'
import { makeFolder, runProgram } from '../support/run-program.ts'

async function echo(...args: string[]): Promise<unknown> {
  const { status, json } = await runHere('workbench.mjs', ['echo', ...args])
  expect(json).toMatchObject({ ok: true })
  expect(status).toBe(0)
  return json.result
}

describe.concurrent('arguments', () => {
  test.each<[string[], object]>([
    [['hello'], { text: 'hello' }],
    [['hello', 'a', 'b'], { text: 'hello', more: ['a', 'b'] }],
    [['--text', 'hello'], { text: 'hello' }],
    [['--text=hello'], { text: 'hello' }],
    [['--text='], { text: '' }],
    [['--text=a=b'], { text: 'a=b' }],
    [['--text', 'hello', 'more'], { text: 'hello', more: ['more'] }],
    [['--count', '5', 'hello'], { text: 'hello', count: 5 }],
    [['--count', '-5'], { count: -5 }],
    [['--count=-5'], { count: -5 }],
    [['-5'], { text: '-5' }],
    [['-.5'], { text: '-.5' }],
    [['--ratio', '-1.5e3'], { ratio: -1500 }],
    [['--count', '1', '--count', '2'], { count: 2 }],
    [['--loud'], { loud: true }],
    [['--no-loud'], { loud: false }],
    [['--loud', '--no-loud'], { loud: false }],
    [['--loud=false'], { loud: false }],
    [['hello', '--loud'], { text: 'hello', loud: true }],
    [['--loud', 'hello'], { text: 'hello', loud: true }],
    [['--tags', 'a', '--tags', 'b'], { tags: ['a', 'b'] }],
    [['--tags', '["a","b,c"]'], { tags: ['a', 'b,c'] }],
    [['--numbers', '1', '--numbers=2'], { numbers: [1, 2] }],
    [['--numbers', '[1,2,3]'], { numbers: [1, 2, 3] }],
    [['--mode', 'slow'], { mode: 'slow' }],
    [['--max-depth', '3'], { maxDepth: 3 }],
    [['--maxDepth', '3'], { maxDepth: 3 }],
    [['--max_depth', '3'], { maxDepth: 3 }],
    [['--maybe', '3'], { maybe: 3 }],
    [['--maybe', 'null'], { maybe: null }],
    [['-c', '5'], { count: 5 }],
    [['-c5'], { count: 5 }],
    [['-c=5'], { count: 5 }],
    [['-lc5'], { loud: true, count: 5 }],
    [['-lm', 'fast', '-t', 'a', '-tb'], { loud: true, mode: 'fast', tags: ['a', 'b'] }],
    [['--', '--loud'], { text: '--loud' }],
    [['--', '-'], { text: '-' }],
    [['--', '{"text":1}'], { text: '{"text":1}' }],
    [['--', '@file.json'], { text: '@file.json' }],
    [['hello', '--', '--loud', '-x', '--'], { text: 'hello', more: ['--loud', '-x', '--'] }],
    [['--text', '--'], { text: '--' }],
    [['--text', '--loud'], { text: '--loud' }],
    [['--text', '-'], { text: '-' }],
    [['--text', '{"a":1}'], { text: '{"a":1}' }],
    [['hello', '{"a":1}'], { text: 'hello', more: ['{"a":1}'] }],
    [['@someone'], { text: '@someone' }],
    [['--text', ''], { text: '' }],
    [['ünïcödé 日本 🎉'], { text: 'ünïcödé 日本 🎉' }],
    [['{"text":"hello","count":3}'], { text: 'hello', count: 3 }],
    [[' {"text":"hello"}'], { text: 'hello' }],
    [['{"text":"hello"}', '--json'], { text: 'hello' }],
    [[], {}],
  ])(
    '%j [5.flag-forms] [3.positional] [3.flag-short-env] [3.camel-case-flags] [5.json-argument]',
    async (args, expected) => {
      expect(await echo(...args)).toEqual(expected)
    },
  )

  test.each<[string[], object]>([
    [['--config', '{"name":"a"}'], { config: { name: 'a' } }],
    [['--config={"name":"a"}'], { config: { name: 'a' } }],
    [['--config.name', 'a'], { config: { name: 'a' } }],
    [['--config.name=1'], { config: { name: '1' } }],
    [['--config.maxSize', '5'], { config: { maxSize: 5 } }],
    [['--config.max-size', '5'], { config: { maxSize: 5 } }],
    [['--config.deep.on', 'true'], { config: { deep: { on: true } } }],
    [['--config', '{"name":"a"}', '--config.maxSize', '5'], { config: { name: 'a', maxSize: 5 } }],
    [
      ['--config.maxSize', '5', '--config', '{"name":"a","maxSize":1}'],
      { config: { name: 'a', maxSize: 5 } },
    ],
    [['--open.any.thing', 'x'], { open: { any: { thing: 'x' } } }],
  ])('objects: %j [5.object-flags]', async (args, expected) => {
    expect(await echo(...args)).toEqual(expected)
  })

  test('an environment variable fills a field, and a flag wins over it [3.flag-short-env] [5.settings-order]', async () => {
    const [byEnv, byFlag, wrong] = await Promise.all([
      runProgram('workbench.mjs', ['echo', 'x'], { env: { WORKBENCH_COUNT: '7' } }),
      runHere('workbench.mjs', ['echo', 'x', '-c', '8'], { WORKBENCH_COUNT: '7' }),
      runHere('workbench.mjs', ['echo', 'x'], { WORKBENCH_COUNT: 'many' }),
    ])
    expect(byEnv.json.result).toEqual({ text: 'x', count: 7 })
    expect(byFlag.json.result).toEqual({ text: 'x', count: 8 })
    expect([wrong.status, wrong.json.error.code, wrong.json.error.message]).toEqual([
      2,
      'INVALID_INPUT',
      expect.stringContaining('WORKBENCH_COUNT'),
    ])
  })

  test.each([
    ['pr', 'list', '--state', 'closed'],
    ['pr_list', '--state', 'closed'],
    ['pr-list', '--state', 'closed'],
    ['PR', 'list'].slice(2).concat('pr', 'list', '--state=closed'),
  ])('groups: %s %s [3.groups] [3.name-dash-underscore]', async (...args) => {
    const { status, json } = await runHere('workbench.mjs', args)
    expect([status, json.result, json.meta.tool]).toEqual([
      0,
      { listed: 'closed' },
      'workbench.pr_list',
    ])
  })

  test('injected flags act before and after the tool name, and the last output flag wins [5.output-formats]', async () => {
    const run = (...args: string[]) => runHere('workbench.mjs', args)
    const [before, after, last, lastAlias, short] = await Promise.all([
      run('--output', 'text', 'scalar'),
      run('scalar', '--output', 'text'),
      run('--json', 'scalar', '-o', 'text'),
      run('scalar', '--output', 'text', '--json'),
      run('-oyaml', 'scalar'),
    ])
    expect([before.stdout, after.stdout, last.stdout]).toEqual(['42\n', '42\n', '42\n'])
    expect(lastAlias.json.result).toBe(42)
    expect(short.stdout).toContain('result: 42')
  })

  test('program flags act only before the tool name [5.program-flags-before-tool]', async () => {
    const run = (...args: string[]) => runHere('workbench.mjs', args)
    const [behind, stray, early] = await Promise.all([
      run('scalar', '--discover'),
      run('--discover', 'scalar'),
      run('--discover'),
    ])
    expect([behind.status, behind.json.error.code]).toEqual([2, 'USAGE'])
    expect(behind.json.error.message).toContain('before the tool name')
    expect([stray.status, stray.json.error.code]).toEqual([2, 'USAGE'])
    expect([early.status, early.json.name]).toEqual([0, 'workbench'])
  })

  test.each<[string[], object]>([
    [['two words'], { count: 2, text: 'two words', by: 'word' }],
    [['count_words', 'two words'], { count: 2, text: 'two words', by: 'word' }],
    [['count-words', 'two words'], { count: 2, text: 'two words', by: 'word' }],
    [['--text', 'one', '--by=line'], { count: 1, text: 'one', by: 'line' }],
    [['{"text":"one"}'], { count: 1, text: 'one', by: 'word' }],
    [['--json', 'one'], { count: 1, text: 'one', by: 'word' }],
    [['--tools', 'one'], { count: 1, text: 'one', by: 'word', tools: true }],
    [['one', '--no-tools'], { count: 1, text: 'one', by: 'word', tools: false }],
    [['--', 'count_words'], { count: 1, text: 'count_words', by: 'word' }],
    [['--text', 'completion'], { count: 1, text: 'completion', by: 'word' }],
    [['count_words', 'count_words'], { count: 1, text: 'count_words', by: 'word' }],
  ])(
    'a program of one tool needs no tool name: %j [5.single-tool-no-name] [3.single-tool-shorthand]',
    async (args, expected) => {
      const { status, json } = await runHere('only-tool.mjs', args)
      expect(json.result).toEqual(expected)
      expect(status).toBe(0)
    },
  )

  test('a program of one tool without a word reads a pipe, and shows its help when nothing comes [5.single-tool-no-name] [5.stdin-piped]', async () => {
    const [piped, empty] = await Promise.all([
      runProgram('only-tool.mjs', [], { input: '{"text":"a b"}' }),
      runProgram('only-tool.mjs', [], { input: '' }),
    ])
    expect([piped.status, piped.json.result]).toMatchObject([0, { count: 2 }])
    expect(empty.status).toBe(0)
    expect(empty.stdout).toContain('Usage\n  count-words <text> [options]')
  })

  test('help is a command too, and output flags count behind an unknown command [5.did-you-mean]', async () => {
    const [help, unknown, unknownHelp] = await Promise.all([
      runProgram('workbench.mjs', ['help', 'echo']),
      runProgram('workbench.mjs', ['ecoh', 'x', '-o', 'text']),
      runProgram('workbench.mjs', ['ecoh', '--help', '-o', 'text']),
    ])
    expect([help.status, help.stdout]).toMatchObject([0, expect.stringContaining('workbench echo')])
    expect([unknown.status, unknown.stdout]).toEqual([2, ''])
    expect(unknown.stderr).toContain("error: unknown command 'ecoh'; did you mean 'echo'?")
    expect(unknownHelp).toMatchObject({ status: 2, stdout: '', stderr: unknown.stderr })
  })

  test('a program of one tool asks about itself without its name [5.single-tool-no-name] [5.validate] [5.schema]', async () => {
    const run = (...args: string[]) => runProgram('only-tool.mjs', args)
    const [validate, schema, manifest, discover, stdin] = await Promise.all([
      run('--validate', '{"text":"x"}'),
      run('count_words', '--schema'),
      run('count_words', '--manifest'),
      run('--discover'),
      runProgram('only-tool.mjs', ['-'], { input: '{"text":"a b c"}' }),
    ])
    expect(validate.json).toEqual({ valid: true })
    expect(schema.json).toMatchObject({
      input_schema: { properties: { text: { type: 'string' } } },
    })
    expect(manifest.json).toMatchObject({ name: 'count_words' })
    expect(discover.json.tools).toHaveLength(1)
    expect(stdin.json.result.count).toBe(3)
  })

  test('- reads stdin, piped stdin is read when something is missing, @file.json is a file [5.stdin-dash] [5.stdin-piped] [5.at-file]', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'in'))
    writeFileSync(join(folder, 'in', 'input.json'), '\uFEFF{"name":"ann","age":3}\n')
    const input = '{"name":"ann","age":3}'
    const ended = await Promise.all([
      runProgram('workbench.mjs', ['register', '-'], { input }),
      runProgram('workbench.mjs', ['register'], { input }),
      runProgram('workbench.mjs', ['register'], { input: `\uFEFF${input}\n` }),
      runProgram('workbench.mjs', ['register', '@in/input.json'], { cwd: folder }),
      runProgram('workbench.mjs', ['register', `@${join(folder, 'in', 'input.json')}`]),
    ])
    for (const { status, json } of ended)
      expect([status, json.result]).toEqual([0, { name: 'ann', age: 3 }])
  })

  test('stdin is left alone when there are arguments or nothing is missing [5.stdin-piped]', async () => {
    const [flags, nothingMissing] = await Promise.all([
      runProgram('workbench.mjs', ['register', '--name', 'ann'], {
        input: '{"name":"bob","age":3}',
      }),
      runProgram('workbench.mjs', ['echo'], { input: '{"text":"unread"}' }),
    ])
    expect([flags.status, flags.json.error.code]).toEqual([2, 'MISSING_PARAM'])
    expect(nothingMissing.json.result).toEqual({})
  })

  test('a pipe that stays silent is waited for only a bounded time [5.stdin-silent-pipe] [5.never-hang]', async () => {
    const { status, json } = await runProgram('workbench.mjs', ['register'], { input: 'open' })
    expect([status, json.error.code]).toEqual([2, 'MISSING_PARAM'])
  })

  test('100 kB in an argument and 1 MB on stdin arrive whole [5.json-argument] [5.stdin-dash]', async () => {
    const [argument, flag, stdin] = await Promise.all([
      runProgram('workbench.mjs', ['echo', JSON.stringify({ text: 'x'.repeat(100_000) })]),
      runProgram('workbench.mjs', ['echo', '--text', 'y'.repeat(100_000)]),
      runProgram('workbench.mjs', ['echo', '-'], {
        input: JSON.stringify({ text: 'é'.repeat(500_000) }),
      }),
    ])
    expect(argument.json.result.text).toHaveLength(100_000)
    expect(flag.json.result.text).toHaveLength(100_000)
    expect(stdin.json.result.text).toBe('é'.repeat(500_000))
  })

  test("a tool's own limit, cursor, fields, filter and max-tokens win over the injected flags [5.own-field-wins]", async () => {
    const { status, json } = await runHere('workbench.mjs', [
      'own',
      '--limit',
      '-3',
      '--fields',
      'a',
      '--filter',
      'b',
      '--cursor',
      'c',
      '--max-tokens',
      '0',
    ])
    expect([status, json.result]).toEqual([
      0,
      { limit: -3, fields: 'a', filter: 'b', cursor: 'c', max_tokens: 0 },
    ])
  })

  test('the same input gives the same result by flags, JSON, stdin and file [5.json-argument] [4.json-never-coerced]', async () => {
    const [flags, json, coerced] = await Promise.all([
      runHere('workbench.mjs', ['echo', 'hi', '--count', '3', '--tags', 'a', '--config.name', 'n']),
      runHere('workbench.mjs', [
        'echo',
        '{"text":"hi","count":3,"tags":["a"],"config":{"name":"n"}}',
      ]),
      runHere('workbench.mjs', ['echo', '{"count":"3"}']),
    ])
    expect(flags.json.result).toEqual(json.json.result)
    expect([coerced.status, coerced.json.error]).toMatchObject([
      65,
      { code: 'INVALID_INPUT', field: 'count' },
    ])
  })
})
