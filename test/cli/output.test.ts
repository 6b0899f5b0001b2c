import { existsSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { decode as decodeToon } from '@toon-format/toon'
import { runProgram } from '../support/run-program.ts'

const run = (...args: string[]) => runProgram('workbench.mjs', args)
const MODES = ['json', 'jsonl', 'yaml', 'toon', 'text', 'md', 'csv'] as const
const READ: { readonly [mode: string]: (text: string) => any } = {
  json: JSON.parse,
  jsonl: JSON.parse,
  yaml: (text) => parseYaml(text),
  toon: (text) => decodeToon(text),
}

describe.concurrent('modes of output', () => {
  test.each(['json', 'jsonl', 'yaml', 'toon'])(
    '%s is exactly one document for objects, scalars, nothing, partial results and failures [5.one-document] [5.output-formats] [4.envelope-partial] [4.partial-nothing-succeeded]',
    async (mode) => {
      const [tree, scalar, nothing, told, some, none] = await Promise.all(
        ['tree', 'scalar', 'nothing', 'told', 'some', 'none'].map((tool) => run(tool, '-o', mode)),
      )
      const read = READ[mode]!
      expect(read(tree!.stdout)).toMatchObject({
        ok: true,
        status: 'success',
        result: { name: 'root', children: [{ name: 'leaf' }], empty: [] },
      })
      expect(read(scalar!.stdout)).toMatchObject({ ok: true, result: 42 })
      expect(read(nothing!.stdout)).toMatchObject({ ok: true, result: null })
      expect(read(told!.stdout)).toMatchObject({
        ok: true,
        result: { id: 7 },
        message: 'Made number 7',
      })
      expect(read(some!.stdout)).toMatchObject({
        ok: true,
        status: 'partial',
        errors: [{ code: 'NOT_FOUND' }],
        summary: { total: 3, succeeded: 2, failed: 1, recoverable_failures: 1 },
      })
      expect(read(none!.stdout)).toMatchObject({
        ok: false,
        status: 'error',
        error: { code: 'NOT_FOUND' },
        summary: { succeeded: 0, failed: 2 },
      })
      expect([tree, scalar, nothing, told, some, none].map((ended) => ended!.status)).toEqual([
        0, 0, 0, 0, 0, 66,
      ])
      expect(JSON.parse(none!.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } })
      for (const ended of [tree, scalar, nothing]) expect(ended!.stderr).toBe('')
    },
  )

  test('the keys of an envelope stand in a fixed order [4.envelope-success] [4.envelope-error] [4.envelope-partial] [4.envelope-message] [4.envelope-meta]', async () => {
    const [told, some, failed, noted] = await Promise.all([
      run('told'),
      run('some'),
      run('broken', '--code', 'E3101'),
      run('notes'),
    ])
    expect(Object.keys(told.json)).toEqual(['ok', 'status', 'result', 'message', 'meta'])
    expect(Object.keys(some.json)).toEqual(['ok', 'status', 'result', 'errors', 'summary', 'meta'])
    expect(Object.keys(failed.json)).toEqual(['ok', 'status', 'error', 'meta'])
    expect(Object.keys(failed.json.error)).toEqual([
      'code',
      'category',
      'message',
      'recoverable',
      'retryable',
      'suggestion',
      'details',
    ])
    expect(told.json.meta).toEqual({
      tool: 'workbench.told',
      version: '1.2.3',
      duration_ms: expect.any(Number),
    })
    expect(noted.json.meta.artifacts).toEqual([{ name: 'report', uri: 'file:///tmp/report.txt' }])
  })

  test('jsonl prints the items of a list one a line, and everything else as one envelope [5.jsonl-items]', async () => {
    const [files, words, object, failure] = await Promise.all([
      run('files', '--jsonl'),
      run('words', '--jsonl'),
      run('status', '--jsonl'),
      run('broken', '--code', 'E_X', '--jsonl'),
    ])
    expect(files.lines.map(({ path }) => path)).toEqual(['a.ts', 'b.ts', 'c.md'])
    expect(words.stdout).toBe('"one"\n"two"\n"three"\n')
    expect(object.lines).toMatchObject([{ ok: true, result: { status: 'active' } }])
    expect(failure.lines).toMatchObject([{ ok: false, error: { code: 'E_X' } }])
  })

  test.each(['text', 'md', 'csv'])(
    '%s prints the bare result, and failures on stderr only [5.bare-formats]',
    async (mode) => {
      const [files, scalar, nothing, some, none, usage] = await Promise.all([
        run('files', '-o', mode),
        run('scalar', '-o', mode),
        run('nothing', '-o', mode),
        run('some', '-o', mode),
        run('none', '-o', mode),
        run('files', '--nosuch', '-o', mode),
      ])
      expect(files.stdout).toContain('c.md')
      expect(files.stdout).not.toContain('"ok"')
      expect(scalar.stdout.trim()).toBe('42')
      expect(nothing.stdout).toBe('')
      expect(some.stdout).toContain('a')
      expect(some.stderr).toContain('c is not there')
      expect(some.stderr).toContain('2 of 3 succeeded')
      expect([none.status, none.stdout]).toEqual([66, ''])
      expect(none.stderr).toContain('NOT_FOUND')
      expect([usage.status, usage.stdout]).toEqual([2, ''])
      expect(usage.stderr).toContain('error: unknown flag --nosuch')
    },
  )

  test('each bare form is what its readers expect [5.bare-formats] [5.text-tables]', async () => {
    const [text, md, csv] = await Promise.all(
      ['text', 'md', 'csv'].map((mode) => run('files', '--fields', 'path,size', '-o', mode)),
    )
    expect(text!.stdout.split('\n').map((line) => line.trim().split(/\s+/))).toEqual([
      ['path', 'size'],
      ['a.ts', '120'],
      ['b.ts', '7'],
      ['c.md', '4096'],
      [''],
    ])
    expect(md!.stdout).toBe(
      '| path | size |\n| --- | ---: |\n| a.ts | 120 |\n| b.ts | 7 |\n| c.md | 4096 |\n',
    )
    expect(csv!.stdout).toBe('path,size\r\na.ts,120\r\nb.ts,7\r\nc.md,4096\r\n')
  })

  test.each<[env: { [name: string]: string }, args: string[], isJson: boolean]>([
    [{}, [], true],
    [{ TOOLABLE_OUTPUT: 'text' }, [], false],
    [{ TYPER_AGENT_OUTPUT: 'text' }, [], false],
    [{ TOOLABLE_OUTPUT: 'text', TYPER_AGENT_OUTPUT: 'json' }, [], false],
    [{ TOOLABLE_OUTPUT: 'text' }, ['--json'], true],
    [{ TOOLABLE_OUTPUT: 'json' }, ['--output', 'text'], false],
    [{ TOOLABLE_OUTPUT: 'text' }, ['--output', 'auto'], false],
    [{ TOOLABLE_OUTPUT: 'nonsense' }, [], true],
    [{ CLAUDECODE: '1', TOOLABLE_OUTPUT: 'text' }, [], false],
  ])(
    'the mode follows flag, environment, caller, terminal: %j %j [5.output-order]',
    async (env, args, isJson) => {
      const { stdout } = await runProgram('workbench.mjs', ['scalar', ...args], { env })
      expect(stdout.startsWith('{')).toBe(isJson)
    },
  )

  test('the caller is known by its environment, and told to the tool [3.context-caller-env-cwd] [4.envelope-meta]', async () => {
    const [nobody, agent, named, ci] = await Promise.all(
      [{}, { CLAUDECODE: '1' }, { TOOLABLE_CALLER: 'my-host' }, { CI: 'true' }].map((env) =>
        runProgram('workbench.mjs', ['context'], { env: { SEEN: 'yes', ...env } }),
      ),
    )
    expect([nobody, agent, named, ci].map((ended) => ended!.json.result.caller)).toEqual([
      null,
      'claude-code',
      'my-host',
      'ci',
    ])
    expect(nobody!.json.meta).not.toHaveProperty('caller')
    expect(agent!.json.meta.caller).toBe('claude-code')
    expect(nobody!.json.result.seen).toBe('yes')
  })

  test('notifications go to stderr in JSON modes, as text in bare ones, and nowhere with --quiet [5.notifications] [5.quiet-verbose] [3.context-progress-log-artifact]', async () => {
    const [json, verbose, quiet, text] = await Promise.all([
      run('notes'),
      run('notes', '-v'),
      run('notes', '-q'),
      run('notes', '-o', 'text'),
    ])
    const lines = (stderr: string) =>
      stderr
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    expect(json.json.result).toEqual({ done: true })
    expect(lines(json.stderr)).toEqual([
      { type: 'notification', kind: 'progress', message: 'half', percent: 50 },
      { type: 'notification', kind: 'log', level: 'warn', message: 'careful' },
      { type: 'notification', kind: 'artifact', name: 'report', uri: 'file:///tmp/report.txt' },
    ])
    expect(lines(verbose.stderr)).toContainEqual({
      type: 'notification',
      kind: 'log',
      level: 'debug',
      message: 'details',
    })
    expect(quiet.stderr).toBe('')
    expect(text.stderr).toBe(
      '50% half\nwarning: careful\nartifact: report file:///tmp/report.txt\n',
    )
  })

  test('--verbose counts [5.quiet-verbose] [3.reserved-verbose]', async () => {
    const ended = await Promise.all([
      run('context'),
      run('context', '-v'),
      run('context', '-vv'),
      run('-v', 'context', '--verbose'),
      run('reserved', '-vvv'),
    ])
    expect(ended.map(({ json }) => json.result.verbose)).toEqual([0, 1, 2, 2, 3])
    expect(ended[4].json.result.input.verbose).toBe(3)
  })

  test('colours: none in a pipe, FORCE_COLOR brings them, NO_COLOR and --no-color take them away [5.colours]', async () => {
    const coloured = async (env: { [name: string]: string }, ...args: string[]) => {
      const { stdout, stderr } = await runProgram(
        'workbench.mjs',
        ['broken', '--code', 'E_X', '-o', 'text', ...args],
        { env },
      )
      return (stdout + stderr).includes('\u001b[')
    }
    expect(
      await Promise.all([
        coloured({}),
        coloured({ FORCE_COLOR: '1' }),
        coloured({ FORCE_COLOR: '1', NO_COLOR: '1' }),
        coloured({ FORCE_COLOR: '1' }, '--no-color'),
        coloured({ FORCE_COLOR: '0' }),
      ]),
    ).toEqual([false, true, false, false, false])
  })

  test.each(MODES)(
    'control sequences of data do not reach a reader of %s raw [5.control-sequences]',
    async (mode) => {
      const { stdout, status } = await run('hostile', '-o', mode)
      expect(status).toBe(0)
      if (mode !== 'csv') expect(stdout).not.toMatch(/[\u001b\u0007\u009b]/)
      expect(stdout).toContain('red')
    },
  )
})

describe.concurrent('cutting the result', () => {
  test('--fields, --filter and --limit cut, and meta says so [5.fields-filter-limit-cursor]', async () => {
    const [fields, nested, filtered, both, limited] = await Promise.all([
      run('files', '--fields', 'path'),
      run('files', '--fields', 'path,owner.name'),
      run('files', '--filter', 'size>100'),
      run('files', '--filter', 'size>100', '--filter', 'path=c.md'),
      run('files', '--limit', '2'),
    ])
    expect(fields.json.result).toEqual([{ path: 'a.ts' }, { path: 'b.ts' }, { path: 'c.md' }])
    expect(nested.json.result[0]).toEqual({ path: 'a.ts', owner: { name: 'ann' } })
    expect(filtered.json.result.map(({ path }: any) => path)).toEqual(['a.ts', 'c.md'])
    expect(both.json.result).toHaveLength(1)
    expect(limited.json.result).toHaveLength(2)
    expect(limited.json.meta).toMatchObject({ truncated: true, next_cursor: expect.any(String) })
  })

  test('cursors walk the whole list once, in the order of the list [5.fields-filter-limit-cursor]', async () => {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { json }: { json: any } = await run(
        'words',
        '--limit',
        '1',
        ...(cursor === undefined ? [] : ['--cursor', cursor]),
      )
      seen.push(...json.result)
      cursor = json.meta.next_cursor
    } while (cursor !== undefined && seen.length < 10)
    expect(seen).toEqual(['one', 'two', 'three'])
  })

  test('a cursor of another call is refused, what has no effect is a warning [5.fields-filter-limit-cursor]', async () => {
    const { json } = await run('words', '--limit', '1')
    const [foreign, scalar, unknown] = await Promise.all([
      run('files', '--cursor', json.meta.next_cursor),
      run('scalar', '--limit', '1', '--fields', 'a'),
      run('files', '--filter', 'siez>1'),
    ])
    expect([foreign.status, foreign.json.error]).toMatchObject([2, { code: 'INVALID_INPUT' }])
    expect(scalar.json.meta.warnings).toHaveLength(2)
    expect(unknown.json.meta.warnings[0]).toContain('size')
  })

  test('--max-tokens cuts and keeps the whole in a private file [5.fields-filter-limit-cursor]', async () => {
    const { status, json } = await runProgram('takes-its-time.mjs', [
      'big',
      '--bytes',
      '100000',
      '--max-tokens',
      '200',
    ])
    expect(status).toBe(0)
    expect(JSON.stringify(json.result).length).toBeLessThan(2000)
    expect(json.meta.truncated).toBe(true)
    const file = /(\/[^\s'"]+)/.exec(JSON.stringify(json.meta).replaceAll('file://', ''))?.[1] ?? ''
    expect(existsSync(file)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(100)
  })
})
